/* SPDX-License-Identifier: Apache-2.0 */
/* What one GPU was measured to reach, by `rooftap calibrate`: the achievable roof. One JSON file a GPU, of which nothing is
 * believed before it was checked; CALIBRATION.md draws it. Only its own GPU may use it. */
#ifndef CLASSIFY_CALIBRATION_H
#define CLASSIFY_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "classify/gpu_specs.h"
#include "trace/trace.h"

enum { CALIBRATION_SCHEMA = 1, CALIBRATION_POINTS = 64, CALIBRATION_TEXT = 96 };

/* The best of a sweep; NAN in flops_per_second: the path was not measured. */
struct calibration_gemm {
    double flops_per_second;        /* of the fastest call */
    double median_flops_per_second; /* of that shape's calls: what it sustains */
    int64_t m, n, k;                /* as a user sees them */
};

struct calibration_point {
    int64_t blocks;
    double bytes_per_second; /* read and written together */
};

struct calibration {
    struct trace_device device;            /* whom it is of: uuid, PCI ids, name, sm_count, ..., simulated */
    char driver_version[CALIBRATION_TEXT]; /* of the kernel module; empty: not known */
    char cublas[CALIBRATION_TEXT];         /* its version */
    char rooftap_version[CALIBRATION_TEXT];
    int64_t measured_realtime_ns;
    double seconds;                     /* that it took */
    bool quick, stopped_early;          /* some of it was left out for lack of time */
    double sm_hz_lowest, sm_hz_highest; /* while GEMMs ran, by NVML; NAN: not known */
    uint64_t throttle_reasons;          /* all that were seen then; TRACE_REASONS_UNKNOWN */
    struct calibration_gemm gemm[GPU_PATH_COUNT];
    double copy_bytes_per_second, read_bytes_per_second; /* NAN: not measured; so for the rest */
    int64_t working_set_bytes;                           /* of a copy: read and written */
    struct calibration_point points[CALIBRATION_POINTS]; /* bandwidth of a copy kernel by its blocks, ascending */
    int point_count, threads_per_block;
    double empty_kernel_ns; /* one empty kernel to the next in a graph: the least that a kernel takes */
    double enqueue_ns;      /* of the host, to launch one; NAN also on a simulated GPU */
};

struct calibration_error {
    char text[1024]; /* one line: what, where, what was expected, what to do */
};

/* All unknown. */
void calibration_init(struct calibration *calibration);
/* False: *error says why. */
bool calibration_read(struct calibration *calibration, const char *path, struct calibration_error *error);
/* Written beside and renamed over PATH. */
bool calibration_write(const struct calibration *calibration, const char *path, struct calibration_error *error);
/* The file's text, freed with free(). */
char *calibration_text(const struct calibration *calibration);

/* Where the calibration of DEVICE lies: $XDG_DATA_HOME/rooftap/calibration/, by UUID, a simulated one by its name. NULL: no
 * UUID, or no home. Freed with free(). */
char *calibration_path(const struct trace_device *device);
/* Makes the folders above PATH. False with errno set. */
bool calibration_make_folders(const char *path);

/* It may be used for DEVICE: the same UUID and PCI ids, or the same simulated GPU. */
bool calibration_is_of(const struct calibration *calibration, const struct trace_device *device);

double calibration_flops_per_second(const struct calibration *calibration, enum gpu_path path); /* NAN: not measured */
/* The better of copying and reading; NAN: not measured. */
double calibration_bytes_per_second(const struct calibration *calibration);
/* Share of the bandwidth that a kernel of so many blocks can draw, at most 1; between the points by straight lines. NAN: not
 * measured, or no blocks. */
double calibration_fill_of_bandwidth(const struct calibration *calibration, double blocks);

#endif
