/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several matrices of one shape an operator multiplied, by the order of a step's products. */
#ifndef CLASSIFY_MODEL_BOOKS_NAMES_H
#define CLASSIFY_MODEL_BOOKS_NAMES_H

#include "classify/model_books.h"

/* Fills names_of, after model_books_measure(). */
void model_books_find_names(struct model_books *books, const struct session *session);

#endif
