/* SPDX-License-Identifier: Apache-2.0 */
/* Copying (the better of the driver and the kernel), reading, and how many blocks it takes. */
#include "calibrate/measure.h"

#include <math.h>

enum { THREADS = 256 };

struct stream_work {
    cuda_address to, from;
    size_t bytes;
    void *function; /* NULL: the driver's copy */
    unsigned blocks;
};

static bool run(struct measure *measure, void *context)
{
    struct stream_work *work = context;
    uint64_t bytes = work->bytes;
    void *arguments[] = {&work->to, &work->from, &bytes};
    if (!work->function)
        return cuda_copy(&measure->cuda, work->to, work->from, work->bytes);
    return cuda_launch(&measure->cuda, work->function, work->blocks, THREADS, arguments);
}

/* So large that what the L2 cache holds of the last round is an eighth at most. */
static size_t working_set(struct measure *measure)
{
    const size_t least = (size_t)256 << 20, most = (size_t)4 << 30;
    int64_t l2 = measure->calibration->device.l2_bytes;
    size_t bytes = l2 > 0 ? (size_t)l2 * 8 : (size_t)1 << 30, free_bytes = cuda_free_bytes(&measure->cuda);
    bytes = bytes < least ? least : bytes > most ? most : bytes;
    if (free_bytes && bytes > free_bytes / 4)
        bytes = free_bytes / 4;
    return bytes / 65536 * 65536;
}

/* 1, 2, 4, ... below a block an SM, then one, two, four and eight. */
static int choose_blocks(int32_t sms, int64_t blocks[CALIBRATION_POINTS])
{
    int count = 0;
    int64_t most = sms > 0 ? sms : 4096;
    for (int64_t b = 1; b < most && count < CALIBRATION_POINTS - 4; b *= 2)
        blocks[count++] = b;
    for (int64_t factor = 1; sms > 0 && factor <= 8; factor *= 2)
        blocks[count++] = most * factor;
    return count;
}

static double rate(double bytes, const struct measure_times *times)
{
    return times->best_ns > 0 ? bytes / (times->best_ns / 1e9) : NAN;
}

static bool measure_kernels(struct measure *measure, struct stream_work *work)
{
    struct calibration *calibration = measure->calibration;
    struct measure_times times;
    int64_t blocks[CALIBRATION_POINTS];
    int count = choose_blocks(calibration->device.sm_count, blocks);
    work->function = measure->kernels.copy;
    for (int i = count - 1; i >= 0 && budget_allows(&measure->budget);
         i--) { /* the fast ones first: they matter most */
        budget_tell(&measure->budget, "bandwidth by blocks");
        work->blocks = (unsigned)blocks[i];
        if (!measure_repeat(measure, run, work, budget_slice(&measure->budget, 8 * count), &times))
            return false;
        calibration->points[i] = (struct calibration_point){blocks[i], rate(2.0 * (double)work->bytes, &times)};
        calibration->copy_bytes_per_second =
            fmax(calibration->points[i].bytes_per_second, calibration->copy_bytes_per_second);
        calibration->point_count = count;
    }
    /* What was left out for lack of time are the first. */
    int first = 0;
    while (first < calibration->point_count && calibration->points[first].blocks == 0)
        first++;
    for (int i = first; i < calibration->point_count; i++)
        calibration->points[i - first] = calibration->points[i];
    calibration->point_count -= first;
    calibration->threads_per_block = THREADS;
    work->function = measure->kernels.read;
    work->blocks = (unsigned)blocks[count - 1];
    if (!measure_repeat(measure, run, work, budget_slice(&measure->budget, 32), &times))
        return false;
    calibration->read_bytes_per_second = rate((double)work->bytes, &times);
    return true;
}

bool measure_bandwidth(struct measure *measure)
{
    struct stream_work work = {.bytes = working_set(measure)};
    struct measure_times times;
    budget_tell(&measure->budget, "copy bandwidth");
    bool good =
        cuda_allocate(&measure->cuda, work.bytes, &work.to) && cuda_allocate(&measure->cuda, work.bytes, &work.from);
    measure->calibration->working_set_bytes = 2 * (int64_t)work.bytes;
    if (good && measure->calibration->device.simulated != 1) { /* the simulator copies by hand, at the host's pace */
        good = measure_repeat(measure, run, &work, budget_slice(&measure->budget, 32), &times);
        if (good)
            measure->calibration->copy_bytes_per_second = rate(2.0 * (double)work.bytes, &times);
    }
    good = good && measure_kernels(measure, &work);
    cuda_release(&measure->cuda, work.to);
    cuda_release(&measure->cuda, work.from);
    return good;
}
