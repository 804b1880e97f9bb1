/* SPDX-License-Identifier: Apache-2.0 */
/* The `books` object of the JSON report; JSON.md documents it. */
#ifndef REPORT_BOOKS_JSON_H
#define REPORT_BOOKS_JSON_H

#include <jansson.h>

#include "classify/books.h"
#include "report/json_cut.h"

json_t *books_json(struct json_cut *cut, const struct books *books); /* a new reference */

#endif
