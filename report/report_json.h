/* SPDX-License-Identifier: Apache-2.0 */
/* A session as JSON; JSON.md documents every key. */
#ifndef REPORT_REPORT_JSON_H
#define REPORT_REPORT_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "classify/books.h"
#include "classify/model_books.h"
#include "classify/session.h"

/* BOOKS and MODEL_BOOKS may be NULL. False if OUT could not take it. */
bool report_json(const struct session *session, const struct books *books, const struct model_books *model_books,
                 FILE *out);

#endif
