/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that were left by longjmp(), by an exception or by a thread's cancellation caught halfway. What a call calls in turn
 * has its frame below that of the call's wrapper; so a wrapper that finds itself above it knows that the other is gone. */
#include "preload/depth.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cupti/kernel_timing.h"
#include "preload/entries.h"
#include "preload/preload.h"
#include "trace/trace.h"

/* Further apart, it may as well be another stack, of a coroutine or of a signal handler: then nothing is known. */
#define SAME_STACK_BYTES ((uintptr_t)1 << 20)

/* A call that is in flight, or one that nobody noted the stack of, wraps around to more than any distance. */
static bool is_above(uintptr_t frame, uintptr_t stack)
{
    return stack && frame - stack - 1 < SAME_STACK_BYTES;
}

/* A signal handler's stack may lie above that of the call it came into. The kernel knows; the call cannot fail. */
static bool on_signal_stack(void)
{
    stack_t now = {.ss_flags = 0};
    return syscall(SYS_sigaltstack, NULL, &now) != 0 || (now.ss_flags & SS_ONSTACK);
}

static void forget(struct trace_thread *thread, uint64_t *id, uintptr_t *stack)
{
    *stack = 0;
    *id = 0;
    __atomic_store_n(&thread->slot->records_dropped, thread->slot->records_dropped + 1, __ATOMIC_RELAXED);
}

static void forget_abandoned(struct trace_thread *thread, uintptr_t frame)
{
    struct preload_depth *depth = preload_depth(thread);
    bool call = depth->call && is_above(frame, depth->call_stack);
    bool launch = depth->launch && is_above(frame, depth->launch_stack);
    if ((!call && !launch) || on_signal_stack())
        return;
    if (call || !depth->call) {
        kernel_timing_call_end(kernel_timing_context(thread), TRACE_OWNER_NONE, 0);
        __atomic_store_n(&thread->slot->entry, ENTRY_NONE, __ATOMIC_RELEASE);
    }
    thread_leave(thread); /* left in the middle of its record, which is not committed then: the next takes its place */
    if (launch)
        forget(thread, &depth->launch, &depth->launch_stack);
    if (call)
        forget(thread, &depth->call, &depth->call_stack);
}

struct trace_thread *depth_thread_slowly(uintptr_t frame, bool is_launch)
{
    struct trace_thread *thread = trace_thread_now();
    if (thread) {
        const struct preload_depth *depth = preload_depth(thread);
        if (depth->call || depth->launch)
            forget_abandoned(thread, frame);
        if (is_launch ? depth->launch : depth->call)
            return NULL;
    }
    return preload_thread_slowly();
}
