/* SPDX-License-Identifier: Apache-2.0 */
/* How long kernels took: CUPTI's activity records, joined to the library call or launch that asked for them.
 *
 * The join. A wrapper says kernel_timing_call_begin(call id) before the real call and kernel_timing_call_end(owner) after
 * it; both are a few stores into one cache line of the thread's state. In between, CUPTI's driver-launch callbacks (same thread,
 * inside the real call) note {correlation id, call id} in a fixed table; the end gives these entries their owner. When the
 * kernel's record arrives later, on CUPTI's thread, its correlation id leads to call and owner. An entry that was
 * overwritten, whose call failed or never ended, leads nowhere: the kernel is recorded without an owner and counted. */
#ifndef CUPTI_KERNEL_TIMING_H
#define CUPTI_KERNEL_TIMING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cupti/timing_window.h"
#include "trace/trace.h"
#include "trace/trace_thread.h"

/* ---- call path ---- */

/* In a thread's state (trace_thread_timing()): only a thread that has a place in the trace has calls. */
struct kernel_timing_context {
    uint64_t call_id; /* the outermost call in flight in this thread, 0: none */
    union {
        uint64_t pending; /* 0: neither, and the call's end has nothing to do */
        struct {
            uint32_t last_launch; /* newest table entry made under it, index + 1; 0: none */
            uint32_t at_end;      /* KERNEL_TIMING_PUSHED, _EARLY, _UNTOLD, _NODES, _EVENTS */
        };
    };
    void *stream;      /* of an early call */
    uint32_t launches; /* entries made under it, if there is a last one */
    union {
        uint32_t until_look; /* for the driver, see kernel_timing.c */
        uint32_t told_last;  /* once it is there, by the call that just ended, see graph_events.c */
    };
    uint32_t look_step;
    /* Graphs, see graph_events.c. */
    uint32_t graph_call;  /* correlation id of the call in flight that makes or changes an executable, 0: none */
    const char *launched; /* kernel of the launch in flight under the call */
    uint32_t last_node;   /* newest node made under the call, index + 1, if at_end says that there are any */
    uint32_t graph_state, graph_depth; /* of the call that makes or changes an executable */
    uint32_t event_ticket;             /* of the call in flight, if at_end says that it is timed by events */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct kernel_timing_context) == TRACE_TIMING_BYTES, "one cache line");

static inline struct kernel_timing_context *kernel_timing_context(struct trace_thread *thread)
{
    return trace_thread_timing(thread);
}

enum {
    KERNEL_TIMING_PUSHED = 1,    /* external correlation: an id was */
    KERNEL_TIMING_EARLY = 2,     /* the call began before kernels were timed */
    KERNEL_TIMING_UNTOLD = 4,    /* no device was described yet */
    KERNEL_TIMING_NODES = 8,     /* nodes of a graph were made under it */
    KERNEL_TIMING_CAPTURED = 32, /* something captures: its end asks whether this was */
    KERNEL_TIMING_EVENTS = 16,   /* it is timed by events of CUDA */
};

enum { KERNEL_TIMING_LAUNCH_SEEN = 16 }; /* in graph_state: the graph's launch in flight is counted by its wrapper */

enum kernel_timing_state {
    KERNEL_TIMING_IDLE = 0,     /* not started yet */
    KERNEL_TIMING_STARTING = 1, /* some thread is at it */
    KERNEL_TIMING_ON = 2,
    KERNEL_TIMING_OFF = 3,      /* switched off, refused or absent: shapes only, the reason is in the trace */
    KERNEL_TIMING_FINISHED = 4, /* the process is leaving; or a forked child, where nothing is timed */
};
#pragma GCC visibility push(hidden) /* reached without the global offset table */
extern _Atomic int kernel_timing_state_now;
extern _Atomic int kernel_timing_external_now; /* join by external correlation ids */
extern _Atomic int
    kernel_timing_attention; /* 0: neither idle nor external nor without a device, calls need not look closer */
#pragma GCC visibility pop

void kernel_timing_settle(struct kernel_timing_context *context, enum trace_owner owner, uint64_t owner_id);
void kernel_timing_external_push(struct kernel_timing_context *context, uint64_t call_id);

/* Only for the outermost call: a launch or library call made inside another one says nothing here, so that the outer one
 * owns its kernels. CALL_ID is trace_thread_next_call_id()'s; not 0. */
static inline void kernel_timing_note_call(struct kernel_timing_context *context, uint64_t call_id)
{
    context->call_id = call_id;
    context->pending = 0;
}
static inline void kernel_timing_call_begin(struct kernel_timing_context *context, uint64_t call_id)
{
    kernel_timing_note_call(context, call_id);
    if (__builtin_expect(atomic_load_explicit(&kernel_timing_external_now, memory_order_acquire), 0))
        kernel_timing_external_push(context, call_id);
}

/* OWNER_ID: the id of the SIGNATURE (TRACE_OWNER_CALL) or LAUNCH_SHAPE (TRACE_OWNER_LAUNCH, _LAUNCH_VALUES). TRACE_OWNER_NONE, 0: the
 * call failed, what it launched all the same belongs to nobody. */
static inline void kernel_timing_call_end(struct kernel_timing_context *context, enum trace_owner owner,
                                          uint64_t owner_id)
{
    if (__builtin_expect(context->pending != 0, 0))
        kernel_timing_settle(context, owner, owner_id);
    context->call_id = 0;
}

/* Whether calls have to look closer changed: captures began or ended. */
void kernel_timing_renew_attention(void);

/* ---- life ---- */

enum kernel_timing_join {
    KERNEL_TIMING_JOIN_AUTO = 0,    /* by correlation id, and by external ids if those turn out not to match */
    KERNEL_TIMING_JOIN_CORRELATION, /* whatever comes of it */
    KERNEL_TIMING_JOIN_EXTERNAL,    /* from the start: CUPTI has to record each call of the driver then */
};

enum kernel_timing_graphs {
    KERNEL_TIMING_GRAPHS_AUTO = 0,  /* as CUPTI tells of their nodes; if it does not, as streams capture */
    KERNEL_TIMING_GRAPHS_CALLBACKS, /* if CUPTI does not tell, not at all */
    KERNEL_TIMING_GRAPHS_CAPTURE,
    KERNEL_TIMING_GRAPHS_OFF,
};

enum kernel_timing_cupti_api {
    KERNEL_TIMING_CUPTI_AUTO = 0, /* V1, unless a client that shares is there */
    KERNEL_TIMING_CUPTI_V1,       /* alone in the process; whoever comes later gets CUPTI from us */
    KERNEL_TIMING_CUPTI_V2,       /* beside others that use it too, where CUPTI and driver have it; else V1 */
};

struct kernel_timing_settings {
    bool off;                     /* the user wants shapes only */
    bool events;                  /* calls are timed by events of CUDA, CUPTI is left alone */
    enum kernel_timing_join join; /* kernels to calls */
    enum kernel_timing_cupti_api cupti_api;
    enum kernel_timing_graphs graphs; /* how their nodes are followed */
    const char *cupti_path;           /* NULL: find it. The string must live on */
    uint32_t flush_period_ms;         /* 0: 200 */
    uint32_t exit_timeout_ms;         /* 0: 1500 */
    uint32_t buffer_count;            /* 0: 64, at most 256 */
    uint32_t buffer_bytes;            /* 0: 1 MiB */
    enum trace_timing_mode mode;      /* where neither off nor events is set; 0: AUTO */
    struct timing_window_settings window;
    uint32_t sample_window_us, sample_budget_ppm; /* 0: as cupti/timing_sample.h says */
    uint64_t sample_seed;                         /* 0: drawn */
    uint64_t graph_kernels_most;                  /* 0: as CUPTI's version has it */
};

/* Once, before any of the following; nothing is called or mapped by it. */
void kernel_timing_configure(const struct kernel_timing_settings *settings);

/* From InitializeInjection(), that is inside the application's own cuInit(). The trace must be open. */
void kernel_timing_start_from_injection(void);

/* At the head of each hooked call, until started. Does nothing before the application's own cuInit() has succeeded (asked
 * of the mapped driver, which is never initialised by us), and nothing while STREAM or the legacy stream captures; then
 * the next call tries again, at the price of a query of the driver. STREAM: CUstream of the call, NULL if not known. errno
 * and CUDA's errors are left as they were. */
void kernel_timing_start_slowly(void *stream);
static inline void kernel_timing_start_if_needed(void *stream)
{
    if (__builtin_expect(atomic_load_explicit(&kernel_timing_state_now, memory_order_relaxed) == KERNEL_TIMING_IDLE, 0))
        kernel_timing_start_slowly(stream);
}

/* kernel_timing_start_if_needed() and kernel_timing_call_begin(): one load and three stores once started. Of a call that
 * begins before that, the end counts it as one whose kernels nobody timed, and tries to start in its turn: a program that
 * leaves the initialisation to the runtime is ready only after its first launch. STREAM may also be
 * EVENT_TIMING_NO_STREAM (cupti/event_timing.h). */
void kernel_timing_enter_slowly(struct kernel_timing_context *context, void *stream, uint64_t call_id);
static inline void kernel_timing_enter(struct kernel_timing_context *context, void *stream, uint64_t call_id)
{
    if (__builtin_expect(atomic_load_explicit(&kernel_timing_attention, memory_order_acquire), 0))
        kernel_timing_enter_slowly(context, stream, call_id);
    else
        kernel_timing_note_call(context, call_id);
}

/* Helper thread, every few milliseconds. Flushing while kernels are outstanding, reading records, clock anchors and device
 * facts are the work of a thread of our own, since CUPTI may block and the helper must not; only where that thread could not
 * be made it is done here. The helper has to go on until kernel_timing_finish() has returned: it reserves trace blocks. */
void kernel_timing_tend(void);

/* Orderly exit, any thread, idempotent: asks CUPTI for what is complete, in a thread of its own, and waits at most
 * TIMEOUT_NS for it. False: CUPTI did not answer in time. It is also called by an exit handler of our own that runs before
 * CUPTI's, with settings.exit_timeout_ms. No synchronising call is ever made. */
bool kernel_timing_finish(uint64_t timeout_ns);

/* Another client of CUPTI is about to call it (cupti/other_clients.h): unless both share, CUPTI is handed over, and from then
 * on there are shapes only. Any thread but the timing's; waits at most TIMEOUT_NS. Nothing to do where nothing is timed. */
void kernel_timing_give_up(bool shares, uint64_t timeout_ns);
bool kernel_timing_was_given_up(void);

/* The timing's own thread, so that nobody takes it for one of the host's; 0: there is none. */
int kernel_timing_thread_id(void);

enum kernel_timing_state kernel_timing_state(void);

#endif
