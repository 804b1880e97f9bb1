/* SPDX-License-Identifier: Apache-2.0 */
/* What join_timing.h takes, to and from sums: reading them makes the same join as reading the records. */
#ifndef CLASSIFY_JOIN_TIMING_SUMS_H
#define CLASSIFY_JOIN_TIMING_SUMS_H

#include "classify/join_sums.h"

/* SUM_SLICES, SUM_WINDOWS, SUM_GRAPH and SUM_LENGTHS; any other record is let be. */
void join_timing_sums_add(struct operator_join *join, const struct trace_item *item);
/* Part of join_sums_write(). Without windows drawn at random nothing is by time but what graphs executed. */
void join_timing_sums_write(const struct operator_join *join, join_sums_put *put, void *context);

#endif
