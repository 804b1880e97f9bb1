/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes a call or launch has made while its stream captures, where CUPTI does not tell: what the stream's next node
 * would depend on is asked for before and after it (cuStreamGetCaptureInfo), and what lies in between is its own. Inside a
 * capture nothing else is called than that, the getters of a node's dependencies, type and id, and of a function's name. */
#ifndef CUPTI_GRAPH_CAPTURE_H
#define CUPTI_GRAPH_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cupti/cuda_driver.h"
#include "cupti/kernel_timing.h"

#pragma GCC visibility push(hidden)
extern _Atomic int graph_capture_ongoing; /* captures that were seen to begin and not to end; a hint */
extern _Atomic int graph_capture_asking;  /* the same, 0 where CUPTI tells of nodes, or nobody wants to know */
#pragma GCC visibility pop

/* Whether calls are to ask: not before this is said once, and only while something captures. */
void graph_capture_want(const struct cuda_driver *driver, bool wanted);

/* The program began a capture that succeeded, or ended one. STATUS: what the driver or the runtime said to the latter. */
void graph_capture_begun(void);
void graph_capture_ended(int status);

static inline bool graph_capture_asks(void)
{
    return __builtin_expect(atomic_load_explicit(&graph_capture_asking, memory_order_acquire) > 0, 0);
}

/* Whether the stream captures, as far as anything is known to capture at all. */
bool graph_capture_is_on(void *stream);

/* Call path, while something captures. STREAM: NULL where it is not known before the call. */
void graph_capture_begin(struct kernel_timing_context *context, void *stream);

/* Of a launch, before its end: its stream, which may have stood in its config, and the kernel's name, NULL: not known. */
void graph_capture_launched(struct kernel_timing_context *context, void *stream, const char *name);

/* As the driver gives it; NULL: it does not (before CUDA 12.3). */
const char *graph_capture_function_name(void *function);

/* End of the call; OWNER NONE: it failed, and what it made all the same is nobody's. */
void graph_capture_end(struct kernel_timing_context *context, enum trace_owner owner, uint64_t owner_id);

/* Nodes, or calls, that could not be followed. */
uint64_t graph_capture_refused(void);

#endif
