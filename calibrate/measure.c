/* SPDX-License-Identifier: Apache-2.0 */
/* Time by events, the device's own clock; and the launch floor, which needs nothing else. */
#include "calibrate/measure.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Reads NVML while the device works: between enqueuing and waiting. */
static void read_clocks(struct measure *measure)
{
    struct nvml_reading reading;
    struct calibration *calibration = measure->calibration;
    if (!measure->nvml_device || !nvml_read(measure->nvml, measure->nvml_device, &reading))
        return;
    if (reading.sm_clock_mhz > 0) {
        double hz = reading.sm_clock_mhz * 1e6;
        calibration->sm_hz_lowest = fmin(hz, calibration->sm_hz_lowest); /* of a number and NAN, the number */
        calibration->sm_hz_highest = fmax(hz, calibration->sm_hz_highest);
    }
    if (reading.throttle_reasons != TRACE_REASONS_UNKNOWN)
        calibration->throttle_reasons =
            (calibration->throttle_reasons == TRACE_REASONS_UNKNOWN ? 0 : calibration->throttle_reasons) |
            reading.throttle_reasons;
}

/* WORK runs once as a lead-in: without it the device would stand at the first event and wait for the host. Then COUNT times,
 * each between two events. */
static bool run_batch(struct measure *measure, measure_work *work, void *context, int count, double *ns)
{
    struct cuda *cuda = &measure->cuda;
    bool good = work(measure, context) && cuda_record(cuda, measure->events[0]);
    for (int i = 0; i < count && good; i++)
        good = work(measure, context) && cuda_record(cuda, measure->events[i + 1]);
    if (good)
        read_clocks(measure);
    for (int i = 0; i < count && good; i++)
        good = cuda_elapsed_ns(cuda, measure->events[i], measure->events[i + 1], &ns[i]);
    return good;
}

bool measure_repeat(struct measure *measure, measure_work *work, void *context, double seconds,
                    struct measure_times *times)
{
    double ns[MEASURE_MOST_TIMES], until = budget_now() + seconds;
    int count = 0, batch = 2;    /* small at first: nobody knows yet how long it takes */
    if (!work(measure, context)) /* warm: libraries load their kernels, clocks rise */
        return false;
    do {
        if (!run_batch(measure, work, context, batch, ns + count))
            return false;
        count += batch;
        batch = batch * 2 < MEASURE_BATCH ? batch * 2 : MEASURE_BATCH;
    } while (count + batch <= MEASURE_MOST_TIMES && budget_now() < until);
    qsort(ns, (size_t)count, sizeof ns[0], compare);
    *times = (struct measure_times){ns[0], ns[count / 2], count};
    return true;
}

/* ---- the launch floor ---- */

struct replay {
    void *graph;
};

static bool replay(struct measure *measure, void *context)
{
    return cuda_replay(&measure->cuda, ((struct replay *)context)->graph);
}

static bool empty_graph(struct measure *measure, int kernels, double *ns)
{
    struct replay work = {NULL};
    struct measure_times times;
    bool good = cuda_capture_begin(&measure->cuda);
    for (int i = 0; i < kernels && good; i++)
        good = cuda_launch(&measure->cuda, measure->kernels.empty, 1, 32, NULL);
    good = good && cuda_capture_end(&measure->cuda, &work.graph) &&
           measure_repeat(measure, replay, &work, budget_slice(&measure->budget, 32), &times);
    cuda_graph_free(&measure->cuda, work.graph);
    *ns = good ? times.best_ns : NAN;
    return good;
}

/* Enqueuing alone, by the host's clock: few enough to fit the driver's queue, the best of several. */
static bool enqueue(struct measure *measure, double *ns)
{
    enum { LAUNCHES = 256, ROUNDS = 8 };
    *ns = NAN;
    for (int round = 0; round < ROUNDS; round++) {
        double start = budget_now();
        for (int i = 0; i < LAUNCHES; i++)
            if (!cuda_launch(&measure->cuda, measure->kernels.empty, 1, 32, NULL))
                return false;
        *ns = fmin((budget_now() - start) * 1e9 / LAUNCHES, *ns);
        if (!cuda_wait(&measure->cuda))
            return false;
    }
    return true;
}

/* Two graphs of empty kernels, one after another in each: the difference is free of what a graph costs once. Launched one by
 * one they would be as far apart as the host is slow. */
bool measure_launch(struct measure *measure)
{
    enum { FEW = 64, MANY = 1024 };
    double few, many, host_ns;
    budget_tell(&measure->budget, "launch floor");
    if (!empty_graph(measure, FEW, &few) || !empty_graph(measure, MANY, &many) || !enqueue(measure, &host_ns))
        return false;
    if (many > few)
        measure->calibration->empty_kernel_ns =
            round((many - few) / (MANY - FEW) * 10) / 10; /* events tick in 500 ns */
    if (measure->calibration->device.simulated != 1)      /* there it would be the simulator's own cost */
        measure->calibration->enqueue_ns = host_ns;
    return true;
}
