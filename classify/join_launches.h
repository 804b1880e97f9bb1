/* SPDX-License-Identifier: Apache-2.0 */
/* The launches that the program itself made, into a join: by shape, by name, and what the order of launches and calls tells
 * of them. */
#ifndef CLASSIFY_JOIN_LAUNCHES_H
#define CLASSIFY_JOIN_LAUNCHES_H

#include "classify/operator_join.h"

void join_launches_add(struct operator_join *join, const struct trace_item *item);
/* The row of launches that somebody else has summed; SIZE_MAX: there is no room. */
size_t join_launches_row_of_sum(struct operator_join *join, uint64_t name_id, uint64_t shape_id);
/* A library call: launches before or after it may serve it. */
void join_launches_note_call(struct operator_join *join, const struct trace_item *item);

#endif
