/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this thread is inside one of our wrappers: the outermost call counts, what it calls in turn belongs to it. */
#ifndef PRELOAD_DEPTH_H
#define PRELOAD_DEPTH_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace_thread.h"

/* In a thread's state: without a place in the trace no call is noted. */
struct preload_depth {
    uint64_t call;        /* id of the library call in flight in this thread, 0: none */
    uint64_t launch;      /* the same for a kernel launch */
    uintptr_t call_stack; /* stack pointer of the wrapper that has the call, 0: not noted yet */
    uintptr_t
        launch_stack; /* noted after, voided before the id: a signal handler never meets a pointer of another call */
};

_Static_assert(sizeof(struct preload_depth) == TRACE_DEPTH_BYTES, "trace_thread_depth()");

static inline struct preload_depth *preload_depth(struct trace_thread *thread)
{
    return trace_thread_depth(thread);
}

/* The wrapper's own, which lies below all of its frame: one instruction where we know how, and no frame pointer. */
static inline __attribute__((always_inline)) void depth_note_stack(uintptr_t *stack)
{
#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %0" : "=m"(*stack));
#elif defined(__aarch64__)
    uintptr_t pointer;
    __asm__ volatile("mov %0, sp" : "=r"(pointer));
    *stack = pointer;
#else
    *stack = 0; /* every call met in flight counts as in flight */
#endif
}

/* For a wrapper that finds no place in the trace, one in the middle of a record, or a call in flight: what
 * call_record_thread() and, if IS_LAUNCH, launch_record_thread() then give. A call that a longjmp() or an exception left, so
 * that its wrapper never got to its end, is counted as dropped and forgotten. FRAME: where the caller's frame ends,
 * __builtin_dwarf_cfa(). */
struct trace_thread *depth_thread_slowly(uintptr_t frame, bool is_launch);

#endif
