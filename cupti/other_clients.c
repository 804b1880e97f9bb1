/* SPDX-License-Identifier: Apache-2.0 */
/* Counts, and the name of the first. What is to be done is the timing's (kernel_timing_give_up()). */
#include "cupti/other_clients.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "cupti/cupti_types.h"
#include "cupti/cupti_versions.h"
#include "cupti/kernel_timing.h"
#include "trace/trace_writer.h"

enum { PATH_BYTES = 400 };
static const uint64_t patience_ns = 1000000000;

static _Atomic unsigned alone, sharing; /* calls that succeeded, or are on their way */

static struct {
    _Atomic int state; /* 0: free, 1: being set, 2: set */
    const char *function;
    char library[PATH_BYTES];
} first;

static void remember_first(const char *function, const char *library)
{
    int is_free = 0;
    if (!atomic_compare_exchange_strong(&first.state, &is_free, 1))
        return;
    first.function = function;
    snprintf(first.library, sizeof first.library, "%s", library && *library ? library : "a library that is not known");
    atomic_store(&first.state, 2);
}

static _Atomic unsigned *count_of(bool shares)
{
    return shares ? &sharing : &alone;
}

/* The count goes up first: a start of ours that does not see it yet is seen by us. */
void other_clients_before(const char *function, const char *library, bool shares)
{
    atomic_fetch_add(count_of(shares), 1);
    remember_first(function, library);
    kernel_timing_give_up(shares, patience_ns);
}

/* The process may have been bound to the other form of CUPTI by ours, for good. */
static void note_refused(const char *function, int result)
{
    static _Atomic bool noted;
    struct trace_thread *thread = trace_writer_is_open() && !atomic_exchange(&noted, true) ? trace_thread_get() : NULL;
    if (thread)
        trace_note(
            thread, TRACE_NOTE_PROFILER, result,
            "%s: CUPTI refused it all the same, %s; ROOFTAP_TIMING=off leaves CUPTI alone, ROOFTAP_CUPTI_API=v1|v2 "
            "takes the form that it can follow",
            function, cupti_result_text(result));
}

/* A client that was refused is none: its profile is empty, ours need not be. */
void other_clients_after(const char *function, bool shares, int result)
{
    if (result == CUPTI_OK)
        return;
    if (kernel_timing_was_given_up())
        note_refused(function, result);
    atomic_fetch_sub(count_of(shares), 1);
    int set = 2;
    if (other_clients_now() == OTHER_CLIENTS_NONE)
        atomic_compare_exchange_strong(&first.state, &set, 0);
}

enum other_clients_form other_clients_now(void)
{
    return atomic_load(&alone)     ? OTHER_CLIENTS_ALONE
           : atomic_load(&sharing) ? OTHER_CLIENTS_SHARING
                                   : OTHER_CLIENTS_NONE;
}

bool other_clients_describe(char *text, size_t bytes)
{
    if (atomic_load(&first.state) != 2)
        return false;
    snprintf(text, bytes, "%s called by %s", first.function, first.library);
    return true;
}
