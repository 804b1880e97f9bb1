/* SPDX-License-Identifier: Apache-2.0 */
/* An engine whose main thread makes CALLS calls while another thread beats every 100 ms: `heartbeat CALLS`. Prints, as JSON,
 * what one call took at most, in processor time of its thread and by the clock, how often that thread gave the processor up by
 * itself, the latest beat, and when the last call was over (CLOCK_MONOTONIC). */
#include "gemms.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { BEAT_MS = 100 };

static int stop;
static uint64_t latest_beat_ns;

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *beat(void *unused)
{
    const struct timespec period = {0, BEAT_MS * 1000000};
    uint64_t last = clock_ns(CLOCK_MONOTONIC);
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        nanosleep(&period, NULL);
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        if (now - last > latest_beat_ns)
            latest_beat_ns = now - last;
        last = now;
    }
    return unused;
}

static void keep_largest(uint64_t *largest, uint64_t value)
{
    if (value > *largest)
        *largest = value;
}

static long given_up(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

int main(int count, char **arguments)
{
    long calls = count > 1 ? atol(arguments[1]) : 0, failed = 0;
    uint64_t cpu_ns = 0, wall_ns = 0;
    struct gemms gemms;
    pthread_t thread;
    if (calls < 1 || !gemms_open(&gemms) || pthread_create(&thread, NULL, beat, NULL) != 0)
        return 2;
    gemms_ex(&gemms, 64, 32, 16); /* the first call starts the library: that is not one of a stream of calls */
    long voluntary = given_up();
    for (long i = 0; i < calls; i++) {
        uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);
        failed += gemms_ex(&gemms, 64, 32, 16) != CUBLAS_STATUS_SUCCESS;
        keep_largest(&cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
        keep_largest(&wall_ns, clock_ns(CLOCK_MONOTONIC) - wall);
    }
    voluntary = given_up() - voluntary;
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    printf("{\"failed\": %ld, \"cpu_ns\": %" PRIu64 ", \"wall_ns\": %" PRIu64 ", \"waits\": %ld, \"beat_ns\": %" PRIu64
           ", \"over_ns\": %" PRIu64 "}\n",
           failed, cpu_ns, wall_ns, voluntary, latest_beat_ns, clock_ns(CLOCK_MONOTONIC));
    return 0;
}
