/* SPDX-License-Identifier: Apache-2.0 */
/* From many processes to one session: devices by identity, operators by device and content. Holds what lives while traces
 * are read. */
#ifndef CLASSIFY_SESSION_MERGE_H
#define CLASSIFY_SESSION_MERGE_H

#include "classify/graph_share.h"
#include "classify/sampled_rows.h"
#include "classify/sequence_merge.h"
#include "classify/session.h"

struct session_merge {
    struct session *session;
    struct name_pool names; /* kernels' names of all processes */
    struct index_map operator_map;
    struct index_map traces;     /* by process_id_hash, which no two traces share: index of the process */
    uint64_t *operator_name_ids; /* of each operator; 0 for calls */
    size_t operator_name_capacity;
    struct grid_times grid_times; /* of calls, by number of the operator */
    struct sequence_merge sequences;
    struct graph_shares shares;
};

/* Adds what JOIN holds, and takes its intervals. TIMED: this process's kernels could be timed. */
void session_merge_add(struct session_merge *merge, struct operator_join *join, bool timed);

/* The row of a kernel by its name, or of whatever else KEY stands for; made on first use. */
size_t session_merge_operator_of_name(struct session_merge *merge, uint64_t key, int device);
/* The row of what launches of one meaning ask, which KEY stands for; made on first use. */
size_t session_merge_operator_of_meaning(struct session_merge *merge, uint64_t key, int device);
/* Of what launches mean, and of names, to the trace's rows: see launch_operators.h. NULL: a call whose shape is lost. */
struct operator_row *session_merge_operator_of_use(struct session_merge *merge, struct operator_join *join,
                                                   struct graph_use use, uint64_t name_id, int device);

/* What was timed of ROW, or what SAMPLED, unless NULL, makes of it. */
void session_merge_add_kernels(struct operator_row *op, const struct joined_kernels *row,
                               const struct sampled_row *sampled);

/* After the last one, before operators are moved: which kernel's grid each call is judged by. */
void session_merge_find_grids(struct session_merge *merge);

/* Index in the session's operators of the row of a call; made on first use. */
size_t session_merge_operator_of_call(struct session_merge *merge, const struct operator_join *join,
                                      const struct joined_signature *signature, int device);

/* The kernel's name of an operator that is no call, NULL if no record gave it. */
const char *session_merge_name(const struct session_merge *merge, size_t operator_index);

/* Index of the only device of a process, or SESSION_DEVICE_UNKNOWN. */
int session_merge_only_device(const struct operator_join *join, const int *device_of);

void session_merge_free(struct session_merge *merge); /* not the session */

#endif
