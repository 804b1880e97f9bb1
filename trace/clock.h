/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest monotonic count that this machine has. Which one it is stands in every block header; anchors relate it to
 * clocks afterwards, so nothing is converted inside the host. */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "trace/trace.h"

/* Decided once by clock_choose(), before any other thread asks. */
extern enum trace_clock clock_in_use __attribute__((visibility("hidden")));

/* TSC where CPUID says that it is invariant (x86-64) or the architecture's counter is fixed-rate, else CLOCK_MONOTONIC. */
void clock_choose(void);

static inline uint64_t clock_monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_realtime_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* clock_ticks() without a counter; not inline, so that it costs the others no stack. */
uint64_t clock_ticks_by_call(void);

static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(clock_in_use == TRACE_CLOCK_TSC, 1))
        return __builtin_ia32_rdtsc();
#endif
#if defined(__aarch64__)
    if (__builtin_expect(clock_in_use == TRACE_CLOCK_TSC, 1)) {
        uint64_t count;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
        return count;
    }
#endif
    return clock_ticks_by_call();
}

/* What the machine itself says about the rate of clock_ticks(); 0: it does not say. */
uint64_t clock_ticks_per_second(void);

#endif
