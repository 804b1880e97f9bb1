/* SPDX-License-Identifier: Apache-2.0 */
/* What rooftap itself costs the host, measured in the host: about one call, launch and callback in 170 is taken at random and
 * timed around our own work in it. What is not chosen pays for counting down. The sums are a thread's own, so that nothing is
 * shared on the path of a call; the helper adds them up into an OVERHEAD record.
 *
 * Of a call that is measured two readings of the clock are added, at the wrapper's first own work and after its last; those
 * before and after the real function are the record's. What is found so are our instructions and the two readings that each
 * call takes; what passes the arguments on lies outside. */
#ifndef CUPTI_OWN_COST_H
#define CUPTI_OWN_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/clock.h"
#include "trace/trace_thread.h"

/* In a thread's state (trace_thread_own()); written by that thread alone, read by the helper; never taken back, so that what
 * ended threads counted stays in the sums. */
struct own_cost_thread {
    int32_t until_call;
    uint32_t until_callback;                     /* count down; at 0 the next is measured */
    uint32_t random;                             /* 0: nothing was drawn yet */
    uint32_t until_counted;                      /* of calls that are only counted */
    uint32_t calls_in_a_row, callbacks_in_a_row; /* more to be measured now */
    uint64_t callbacks_all;
    uint64_t entered_ticks[2]; /* of the call and the launch in flight that are measured */
    uint64_t calls, calls_ticks, callbacks, callbacks_ticks; /* that were measured */
};
_Static_assert(sizeof(struct own_cost_thread) <= TRACE_OWN_BYTES, "trace_thread_own()");

/* Laid over the incarnation that a call keeps: its end compares that anyway, and finds it unusual. */
#define OWN_COST_MEASURED (UINT64_C(1) << 63) /* it is timed */
#define OWN_COST_COUNTED  (UINT64_C(1) << 62) /* it is counted, and nothing of it noted */

enum own_cost_kind { OWN_COST_CALL, OWN_COST_LAUNCH };

#pragma GCC visibility push(hidden)
__attribute__((cold, noinline)) uint64_t own_cost_chosen(struct trace_thread *thread, uint64_t incarnation,
                                                         enum own_cost_kind kind);
#pragma GCC visibility pop

/* Before the wrapper's own work. Returns INCARNATION, marked where the call is unusual. */
static inline __attribute__((always_inline)) uint64_t own_cost_begin(struct trace_thread *thread, uint64_t incarnation,
                                                                     enum own_cost_kind kind)
{
    struct own_cost_thread *own = trace_thread_own(thread);
    if (__builtin_expect(--own->until_call < 0, 0))
        return own_cost_chosen(thread, incarnation, kind);
    return incarnation;
}

/* The same for a wrapper that went another way to its THREAD, of now; NULL: nobody records. */
uint64_t own_cost_begin_slowly(struct trace_thread *thread, enum own_cost_kind kind);

/* Of an incarnation that is not the one of now: whether its marks are the difference. */
static inline bool own_cost_is_marked(uint64_t incarnation)
{
    uint64_t marks = incarnation ^ trace_incarnation();
    return (marks & ~(OWN_COST_MEASURED | OWN_COST_COUNTED)) == 0;
}
static inline bool own_cost_is_measured(uint64_t incarnation)
{
    return ((incarnation ^ trace_incarnation()) & OWN_COST_MEASURED) != 0;
}
static inline bool own_cost_is_counted(uint64_t incarnation)
{
    return ((incarnation ^ trace_incarnation()) & OWN_COST_COUNTED) != 0;
}

/* After its last own work; START_TICKS and END_TICKS: around the real function. */
void own_cost_end(struct trace_thread *thread, enum own_cost_kind kind, uint64_t start_ticks, uint64_t end_ticks);

#define OWN_COST_NOT_COUNTED UINT64_C(1) /* as entered_ticks: it goes the way of those that are measured */

/* Around a callback of CUPTI's. 0: not measured, and the end need not be told. THREAD may be NULL. */
uint64_t own_cost_callback_chosen(struct own_cost_thread *own);
static inline uint64_t own_cost_callback_begin(struct trace_thread *thread)
{
    struct own_cost_thread *own = thread ? trace_thread_own(thread) : 0;
    if (!own)
        return 0;
    own->callbacks_all++;
    return __builtin_expect(own->until_callback-- == 0, 0) ? own_cost_callback_chosen(own) : 0;
}
void own_cost_callback_end(struct trace_thread *thread, uint64_t entered_ticks);

/* ---- off the call path ---- */

/* When the trace is opened; in a forked child again. */
void own_cost_open(void);

/* The calling thread's CPU time so far, which is one of rooftap's own. */
enum own_cost_thread_kind { OWN_COST_HELPER, OWN_COST_TIMING };
void own_cost_note_cpu(enum own_cost_thread_kind kind);
uint64_t own_cost_cpu_ns(void); /* of the calling thread; UINT64_MAX: not known */

/* The timing's thread, after it has read RECORDS in CPU_NS out of BUFFERS; BUFFER_BYTES: memory that CUPTI was given at most. */
void own_cost_note_records(uint64_t records, uint64_t cpu_ns, uint64_t buffers, uint64_t buffer_bytes);

/* What was given up for the budget (struct trace_overhead.level). From 3 on calls and launches are only counted. */
void own_cost_set_level(unsigned level);

/* Sums of now; all but its record's header. */
void own_cost_sum(struct trace_overhead *overhead);
/* Estimate of own time in the application's threads up to now, in ns; NAN before anything was measured that happened. Without what
 * is not measured yet: a few calls before many replays of graphs don't hide what those cost. */
double own_cost_application_ns(const struct trace_overhead *overhead);

/* Writes an OVERHEAD record; more and more rarely, or NOW. Helper thread, and at the end. */
void own_cost_write(bool now);

#endif
