/* SPDX-License-Identifier: Apache-2.0 */
/* Where an operator stands on the roofline of its device: class, flags and rates. Pure arithmetic on what work and
 * the session found; NAN stands for "not known" and leads to BOUND_UNKNOWN, never to a guess. */
#ifndef CLASSIFY_ROOFLINE_H
#define CLASSIFY_ROOFLINE_H

#include <stdbool.h>
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

enum bound { BOUND_UNKNOWN, BOUND_MEMORY, BOUND_COMPUTE, BOUND_OVERHEAD };

enum roofline_flag {
    ROOFLINE_NEAR_RIDGE = 1 << 0,    /* within 10 % of the ridge */
    ROOFLINE_STARVED = 1 << 1,       /* fewer blocks than SMs, and that costs more than 25 % at the roof */
    ROOFLINE_FAR_FROM_ROOF = 1 << 2, /* more than 3 times the time at the roof, and not overhead */
    ROOFLINE_ABOVE_ROOF = 1 << 3,    /* faster than the roof: caches, a wrong peak or a wrong byte model */
    ROOFLINE_FLAG_COUNT = 4,
};

struct roofline_input {
    double flops, bytes; /* of all calls that TIME_NS covers; of all calls where there is no time */
    enum gpu_path path;
    uint64_t kernels; /* timed ones; 0: no time is known */
    double time_ns;   /* of all their kernels */
    double floor_ns;  /* what an empty kernel takes; NAN: not known */
    uint64_t blocks;  /* of the widest kernel; 0: not known */
    bool persistent;  /* such a kernel launches about one block an SM whatever the work: no claim */
    int32_t sm_count; /* of the device; not above 0: not known */
};

struct roofline {
    double intensity, ridge; /* FLOP/byte */
    double t_roof_ns;
    enum bound bound;
    unsigned flags;                                           /* enum roofline_flag */
    double flops_per_second, bytes_per_second, roof_fraction; /* NAN without a time */
};

void roofline_classify(const struct roofline_input *input, const struct device_roofs *roofs, struct roofline *result);

const char *bound_name(enum bound bound);
const char *roofline_flag_name(enum roofline_flag flag);

#endif
