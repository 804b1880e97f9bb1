/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs, what the clocks say, and what still works while the process leaves. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/gpu/probe.h"

enum { BATCHES = 7, BATCH = 500 };

static void start(void)
{
    gpu_load();
    cupti_load();
    gpu_init();
}

/* Best of some batches, each short enough not to fill the launch queue. */
static double launch_ns(bool pushed)
{
    uint64_t best = UINT64_MAX;
    for (unsigned b = 0; b < BATCHES; b++) {
        uint64_t popped, before = monotonic_ns();
        for (unsigned i = 0; i < BATCH; i++) {
            if (pushed)
                cupti.cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, i);
            gpu_launch(1);
            if (pushed)
                cupti.cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &popped);
        }
        uint64_t took = monotonic_ns() - before;
        gpu_synchronize();
        best = took < best ? took : best;
    }
    return (double)best / BATCH;
}

static int launch_cost(void)
{
    start();
    launch_ns(false);
    answer_begin("launch_cost");
    answer_real("plain_ns", launch_ns(false));
    answer_number("subscribe", cupti_subscribe());
    answer_real("subscribed_ns", launch_ns(false));
    cupti_launch_callbacks();
    answer_real("callbacks_ns", launch_ns(false));
    answer_number("kernel_kind", cupti_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    launch_ns(false);
    answer_real("callbacks_and_kernels_ns", launch_ns(false));
    cupti_record(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    answer_real("external_without_api_records_ns", launch_ns(true));
    cupti_record(CUPTI_ACTIVITY_KIND_DRIVER);
    answer_real("external_ns", launch_ns(true));
    cupti_flush();
    answer_number("kernels", heard.kernel_count);
    return answer_end();
}

static int event_cost(void)
{
    enum { EVENTS = 200 };
    CUevent events[2];
    float elapsed = 0;
    start();
    gpu.cuEventCreate(&events[0], CU_EVENT_DEFAULT);
    gpu.cuEventCreate(&events[1], CU_EVENT_DEFAULT);
    double plain = launch_ns(false);
    uint64_t best = UINT64_MAX;
    for (unsigned b = 0; b < BATCHES; b++) {
        uint64_t before = monotonic_ns();
        for (unsigned i = 0; i < EVENTS; i++) {
            gpu.cuEventRecord(events[0], gpu.stream);
            gpu_launch(1);
            gpu.cuEventRecord(events[1], gpu.stream);
        }
        uint64_t took = monotonic_ns() - before;
        gpu_synchronize();
        best = took < best ? took : best;
    }
    gpu.cuEventSynchronize(events[1]);
    gpu.cuEventElapsedTime(&elapsed, events[0], events[1]);
    answer_begin("event_cost");
    answer_real("launch_ns", plain);
    answer_real("launch_between_two_events_ns", (double)best / EVENTS);
    answer_real("elapsed_of_an_empty_kernel_ns", elapsed * 1e6);
    return answer_end();
}

static int clocks(void)
{
    start();
    int result = cupti_subscribe();
    if (result == 0)
        result = cupti_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    gpu_launch(1);
    gpu_synchronize();
    cupti_flush();
    cupti_forget();
    uint64_t cupti_now = 0, before_stamp = realtime_ns();
    cupti.cuptiGetTimestamp(&cupti_now);
    uint64_t after_stamp = realtime_ns(), before = realtime_ns();
    gpu_launch(1);
    gpu_synchronize();
    uint64_t after = realtime_ns();
    cupti_flush();
    const struct kernel *k = heard.kernels;
    bool one = heard.kernel_count == 1;
    answer_begin("clocks");
    answer_number("cupti", result);
    answer_bool("timestamp_between_realtime_reads", cupti_now >= before_stamp && cupti_now <= after_stamp);
    answer_bool("kernel_recorded", one);
    answer_number("kernel_starts_after_launch_ns", one ? (long long)(k->start_ns - before) : 0);
    answer_number("kernel_ends_before_return_ns", one ? (long long)(after - k->end_ns) : 0);
    return answer_end();
}

/* ---- leaving ---- */

static void still_works(const char *where)
{
    CUdevice device;
    char key[64];
    uint64_t timestamp = 0;
    snprintf(key, sizeof key, "%s_driver", where), answer_number(key, gpu.cuCtxGetDevice(&device));
    snprintf(key, sizeof key, "%s_timestamp", where), answer_number(key, cupti.cuptiGetTimestamp(&timestamp));
    snprintf(key, sizeof key, "%s_flush", where), answer_number(key, cupti.cuptiActivityFlushAll(0));
    snprintf(key, sizeof key, "%s_kernels", where), answer_number(key, heard.kernel_count);
    fflush(stdout); /* the next may not come back */
}

static void before_init(void)
{
    still_works("registered_before_init");
    answer_end();
    fflush(stdout);
}

static void after_subscribe(void)
{
    still_works("registered_after_subscribe");
}

static void after_launch(void)
{
    still_works("registered_after_launch");
}

static int exit_order(void)
{
    answer_begin("exit_order");
    atexit(before_init);
    start();
    int result = cupti_subscribe();
    if (result == 0)
        result = cupti_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    answer_number("cupti", result);
    atexit(after_subscribe);
    gpu_launch(5);
    gpu_synchronize();
    atexit(after_launch);
    return 0;
}

const struct question cost_questions[] = {
    {"launch_cost", "ns that callbacks, kernel records and external ids add to a launch", launch_cost},
    {"event_cost", "ns that timing by events adds to a launch", event_cost},
    {"clocks", "is CUPTI's clock CLOCK_REALTIME, for kernels too", clocks},
    {"exit_order", "what CUDA and CUPTI still answer in exit handlers", exit_order},
    {NULL, NULL, NULL},
};
