/* SPDX-License-Identifier: Apache-2.0 */
/* Which operators multiplied what of a model, how often, and whether the sums are the model's. */
#ifndef CLASSIFY_MODEL_BOOKS_MEASURE_H
#define CLASSIFY_MODEL_BOOKS_MEASURE_H

#include "classify/model_books.h"

/* BOOKS has its classes. */
void model_books_measure(struct model_books *books, const struct session *session);

#endif
