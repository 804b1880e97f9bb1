/* SPDX-License-Identifier: Apache-2.0 */
/* The words of capture_calls.def: from a program's calls about graphs to what is known of them (cupti/graph_calls.h). Each
 * keeps errno. */
#ifndef PRELOAD_CAPTURE_RECORD_H
#define PRELOAD_CAPTURE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/* Before a capture begins, and before graphs are made: recording and timing start here if nothing did work yet, since what
 * is captured first may be all that the program ever launches. */
void capture_begins(void);
void capture_begun(bool succeeded);
void capture_ended(int status);

void capture_instantiated(void *graph, void *executable);
void capture_updating(void *executable);
void capture_updated(void *executable, void *graph);
void capture_executable_goes(void *executable);

/* Call path. */
void capture_launch_begins(void *stream, uint32_t default_stream);
void capture_launched(void *executable, void *stream, uint32_t default_stream, bool succeeded);

void capture_cloned(void *graph, void *clone);
void capture_graph_goes(void *graph);
void capture_child_added(void *graph, void *node, void *child);

/* ENTRY: what was called. RUNTIME: whose params these are. GRAPH: that the node was added to, NULL: it was there. EXECUTABLE:
 * the one that it is changed in, NULL: in its graph. */
void capture_kernel_node(unsigned entry, bool runtime, void *graph, void *node, void *executable, const void *params);
void capture_node(unsigned entry, bool runtime, void *graph, void *node, void *executable, const void *params);

/* Where cudaGraphAddNode's params are, by the version of the library that REAL is in. */
const void *capture_add_params(const void *real, uintptr_t fourth, uintptr_t fifth, uintptr_t sixth);

#endif
