/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this thread is inside one of our wrappers: the outermost call counts, what it calls in turn belongs to it. */
#ifndef PRELOAD_DEPTH_H
#define PRELOAD_DEPTH_H

#include <stdint.h>

struct preload_depth {
    uint64_t call;        /* id of the library call in flight in this thread, 0: none */
    uint64_t launch;      /* the same for a kernel launch */
    uintptr_t call_stack; /* stack pointer of the wrapper that has the call, 0: not noted yet */
    uintptr_t
        launch_stack; /* noted after, voided before the id: a signal handler never meets a pointer of another call */
};

#pragma GCC visibility push(hidden)
extern _Thread_local struct preload_depth preload_depth __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop

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

/* Some call is in flight. If a longjmp() or an exception left it, so that the wrapper never got to its end, it is counted
 * as dropped and forgotten. FRAME: where the caller's frame ends, __builtin_dwarf_cfa(). */
void depth_forget_abandoned(uintptr_t frame);

#endif
