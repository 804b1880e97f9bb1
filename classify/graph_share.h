/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs whose launches were timed as a whole, and their time among the calls and kernels that they hold.
 *
 * The rule. A node whose work and roof are known takes its time at the roof. Where that is known of all nodes of a graph, all
 * its time goes to them, in proportion. Else each takes its time at the roof and no more (less, in proportion, where the
 * graph was faster than that), and what is left stays with the graph: nobody knows how much of it is theirs. Of a graph whose
 * nodes are not known all time stays with it. */
#ifndef CLASSIFY_GRAPH_SHARE_H
#define CLASSIFY_GRAPH_SHARE_H

#include <stddef.h>
#include <stdint.h>

#include "classify/operator_join.h"
#include "classify/sampled_rows.h"

struct session;
struct session_merge;

struct graph_share_node {
    size_t row;          /* place in the session's operators before they are sorted */
    uint64_t executions; /* in one launch */
    uint64_t kernels;
};

struct graph_share {
    size_t rest_row;                /* of the graph itself */
    uint64_t runs, run_ns;          /* that were timed, or stand for all where windows were drawn */
    struct sampled_time estimate;   /* of run_ns then; covered 0: nothing is estimated */
    struct graph_share_node *nodes; /* by row */
    size_t node_count;
};

struct graph_shares {
    struct graph_share *graphs;
    size_t count, capacity;
};

/* The graphs of one process that were timed as a whole. */
void graph_shares_add(struct session_merge *merge, struct operator_join *join, const int *device_of,
                      const struct sampled_rows *sampled);
/* After the last process, with devices and work known: times go into the rows. */
void graph_shares_apply(const struct graph_shares *shares, struct session *session);
void graph_shares_free(struct graph_shares *shares);

#endif
