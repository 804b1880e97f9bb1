/* SPDX-License-Identifier: Apache-2.0 */
/* Time without CUPTI: an event of CUDA before each call and launch and one after it, on the call's stream, and later what
 * lies between them. Never in a capture, never waited for. What it can't know: where the stream was idle, the time holds
 * the launch's way to the GPU; and what other threads put on the same stream between the two is in it. */
#ifndef CUPTI_EVENT_TIMING_H
#define CUPTI_EVENT_TIMING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cupti/cuda_driver.h"
#include "trace/trace.h"

#pragma GCC visibility push(hidden)
extern _Atomic int event_timing_now; /* 1: calls are to be timed */
#pragma GCC visibility pop

static inline bool event_timing_is_on(void)
{
    return __builtin_expect(atomic_load_explicit(&event_timing_now, memory_order_acquire), 0);
}

/* After the application's own cuInit(). Nothing is called. False: DRIVER lacks what it takes; nothing is timed then. */
bool event_timing_start(const struct cuda_driver *driver);
bool event_timing_is_started(void); /* and not stopped; what switches off and on again is event_timing_is_on() */
/* Once started: whether calls are timed from now on. What was recorded before is still read. */
void event_timing_switch(bool on);

/* ---- call path: no lock, no allocation; errno is kept, and no error of these calls stays with the context ---- */

#define EVENT_TIMING_NO_STREAM ((void *)(uintptr_t)-1) /* of a call whose stream is not known */

/* Before a call that works on STREAM, a handle of the driver's. A ticket for its end; 0: it is not timed, since it is
 * captured, or, which is counted, for want of a pair of events. */
uint32_t event_timing_before(void *stream);

/* Of a launch that succeeded: the id of its kernel's name in the trace, 0: not known. */
void event_timing_name(uint32_t ticket, uint64_t name_id);

/* After it. OWNER as in kernel_timing_call_end(); TRACE_OWNER_NONE: it failed, or never came back. */
void event_timing_after(uint32_t ticket, uint64_t call_id, enum trace_owner owner, uint64_t owner_id);

/* The same of a launch of an executable graph, as a whole; GRAPH_ID as in struct trace_graph_launches, 0: not known. */
void event_timing_after_graph(uint32_t ticket, uint32_t graph_id, bool succeeded);

/* ---- the timing's thread ---- */

/* Whether some calls' ends have yet to come. */
bool event_timing_tend(void);
void event_timing_last_tend(void); /* what has not ended by then is counted as not timed */

/* Calls are timed no more: the process leaves, or is a forked child, where CUDA is unusable. */
void event_timing_stop(void);

#endif
