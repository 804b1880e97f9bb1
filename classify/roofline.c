/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the roofline, each once. */
#include "classify/roofline.h"

#include <math.h>

#define NEAR_RIDGE_SHARE    0.10
#define STARVED_FACTOR      1.25
#define FAR_FROM_ROOF_TIMES 3.0
#define OVERHEAD_TIMES      2.0

enum { MEMORY_SLICES = 8 }; /* of a MIG-capable GPU; an instance gets whole ones */

struct device_roofs device_roofs(const struct gpu_spec *spec, int32_t sm_count, bool mig, int64_t memory_bytes)
{
    struct device_roofs roofs = {spec, 1, 1};
    if (!spec)
        return roofs;
    if (sm_count > 0 && spec->sm_count > 0 && sm_count < spec->sm_count)
        roofs.compute_scale = (double)sm_count / spec->sm_count;
    if (mig && memory_bytes > 0 && spec->memory_bytes > 0) {
        /* The driver shows a little less than a slice's nominal size, hence up to the next whole slice. */
        double slices = ceil((double)memory_bytes / spec->memory_bytes * MEMORY_SLICES - 0.05);
        roofs.memory_scale = fmin(1, fmax(1, slices) / MEMORY_SLICES);
    }
    return roofs;
}

double device_roofs_flops_per_second(const struct device_roofs *roofs, enum gpu_path path)
{
    if (!roofs->spec || (unsigned)path >= GPU_PATH_COUNT || !(roofs->spec->flops_per_second[path] > 0))
        return NAN;
    return roofs->spec->flops_per_second[path] * roofs->compute_scale;
}

double device_roofs_bytes_per_second(const struct device_roofs *roofs)
{
    if (!roofs->spec || !(roofs->spec->bytes_per_second > 0))
        return NAN;
    return roofs->spec->bytes_per_second * roofs->memory_scale;
}

/* Comparisons with NAN are false throughout, so what is not known raises no flag. */

static double roof_seconds(double flops, double flops_per_second, double bytes, double bytes_per_second)
{
    double compute = flops / flops_per_second, memory = bytes / bytes_per_second;
    if (isnan(compute) || isnan(memory))
        return NAN;
    return fmax(compute, memory);
}

static bool is_starved(const struct roofline_input *in, double flops_per_second, double bytes_per_second, double t_roof)
{
    if (in->persistent || in->blocks == 0 || in->sm_count <= 0 || in->blocks >= (uint64_t)in->sm_count)
        return false;
    double fill = (double)in->blocks / in->sm_count;
    double t_filled = roof_seconds(in->flops, flops_per_second * fill, in->bytes, bytes_per_second);
    return t_filled > STARVED_FACTOR * t_roof;
}

static bool is_overhead(const struct roofline_input *in, double t_roof_ns)
{
    double start_up_ns = (double)in->kernels * in->floor_ns;
    return in->kernels && t_roof_ns < start_up_ns && in->time_ns <= OVERHEAD_TIMES * start_up_ns;
}

void roofline_classify(const struct roofline_input *in, const struct device_roofs *roofs, struct roofline *result)
{
    double peak = device_roofs_flops_per_second(roofs, in->path);
    double bandwidth = device_roofs_bytes_per_second(roofs);
    *result = (struct roofline){
        .intensity = in->bytes > 0 ? in->flops / in->bytes : NAN,
        .ridge = peak / bandwidth,
        .t_roof_ns = 1e9 * roof_seconds(in->flops, peak, in->bytes, bandwidth),
        .bound = BOUND_UNKNOWN,
        .flops_per_second = NAN,
        .bytes_per_second = NAN,
        .roof_fraction = NAN,
    };
    bool timed = in->kernels && in->time_ns > 0;
    if (timed) {
        result->flops_per_second = in->flops / in->time_ns * 1e9;
        result->bytes_per_second = in->bytes / in->time_ns * 1e9;
        result->roof_fraction = result->t_roof_ns / in->time_ns;
    }
    if (isnan(result->intensity) || isnan(result->ridge))
        return;

    result->bound = result->intensity < result->ridge ? BOUND_MEMORY : BOUND_COMPUTE;
    if (is_overhead(in, result->t_roof_ns))
        result->bound = BOUND_OVERHEAD;
    if (fabs(result->intensity / result->ridge - 1) <= NEAR_RIDGE_SHARE)
        result->flags |= ROOFLINE_NEAR_RIDGE;
    if (is_starved(in, peak, bandwidth, result->t_roof_ns / 1e9))
        result->flags |= ROOFLINE_STARVED;
    if (timed && result->bound != BOUND_OVERHEAD && in->time_ns > FAR_FROM_ROOF_TIMES * result->t_roof_ns)
        result->flags |= ROOFLINE_FAR_FROM_ROOF;
    if (result->roof_fraction > 1)
        result->flags |= ROOFLINE_ABOVE_ROOF;
}

const char *bound_name(enum bound bound)
{
    static const char *const names[] = {
        [BOUND_UNKNOWN] = "unknown",
        [BOUND_MEMORY] = "memory",
        [BOUND_COMPUTE] = "compute",
        [BOUND_OVERHEAD] = "overhead",
    };
    return names[bound];
}

const char *roofline_flag_name(enum roofline_flag flag)
{
    switch (flag) {
    case ROOFLINE_NEAR_RIDGE:
        return "near_ridge";
    case ROOFLINE_STARVED:
        return "starved";
    case ROOFLINE_FAR_FROM_ROOF:
        return "far_from_roof";
    case ROOFLINE_ABOVE_ROOF:
        return "above_roof";
    default:
        return NULL;
    }
}
