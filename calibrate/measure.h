/* SPDX-License-Identifier: Apache-2.0 */
/* The measurements of `rooftap calibrate`, each of them written into the calibration. */
#ifndef CALIBRATE_MEASURE_H
#define CALIBRATE_MEASURE_H

#include "calibrate/blas.h"
#include "calibrate/budget.h"
#include "calibrate/cuda.h"
#include "calibrate/kernels.h"
#include "calibrate/nvml.h"
#include "classify/calibration.h"

enum { MEASURE_BATCH = 8, MEASURE_MOST_TIMES = 64 };

struct measure {
    struct cuda cuda;
    struct blas blas;
    struct kernels kernels;
    struct nvml *nvml; /* NULL: not there */
    const struct nvml_device *nvml_device;
    struct budget budget;
    struct calibration *calibration;
    void *events[MEASURE_BATCH + 1];
    char error[1024];
};

/* One run of what is timed; false: MEASURE->cuda or blas has the error. */
typedef bool measure_work(struct measure *measure, void *context);

struct measure_times {
    double best_ns, median_ns;
    int count;
};
/* Runs WORK warm, then up to MEASURE_MOST_TIMES times or SECONDS, at least twice; each between two events. */
bool measure_repeat(struct measure *measure, measure_work *work, void *context, double seconds,
                    struct measure_times *times);

/* Launch floor, bandwidth, matrix products. False: the device failed, not a path that it lacks. */
bool measure_launch(struct measure *measure);
bool measure_bandwidth(struct measure *measure);
bool measure_gemm(struct measure *measure, bool quick);

#endif
