/* SPDX-License-Identifier: Apache-2.0 */
/* Where an operator stands on the roofline of its device: class, flags and rates. Pure arithmetic on what work and
 * the session found; NAN stands for "not known" and leads to BOUND_UNKNOWN, never to a guess. */
#ifndef CLASSIFY_ROOFLINE_H
#define CLASSIFY_ROOFLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/gpu_specs.h"

/* The roofs of one device: the specification's, scaled down where the device is a part of the product. */
struct device_roofs {
    const struct gpu_spec *spec; /* NULL: no roof at all */
    double compute_scale;        /* SMs of the device by SMs of the row, at most 1 */
    double memory_scale;         /* memory slices of a MIG instance by the product's */
};

/* SM_COUNT and MEMORY_BYTES as the driver gives them, negative if not known. */
struct device_roofs device_roofs(const struct gpu_spec *spec, int32_t sm_count, bool mig, int64_t memory_bytes);
double device_roofs_flops_per_second(const struct device_roofs *roofs, enum gpu_path path); /* NAN: none */
double device_roofs_bytes_per_second(const struct device_roofs *roofs);                     /* NAN: none */
/* What PATH reaches at the least: its peak; of dp4a, whose rate NVIDIA does not publish since Volta, the fp32 peak. An instruction
 * does 8 operations where an FMA does 2, on units whose plain integer multiply-add has at least half of FMA's rate (CUDA C++
 * Programming Guide, throughput of native arithmetic instructions, 7.0 to 9.0: 64 results a clock of 64 or 128); on 6.1 it is 4
 * times the fp32 peak (NVIDIA P40 data sheet: 47 TOPS, 12 TFLOP/s). NAN: unknown. */
double device_roofs_least_flops_per_second(const struct device_roofs *roofs, enum gpu_path path);
/* Time at the roof, in seconds, with parts of the peak and of the bandwidth. Where only the least of a peak is known: that of the
 * bytes if it is longer than the FLOPs take at the most, else NAN. */
double device_roofs_seconds(const struct device_roofs *roofs, enum gpu_path path, double flops, double bytes,
                            double compute_part, double memory_part);

/* Three roofs may be shown; the specification alone classifies. */
enum roof_kind {
    ROOF_SPECIFICATION, /* the row's peaks, scaled to the device */
    ROOF_ACHIEVABLE,    /* what a library reached: measured on this device, or published for the product */
    ROOF_HELD_CLOCK,    /* the specification, scaled down by the SM clock that was observed under load */
    ROOF_KIND_COUNT,
};

enum roof_origin {
    ROOF_ORIGIN_NONE,       /* not known */
    ROOF_ORIGIN_TABLE,      /* a row of the built-in table */
    ROOF_ORIGIN_TABLE_FILE, /* a row of the user's table file */
    ROOF_ORIGIN_PEAK,       /* --peak */
    ROOF_ORIGIN_MEASURED,
    ROOF_ORIGIN_PUBLISHED, /* measured elsewhere on the same product */
};

/* What `rooftap calibrate` found on a device. 0: not measured. */
struct measured_roofs {
    double flops_per_second[GPU_PATH_COUNT];
    double bytes_per_second;
    const char *source; /* when and how, in a few words */
};

struct roof {
    double flops_per_second, bytes_per_second; /* NAN: not known */
    enum roof_origin compute_origin, memory_origin;
    const char *compute_source, *memory_source; /* NULL where not known */
};

struct roof device_roof_specification(const struct device_roofs *roofs, enum gpu_path path);
/* MEASURED may be NULL; a figure that was measured goes before a published one. Published ones are of whole products and
 * are scaled as the specification is. */
struct roof device_roof_achievable(const struct device_roofs *roofs, const struct measured_roofs *measured,
                                   enum gpu_path path);
/* CLOCK_HZ as observed under load; never scales up. Bandwidth is the specification's. */
struct roof device_roof_held(const struct device_roofs *roofs, double clock_hz, enum gpu_path path);

const char *roof_kind_name(enum roof_kind kind); /* "specification", "achievable", "held_clock" */
const char *
roof_origin_name(enum roof_origin origin); /* "table", "table_file", "peak", "measured", "published"; NULL */

enum bound { BOUND_UNKNOWN, BOUND_MEMORY, BOUND_COMPUTE, BOUND_OVERHEAD };

/* Of the time at the roof, and of the launch floor: what the flag far_from_roof and the class overhead mean. */
#define ROOFLINE_FAR_TIMES      3.0
#define ROOFLINE_OVERHEAD_TIMES 2.0

enum roofline_flag {
    ROOFLINE_NEAR_RIDGE = 1 << 0, /* within 10 % of the ridge */
    ROOFLINE_STARVED = 1 << 1,    /* fewer blocks than SMs, and that costs more than 25 % at the roof: of compute, or of
                                    * bandwidth where that was measured against blocks */
    ROOFLINE_FAR_FROM_ROOF = 1 << 2, /* more than 3 times the time at the roof, and not overhead */
    ROOFLINE_ABOVE_ROOF = 1 << 3,    /* faster than the roof: caches, a wrong peak or a wrong byte model */
    ROOFLINE_FLAG_COUNT = 4,
};

struct roofline_input {
    double flops, bytes; /* of all calls that TIME_NS covers; of all calls where there is no time */
    enum gpu_path path;
    uint64_t kernels;      /* timed ones; 0: no time is known */
    double time_ns;        /* of all their kernels */
    double floor_ns;       /* what an empty kernel takes; NAN: not known */
    uint64_t blocks;       /* of the kernel that took most of the time; 0: not known */
    bool persistent;       /* such a kernel launches about one block an SM whatever the work: no claim */
    int32_t sm_count;      /* of the device; not above 0: not known */
    double bandwidth_fill; /* share of the bandwidth that so many blocks draw, as calibrated; not above 0: not known */
    double call_bytes;     /* of one call; not above 0: not known */
    double l2_bytes;       /* of the device; not above 0: not known */
};

/* Why an operator may be faster than its roof. Up to 125 % caches and clocks explain it, beyond that nothing does but a
 * wrong peak or a wrong model of its work. The figure itself is never clamped. */
enum above_roof {
    ABOVE_ROOF_NOT,
    ABOVE_ROOF_FITS_IN_L2,    /* memory-bound, and the bytes of a call fit in L2 */
    ABOVE_ROOF_NOMINAL_CLOCK, /* compute-bound: the SM clock was above the one that the peak means */
    ABOVE_ROOF_UNEXPLAINED,   /* memory-bound, and its bytes don't fit in L2, or its size is not known */
    ABOVE_ROOF_INCONSISTENT,  /* more than 125 % */
    ABOVE_ROOF_COUNT,
};

struct roofline {
    double intensity, ridge; /* FLOP/byte; RIDGE is NAN where memory bounds it whatever the peak may be */
    double t_roof_ns;
    enum bound bound;
    unsigned flags;                                           /* enum roofline_flag */
    double flops_per_second, bytes_per_second, roof_fraction; /* NAN without a time */
    enum above_roof above_roof;
    bool fits_in_l2; /* the bytes of one call; false where not known */
};

void roofline_classify(const struct roofline_input *input, const struct device_roofs *roofs, struct roofline *result);

const char *bound_name(enum bound bound);
const char *roofline_flag_name(enum roofline_flag flag);
const char *above_roof_name(enum above_roof reason); /* "fits_in_l2", ...; NULL for ABOVE_ROOF_NOT */
/* "fits in L2 (72 MB)", "above nominal clock", "inconsistent model", ...; empty for ABOVE_ROOF_NOT. Returns OUT. */
char *above_roof_text(const struct roofline *roofline, double l2_bytes, char *out, size_t bytes);

#endif
