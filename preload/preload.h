/* SPDX-License-Identifier: Apache-2.0 */
/* When this library records: from the first call that does work on the GPU, in every process for itself. */
#ifndef PRELOAD_PRELOAD_H
#define PRELOAD_PRELOAD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "trace/trace_thread.h"

#define PRELOAD_EXPORT __attribute__((visibility("default")))

#pragma GCC visibility push(hidden) /* reached without the global offset table */
extern _Atomic bool preload_off;    /* for good: not wanted, or the trace can't be written */
#pragma GCC visibility pop

/* Slow: starts recording in this process unless that is going on or has failed. True if there is a trace. errno is kept. */
bool preload_start(void);

/* Counts the starts of this process and of those it was forked from: what was written to another process's trace was
 * written under another number. Not 0 while recording. */
extern _Atomic unsigned preload_incarnation;

/* The calling thread's place in the trace, which is started if need be. NULL: this call is not recorded. */
struct trace_thread *preload_thread_slowly(void);

/* Before a child may run in this memory: notes whose process this is, so that the child does not take it for its own. */
void preload_claim_process(void);

#endif
