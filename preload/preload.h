/* SPDX-License-Identifier: Apache-2.0 */
/* When this library records: from the first call that does work on the GPU, in every process for itself. */
#ifndef PRELOAD_PRELOAD_H
#define PRELOAD_PRELOAD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "trace/trace_writer.h"

#define PRELOAD_EXPORT __attribute__((visibility("default")))

extern _Atomic bool preload_off; /* for good: not wanted, or the trace can't be written */

/* Slow: starts recording in this process unless that is going on or has failed. True if there is a trace. errno is kept. */
bool preload_start(void);

/* Counts the starts of this process and of those it was forked from: what was written to another process's trace was
 * written under another number. Not 0 while recording. */
extern _Atomic unsigned preload_incarnation;

/* The calling thread's place in the trace, which is started if need be. NULL: this call is not recorded. */
static inline struct trace_thread *preload_thread(void)
{
    struct trace_thread *thread = trace_thread_get();
    if (__builtin_expect(thread != NULL, 1))
        return thread;
    return !trace_writer_is_open() && preload_start() ? trace_thread_get() : NULL;
}

#endif
