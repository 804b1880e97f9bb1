/* SPDX-License-Identifier: Apache-2.0 */
/* A join to and from the records of trace_sums.h. What is kept like that is what the records themselves would have given:
 * reading the sums of a trace makes the same join as reading the trace. */
#ifndef CLASSIFY_JOIN_SUMS_H
#define CLASSIFY_JOIN_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "classify/operator_join.h"

/* A record of sums, of what is written over, or a sample; any other is let be. */
void join_sums_add(struct operator_join *join, const struct trace_item *item);

/* Takes one record, its type and size filled in, the commit word not. SIGNATURE, unless NULL, has to stand before it in the
 * same block, and the record's first word is to be its offset. Ticks are ns of CLOCK_REALTIME. */
typedef void join_sums_put(void *context, const struct trace_signature *signature, struct trace_record *record);

/* Everything that JOIN holds, what is still going on left out: operator_join_end() first where nothing more comes, and
 * helper_nodes_count() always.
 * SAMPLES_OF and the numbers of blocks and records are the caller's, in SUMS. */
void join_sums_write(const struct operator_join *join, const struct joined_sums *sums, join_sums_put *put,
                     void *context);

#endif
