/* SPDX-License-Identifier: Apache-2.0 */
/* A session as JSON; JSON.md documents every key. */
#ifndef REPORT_REPORT_JSON_H
#define REPORT_REPORT_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "classify/books.h"
#include "classify/session.h"

/* BOOKS may be NULL. False if OUT could not take it. */
bool report_json(const struct session *session, const struct books *books, FILE *out);

#endif
