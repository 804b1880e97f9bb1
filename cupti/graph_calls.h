/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of graphs once they are captured or built: told by CUPTI's callbacks, or by whoever stands in front of the
 * program's calls; both may tell the same. Handles are CUDA's: CUgraph, CUgraphExec, CUgraphNode. */
#ifndef CUPTI_GRAPH_CALLS_H
#define CUPTI_GRAPH_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti/cuda_driver.h"
#include "cupti/cupti_library.h"
#include "cupti/kernel_timing.h"
#include "cupti/launch_join.h"

/* When the timing has started, or is known not to: which means there are for following nodes. LIBRARY: NULL if CUPTI is not
 * ours. TOLD: CUPTI tells of nodes. */
void graph_calls_open(const struct cupti_library *library, const struct cuda_driver *driver, bool told, bool follow);

/* In the trace, by which means, and again when that changed; once there are graphs: some were made here, or SEEN says that
 * their kernels ran. */
void graph_calls_note_if_used(bool seen);

void graph_calls_note_losses(void);

/* ---- the program's calls: any thread. CONTEXT: the calling thread's, or NULL ---- */

/* Before it begins to capture: from then on too late for much. */
void graph_calls_capture_begins(void);
void graph_calls_instantiated(struct kernel_timing_context *context, void *graph, void *executable);
void graph_calls_updating(void *executable);
void graph_calls_updated(void *executable, void *graph, uint32_t correlation_id);
void graph_calls_cloned(void *graph, void *clone);
void graph_calls_graph_goes(void *graph);
void graph_calls_executable_goes(void *executable);

/* A node that holds CHILD as its own copy was added. */
void graph_calls_child_added(void *graph, void *node, void *child);
void graph_calls_conditional_added(void *graph);

/* A kernel node was built, or changed, by itself; EXECUTABLE: in the executable only, where NODE is that of its graph. */
void graph_calls_kernel_node(struct kernel_timing_context *context, void *graph, void *node, void *executable,
                             const struct launch_owner *owner, uint64_t name_id);
/* Into what, nobody tells. */
void graph_calls_node_changing(void *executable);

/* A launch: nothing is counted where the stream captures. Between the two, CUPTI's callback does not count it as well. */
void graph_calls_launch_begins(struct kernel_timing_context *context);
void graph_calls_launched(struct kernel_timing_context *context, void *executable, void *stream, bool succeeded);

#endif
