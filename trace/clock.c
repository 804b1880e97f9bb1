/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether the CPU's own counter can be trusted in this process. Reading it costs a fifth of clock_gettime() and
 * never enters the kernel, so it is taken wherever its rate is fixed and nobody forbids it. */
#include "trace/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum trace_clock clock_in_use = TRACE_CLOCK_MONOTONIC;

#if defined(__x86_64__)
static bool cpuid_says_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
}

/* PR_SET_TSC makes rdtsc a SIGSEGV; a host that asked for it must not be hit by us. */
static bool process_may_read_tsc(void)
{
    int setting = PR_TSC_ENABLE;
    return prctl(PR_GET_TSC, &setting) != 0 || setting == PR_TSC_ENABLE;
}

/* The kernel falls back to one of these when it found the counters of several CPUs apart. */
static bool kernel_distrusts_tsc(void)
{
    static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
    char name[32];
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, name, sizeof name - 1);
    close(fd);
    if (got <= 0)
        return false;
    name[got] = 0;
    name[strcspn(name, "\n")] = 0;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (strcmp(name, slow[i]) == 0)
            return true;
    return false;
}
#endif

void clock_choose(void)
{
    int saved = errno;
#if defined(__x86_64__)
    bool counter = cpuid_says_invariant() && process_may_read_tsc() && !kernel_distrusts_tsc();
#elif defined(__aarch64__)
    bool counter = true; /* the generic timer's rate is fixed by the architecture */
#else
    bool counter = false;
#endif
    clock_in_use = counter ? TRACE_CLOCK_TSC : TRACE_CLOCK_MONOTONIC;
    errno = saved;
}

uint64_t clock_ticks_by_call(void)
{
    return clock_monotonic_ns();
}

uint64_t clock_ticks_per_second(void)
{
    if (clock_in_use == TRACE_CLOCK_MONOTONIC)
        return 1000000000ull;
#if defined(__aarch64__)
    uint64_t rate;
    __asm__("mrs %0, cntfrq_el0" : "=r"(rate));
    return rate;
#else
    return 0;            /* CPUID's word (leaf 0x15) is nominal; anchors measure */
#endif
}
