/* SPDX-License-Identifier: Apache-2.0 */
/* Executables of graphs: how often each was launched, and which calls their nodes are: GRAPH_LAUNCHES and GRAPH_NODE records.
 * A launch costs a look-up and an addition; records are written by the timing's thread, except where a launch count has to
 * stand before something changes: when an executable is updated or destroyed, by the thread that does it. */
#ifndef CUPTI_GRAPH_LAUNCHES_H
#define CUPTI_GRAPH_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace_thread.h"

enum { GRAPH_LAUNCHES_MOST = 1 << 16 }; /* executables that live at one time; it may refuse from half of them on */

/* Maps the table. May be called again. */
bool graph_launches_open(void);

/* HANDLE lives from now on, under the number that its nodes have. 0: not known, nothing is written of it. */
void graph_launches_made(void *handle, uint32_t graph_id);

/* A launch succeeded. Call path: no lock, no allocation. */
void graph_launches_count(void *handle);

/* Around whatever gives nodes of the executable to other calls: before, and after it. */
void graph_launches_changing(struct trace_thread *thread, void *handle);
void graph_launches_changed(struct trace_thread *thread, void *handle);

/* HANDLE is about to be destroyed. */
void graph_launches_ended(struct trace_thread *thread, void *handle);

/* What is new since the last time; the timing's thread, or whoever stands in for it. ALL: also more nodes than should take
 * blocks from callers at one go. False: something is left for the next time. */
bool graph_launches_write(struct trace_thread *thread, bool all);

bool graph_launches_any(void);            /* an executable was made, ever */
uint32_t graph_launches_id(void *handle); /* 0: not known */
uint64_t graph_launches_refused(void);    /* executables for which there was no room */

#endif
