/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the roofline, each once. */
#include "classify/roofline.h"

#include <math.h>
#include <stdio.h>

/* As roofline.h says of each flag. */
#define NEAR_RIDGE_SHARE 0.10
#define STARVED_FACTOR   1.25
#define ABOVE_ROOF_MOST  1.25

/* Comparisons with NAN are false throughout, so what is not known raises no flag. */

static bool is_starved(const struct roofline_input *in, const struct device_roofs *roofs, double t_roof)
{
    if (in->persistent || in->blocks == 0 || in->sm_count <= 0 || in->blocks >= (uint64_t)in->sm_count)
        return false;
    double fill = (double)in->blocks / in->sm_count, bandwidth_fill = in->bandwidth_fill > 0 ? in->bandwidth_fill : 1;
    double t_filled = device_roofs_seconds(roofs, in->path, in->flops, in->bytes, fill, bandwidth_fill);
    return t_filled > STARVED_FACTOR * t_roof;
}

static bool is_overhead(const struct roofline_input *in, double t_roof_ns)
{
    double start_up_ns = (double)in->kernels * in->floor_ns;
    return in->kernels && t_roof_ns < start_up_ns && in->time_ns <= ROOFLINE_OVERHEAD_TIMES * start_up_ns;
}

/* Called for what is above its roof. */
static enum above_roof why_above(const struct roofline *r)
{
    if (r->roof_fraction > ABOVE_ROOF_MOST)
        return ABOVE_ROOF_INCONSISTENT;
    if (r->intensity >= r->ridge)
        return ABOVE_ROOF_NOMINAL_CLOCK;
    return r->fits_in_l2 ? ABOVE_ROOF_FITS_IN_L2 : ABOVE_ROOF_UNEXPLAINED;
}

void roofline_classify(const struct roofline_input *in, const struct device_roofs *roofs, struct roofline *result)
{
    double peak = device_roofs_flops_per_second(roofs, in->path);
    double bandwidth = device_roofs_bytes_per_second(roofs);
    *result = (struct roofline){
        .intensity = in->bytes > 0 ? in->flops / in->bytes : NAN,
        .ridge = peak / bandwidth,
        .t_roof_ns = 1e9 * device_roofs_seconds(roofs, in->path, in->flops, in->bytes, 1, 1),
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
    if (isnan(result->intensity) || isnan(result->t_roof_ns))
        return;

    result->bound = isnan(result->ridge) || result->intensity < result->ridge ? BOUND_MEMORY : BOUND_COMPUTE;
    if (is_overhead(in, result->t_roof_ns))
        result->bound = BOUND_OVERHEAD;
    if (fabs(result->intensity / result->ridge - 1) <= NEAR_RIDGE_SHARE)
        result->flags |= ROOFLINE_NEAR_RIDGE;
    if (is_starved(in, roofs, result->t_roof_ns / 1e9))
        result->flags |= ROOFLINE_STARVED;
    if (timed && result->bound != BOUND_OVERHEAD && in->time_ns > ROOFLINE_FAR_TIMES * result->t_roof_ns)
        result->flags |= ROOFLINE_FAR_FROM_ROOF;
    result->fits_in_l2 = in->call_bytes > 0 && in->call_bytes <= in->l2_bytes;
    if (result->roof_fraction > 1) {
        result->flags |= ROOFLINE_ABOVE_ROOF;
        result->above_roof = why_above(result);
    }
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

static const char *const above_roof_names[ABOVE_ROOF_COUNT][2] = {
    [ABOVE_ROOF_FITS_IN_L2] = {"fits_in_l2", "fits in L2"},
    [ABOVE_ROOF_NOMINAL_CLOCK] = {"above_nominal_clock", "above nominal clock"},
    [ABOVE_ROOF_UNEXPLAINED] = {"unexplained", "above nominal bandwidth"},
    [ABOVE_ROOF_INCONSISTENT] = {"inconsistent_model", "inconsistent model"},
};

const char *above_roof_name(enum above_roof reason)
{
    return (unsigned)reason < ABOVE_ROOF_COUNT ? above_roof_names[reason][0] : NULL;
}

char *above_roof_text(const struct roofline *roofline, double l2_bytes, char *out, size_t bytes)
{
    const char *text = above_roof_names[roofline->above_roof][1];
    bool cached = roofline->fits_in_l2 && roofline->intensity < roofline->ridge;
    if (roofline->above_roof == ABOVE_ROOF_FITS_IN_L2)
        snprintf(out, bytes, "%s (%.3g MB)", text, l2_bytes / 1048576);
    else if (roofline->above_roof == ABOVE_ROOF_INCONSISTENT && cached)
        snprintf(out, bytes, "%s, or all of it fits in L2 (%.3g MB)", text, l2_bytes / 1048576);
    else
        snprintf(out, bytes, "%s", text ? text : "");
    return out;
}
