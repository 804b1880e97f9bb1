/* SPDX-License-Identifier: Apache-2.0 */
/* Records of how a process is timed, of its graphs and of lengths on the device, into its join. */
#ifndef CLASSIFY_JOIN_TIMING_H
#define CLASSIFY_JOIN_TIMING_H

#include "classify/operator_join.h"

/* Any other record is let be. */
void join_timing_add(struct operator_join *join, const struct trace_item *item);
/* Once all records of the process are there, its END too: nothing more may be added then. */
void join_timing_end(struct operator_join *join);

#endif
