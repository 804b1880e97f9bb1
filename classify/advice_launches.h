/* SPDX-License-Identifier: Apache-2.0 */
/* What rows of advice.c save that are about operators read off their launches: an engine's own kernels, where what helps is a
 * setting of the engine. As struct advice_row.saved_ns. */
#ifndef CLASSIFY_ADVICE_LAUNCHES_H
#define CLASSIFY_ADVICE_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>

struct operator_row;
struct session;
struct weight_row;

/* Its longest operator is one; the rows about library calls leave it out. */
bool advice_weight_is_launched(const struct session *session, const struct weight_row *weight);
/* A kernel that the table of launches knows, of whatever kind. */
bool advice_operator_is_launched(const struct operator_row *op);

double advice_saved_by_slots(const struct session *session, size_t index);
double advice_saved_by_fewer_bits(const struct session *session, size_t index);
double advice_saved_by_small_cache(const struct session *session, size_t index);

#endif
