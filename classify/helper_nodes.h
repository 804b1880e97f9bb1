/* SPDX-License-Identifier: Apache-2.0 */
/* Which node of a graph serves which: by the order of the capture, that is of the calls that the nodes were made of. A graph
 * that is updated in place gets records of the nodes that changed alone, so that a helper's node may go on while what it
 * serves becomes another operator: each launch of the graph counts for what was served then. */
#ifndef CLASSIFY_HELPER_NODES_H
#define CLASSIFY_HELPER_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct operator_join;
struct trace_graph_node;

struct helper_node {                    /* as nodes of graph_replays */
    uint64_t order;                     /* in its graph: its first call, or, in sums, the place in the file */
    uint32_t serves;                    /* node that it serves; UINT32_MAX: it is no helper, or serves none */
    uint32_t first_helper, next_helper; /* that serve it; that serve the same node; UINT32_MAX: none */
    uint32_t next;                      /* of the same graph; UINT32_MAX: the last */
    uint32_t is;                        /* what it was when the order was last looked at */
    uint64_t charged;                   /* launches of the graph up to which its executions are counted */
    bool unchanged;                     /* by the update that is going on, whose capture launched it all the same */
};

struct helper_graph { /* as graphs of graph_replays */
    uint32_t first;   /* node; UINT32_MAX: none */
    bool is_ordered;  /* SERVES holds for its nodes */
    bool is_captured; /* the update that is going on was captured for it */
    uint64_t update;  /* launches of the graph before that; 0: none is */
};

struct helper_nodes { /* zeroed: none */
    struct helper_node *nodes;
    size_t count, capacity;
    struct helper_graph *graphs;
    size_t graph_count, graph_capacity;
};

/* Before and after graph_replays_add_node() of the same. */
void helper_nodes_before(struct operator_join *join, const struct trace_graph_node *node);
void helper_nodes_after(struct operator_join *join, const struct trace_graph_node *node);

/* Counts what was executed up to the last known launch of each graph. More may come. */
void helper_nodes_count(struct operator_join *join);

/* Indices of all nodes in the order of their graphs' captures; to be freed. */
uint32_t *helper_nodes_order(const struct operator_join *join);

void helper_nodes_free(struct helper_nodes *nodes);

#endif
