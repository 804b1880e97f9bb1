/* SPDX-License-Identifier: Apache-2.0 */
/* graph node id -> the call or launch that asked for the node: written where graphs are captured, copied and updated, read
 * by the thread that takes records. One fixed table, no lock: an entry is written by one thread at a time, and read again
 * if that happened meanwhile.
 *
 * A node id is what CUPTI's records and cuptiGetGraphNodeId() have: the graph's id in the upper half, the node's number in
 * the lower one, which copies keep. Owners change (an executable is updated in place), and records come late: what held
 * before is kept for a while, told apart by the correlation id of the call that changed it. */
#ifndef CUPTI_GRAPH_NODES_H
#define CUPTI_GRAPH_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti/launch_join.h"

enum {
    GRAPH_NODES_MOST = 1 << 19,    /* lines of the table; it may refuse from half of them on */
    GRAPH_NODES_CHANGES = 1 << 16, /* owners that are remembered after they changed */
};

/* Maps the table (untouched pages cost nothing). May be called again. */
bool graph_nodes_open(void);

/* The node was made: by CALL_ID, or by no call (0). NAME_ID: the kernel that the call launched, as kernel records will name
 * it; 0: not known. CHAIN is the call's newest node (index + 1, 0: none) and is moved on. CORRELATION_ID: of the driver's
 * call in which that happens, 0: not known. */
struct graph_node_maker {
    uint64_t call_id, name_id;
    uint32_t *chain;
    uint32_t correlation_id;
};
void graph_nodes_note(uint64_t node_id, const struct graph_node_maker *maker);

/* COPY was made of the node: same owner. MAKER: for a node that was never seen, or is the call's own. A copy that is no
 * executable's may be one of several that one launch runs: the call is told from those of the others, trace_call_in_copy(). */
enum graph_nodes_copy_of { GRAPH_NODES_IN_GRAPH, GRAPH_NODES_IN_EXECUTABLE };
void graph_nodes_copy(uint64_t node_id, uint64_t copy_id, enum graph_nodes_copy_of in,
                      const struct graph_node_maker *maker);

/* The node of an executable became what the other one is, from the call CORRELATION_ID on. */
void graph_nodes_update(uint64_t node_id, uint64_t updated_id, uint32_t correlation_id);

/* All nodes of an executable, by their numbers. False: there is no saying which node became what. */
bool graph_nodes_update_all(uint32_t graph_id, uint32_t executable_id, uint32_t correlation_id);

/* All nodes of a graph, by their numbers, to a copy of it as a whole. */
void graph_nodes_copy_all(uint32_t graph_id, uint32_t copy_id, enum graph_nodes_copy_of in);

/* The node becomes OWNER's alone, named NAME_ID. RUNS: it is an executable's, and of launches before CORRELATION_ID (0: not
 * known) records may still come. */
void graph_nodes_give(uint64_t node_id, const struct launch_owner *owner, uint64_t name_id, bool runs,
                      uint32_t correlation_id);

/* A node that runs no kernel: only its number counts. */
void graph_nodes_number(uint64_t node_id);
uint32_t graph_nodes_numbers(uint32_t graph_id); /* one more than the highest; 0: no such graph is known */

/* The graph holds nodes that are graphs of their own: their nodes have other numbers. */
void graph_nodes_set_nested(uint32_t graph_id);

/* Destroyed: still found until its last records must have come. */
void graph_nodes_retire(uint64_t node_id);
void graph_nodes_retire_all(uint32_t graph_id);

/* No node's owner is certain any more: from here on, none is found. */
void graph_nodes_distrust(void);
bool graph_nodes_distrusted(void);

/* Correlation ids of records are not those of callbacks: a node whose owner changed is not found. */
void graph_nodes_distrust_ids(void);

/* End of the call, same thread: gives the nodes of CHAIN their owner, and NAME_ID (0: not known) to those without a name. */
void graph_nodes_publish(uint32_t chain, uint64_t call_id, enum trace_owner owner, uint64_t owner_id, uint64_t name_id);

/* Kernels are timed: what a node was before it changed is asked for until its records have come. Without that, as here
 * until it is said, what it is now is all that counts. */
void graph_nodes_records_come(bool come);

/* ---- who writes records of nodes: one thread at a time for one graph ---- */

struct graph_node_content {
    uint64_t node_id, call_id, owner_id, name_id;
    enum trace_owner owner;
    bool changed; /* it was another's, or nobody's, the last time */
};
/* Nodes whose call is known and that were not passed to WRITE, or not with that call. False: WRITE refused one, or the call
 * of one still goes on. */
bool graph_nodes_each_new(uint32_t graph_id, bool (*write)(const struct graph_node_content *node, void *context),
                          void *context);
bool graph_nodes_any_new(uint32_t graph_id);

/* ---- the taker ---- */

/* NONE with call 0: the program built the node itself. NAME_ID: of the kernel that ran; one that is not what the call
 * launched is not its (parameters can be set to run another). */
enum launch_join_result graph_nodes_find(uint64_t node_id, uint32_t correlation_id, uint64_t name_id,
                                         struct launch_owner *found);

void graph_nodes_drained(void);     /* everything that had ended was taken */
uint64_t graph_nodes_refused(void); /* nodes for which there was no room, ever */

#endif
