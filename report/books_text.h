/* SPDX-License-Identifier: Apache-2.0 */
/* Measured weights beside a model's, what matched nothing, and the books closed, as text for people. */
#ifndef REPORT_BOOKS_TEXT_H
#define REPORT_BOOKS_TEXT_H

#include <stdio.h>

#include "classify/books.h"
#include "report/view.h"

struct session;

void books_text_print(const struct books *books, const struct session *session, const struct view *view, FILE *out);

#endif
