/* SPDX-License-Identifier: Apache-2.0 */
/* One device's measured weights matched with the model's forms. */
#ifndef CLASSIFY_BOOKS_MATCH_H
#define CLASSIFY_BOOKS_MATCH_H

#include "classify/books.h"

/* DEVICE: index, or SESSION_DEVICE_UNKNOWN. */
void books_match(const struct books *books, const struct session *session, int device, struct books_device *result);
void books_match_free(struct books_device *result);

/* Share of the model's bytes (at most) whose shape was seen on DEVICE. */
double books_shape_share(const struct weight_forms *forms, const struct session *session, int device);

#endif
