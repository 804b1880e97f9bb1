/* SPDX-License-Identifier: Apache-2.0 */
/* Closes the books of a GGUF for people: weight bytes of a step as measured and as the model has them, and by matrix. */
#ifndef REPORT_MODEL_BOOKS_TEXT_H
#define REPORT_MODEL_BOOKS_TEXT_H

#include <stdio.h>

#include "classify/model_books.h"
#include "report/view.h"

void model_books_text_print(const struct model_books *books, const struct session *session, const struct view *view,
                            FILE *out);

/* "attn_q, attn_output" into TEXT, cut where it has no room. */
void model_books_text_names(const struct model_books_class *class, char *text, size_t room);

#endif
