/* SPDX-License-Identifier: Apache-2.0 */
/* Processes whose matrix multiplies ran without a call that was seen: how much that is, and why it may be. */
#ifndef CLASSIFY_HIDDEN_SHAPES_H
#define CLASSIFY_HIDDEN_SHAPES_H

#include "classify/operator_join.h"
#include "classify/session.h"

enum hidden_reason {
    HIDDEN_NONE,
    HIDDEN_BUILT_IN,   /* no cuBLAS is loaded: it is linked statically, or the kernels are the program's own */
    HIDDEN_BOUND_PAST, /* there is one that nothing was called of: bound past the preload, or looked up with that off */
    HIDDEN_NOT_KNOWN,
};

/* The table of launches has kernels of this name: an engine's own, which no library call would be seen for. */
bool hidden_shapes_is_engine_kernel(const char *name);

/* Fills what PROCESS has of this from its notes and from the kernels of JOIN that no library call owns. */
void hidden_shapes_find(struct session_process *process, struct operator_join *join);

enum hidden_reason hidden_shapes_reason(const struct session_process *process);
const char *hidden_reason_name(enum hidden_reason reason); /* NULL: none */

/* Of all processes with a reason: kernels named like a GEMM without a call, and their time. */
struct hidden_sum {
    size_t processes;
    uint64_t kernels, time_ns;
};
struct hidden_sum hidden_shapes_sum(const struct session *session);

#endif
