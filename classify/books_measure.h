/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured of the rows that books_match() made. */
#ifndef CLASSIFY_BOOKS_MEASURE_H
#define CLASSIFY_BOOKS_MEASURE_H

#include "classify/books.h"

struct operator_row;

/* Different weights that one call reads; NAN: not known. */
double books_matrices(const struct operator_row *op);

void books_measure(const struct books *books, const struct session *session, struct books_device *device);

#endif
