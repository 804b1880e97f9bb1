/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs of one process: how often each was launched, and which call or kernel each of its nodes is. Together
 * they say how often a captured call was executed, timed or not. Records may come in any order. */
#ifndef CLASSIFY_GRAPH_REPLAYS_H
#define CLASSIFY_GRAPH_REPLAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/graph_use.h"
#include "classify/helper_charge.h"
#include "classify/index_map.h"
#include "classify/time_slices.h"
#include "trace/trace.h"

enum { GRAPH_NODES_MOST = 1 << 19, GRAPHS_MOST = 1 << 16, GRAPH_PAST_MOST = 1 << 18 }; /* what is beyond is counted */

enum { NODE_COUNTED = 1, NODE_FOLLOWS = 2 }; /* struct trace_graph_node.summed */

struct graph_node {
    uint32_t graph; /* index */
    uint64_t graph_node_id;
    struct graph_use use;
    uint64_t owner_id, call_id, name_id;
    uint8_t owner;
    bool retired;
    bool leads; /* the first node of its call in this graph: it counts the call's executions */
    uint64_t realtime_ns;
    uint64_t launches;                          /* of the graph, before this held */
    bool captured;                              /* it is the first to tell that its call was captured */
    uint64_t first_realtime_ns, first_launches; /* of the earliest record of this node that was read */
};

/* What nodes of one use that held for the same launches of a graph executed. */
struct graph_past {
    uint32_t graph; /* index */
    struct graph_use use;
    uint64_t from;                  /* launches of the graph before they held */
    uint64_t launches;              /* for which they held */
    uint64_t leading;               /* how many of them count their call's executions */
    uint64_t executions;            /* of the use: launches, for each that counts */
    uint64_t captured;              /* of their calls, those that no other node told of before */
    uint64_t first_call, last_call; /* ids of their calls, without copies; 0: none is known */
    uint64_t realtime_ns;           /* of the first of their records; 0: not known */
};

struct graph_replay {
    uint32_t graph_id;
    bool ended;
    bool nodes_beyond;              /* some of its nodes were too many to be kept: what it executes is not known */
    uint64_t launches, realtime_ns; /* of the last GRAPH_LAUNCHES record */
    uint64_t least_launches, least_realtime_ns; /* of the first one; UINT64_MAX: there was none */
    uint64_t made_ns;                           /* when its first node was known; 0: none was */
    struct time_slices slices;                  /* all: launches; timed, time_ns: runs */
    uint64_t runs, run_ns;                      /* GRAPH_RUN records: timed as a whole */
    uint32_t device;                            /* of those */
    uint64_t kernels;                           /* KERNEL records of its replays */
    uint64_t live_nodes;                        /* after graph_replays_end() */
    uint64_t node_launches;                     /* kernels that its launches ran, by its nodes: until then, of those
                                                     * that hold no more */
};

/* Executions of one thing by launches of graphs. */
struct replay_count {
    struct graph_use use;
    struct time_slices slices; /* all: executions, until graph_replays_end() of nodes that hold no more; timed: calls or
                                * launches among the recorded ones that were captured, and executed nothing themselves */
};

struct graph_replays { /* zeroed: none */
    struct graph_replay *graphs;
    size_t graph_count, graph_capacity;
    struct index_map graph_map;
    struct graph_node *nodes;
    size_t node_count, node_capacity;
    struct index_map node_map; /* by node id and graph */
    struct index_map call_map; /* by call and graph id: nodes that hold it; graph 0: was captured */
    struct replay_count *counts;
    size_t count_count, count_capacity;
    struct index_map count_map;
    uint64_t *names; /* of kernels that no call owns, which may be all that is known of their nodes */
    size_t name_count, name_capacity;
    struct index_map name_map; /* by node id and graph */
    struct graph_past
        *past; /* nodes that hold no more; beyond GRAPH_PAST_MOST it is not known of which step they were */
    size_t past_count, past_capacity;
    struct index_map past_map;
    struct helper_charges helpers; /* what launches serve another operator, in graphs or not */
    uint64_t beyond;               /* records of nodes and graphs for which there was no room */
};

/* BY_SHAPE: what its owner owns is told apart by shape. */
void graph_replays_add_node(struct graph_replays *replays, const struct trace_graph_node *node, bool by_shape,
                            uint64_t realtime_ns);
void graph_replays_add_launches(struct graph_replays *replays, const struct trace_graph_launches *launches);
void graph_replays_add_run(struct graph_replays *replays, const struct trace_graph_run *run);
/* Of a replay; before or after the record of its node. */
void graph_replays_add_kernel(struct graph_replays *replays, const struct trace_kernel *kernel);
struct graph_replay *graph_replays_graph(struct graph_replays *replays, uint32_t graph_id);    /* made; NULL: no room */
struct replay_count *graph_replays_count(struct graph_replays *replays, struct graph_use use); /* made */

/* After the last record: what live nodes executed is counted. ROTATED: the records of earlier launches are gone, so only those
 * since the first record that is left count. */
void graph_replays_end(struct graph_replays *replays, bool rotated);

/* A node that the program built, or a library unseen, has the name that its kernels bring. */
uint64_t graph_replays_name(const struct graph_replays *replays, const struct graph_node *node);
const struct replay_count *graph_replays_find(const struct graph_replays *replays, struct graph_use use); /* or NULL */
/* NODE, as if it held up to launch UNTIL of its graph. */
struct graph_past graph_replays_past_of(const struct graph_replays *replays, const struct graph_node *node,
                                        uint64_t until);
void graph_replays_free(struct graph_replays *replays);

#endif
