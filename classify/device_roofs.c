/* SPDX-License-Identifier: Apache-2.0 */
/* The three roofs of a device: specification, achievable, held clock. Declared in roofline.h. */
#include <math.h>

#include "classify/mig_profile.h"
#include "classify/roofline.h"

struct device_roofs device_roofs(const struct gpu_spec *spec, int32_t sm_count, bool mig, int64_t memory_bytes)
{
    struct device_roofs roofs = {spec, 1, 1};
    if (!spec)
        return roofs;
    if (sm_count > 0 && spec->sm_count > 0 && sm_count < spec->sm_count)
        roofs.compute_scale = (double)sm_count / spec->sm_count;
    if (mig && memory_bytes > 0 && spec->memory_bytes > 0)
        roofs.memory_scale =
            (double)mig_profile_memory_slices((double)memory_bytes, spec->memory_bytes) / MIG_MEMORY_SLICES;
    return roofs;
}

double device_roofs_flops_per_second(const struct device_roofs *roofs, enum gpu_path path)
{
    return device_roof_specification(roofs, path).flops_per_second;
}

double device_roofs_bytes_per_second(const struct device_roofs *roofs)
{
    return device_roof_specification(roofs, GPU_PATH_UNKNOWN).bytes_per_second;
}

double device_roofs_least_flops_per_second(const struct device_roofs *roofs, enum gpu_path path)
{
    double peak = device_roofs_flops_per_second(roofs, path);
    return isnan(peak) && path == GPU_PATH_INT8_DP4A ? device_roofs_flops_per_second(roofs, GPU_PATH_FP32) : peak;
}

double device_roofs_seconds(const struct device_roofs *roofs, enum gpu_path path, double flops, double bytes,
                            double compute_part, double memory_part)
{
    double peak = device_roofs_flops_per_second(roofs, path);
    double most = flops / (compute_part * device_roofs_least_flops_per_second(roofs, path));
    double memory = bytes / (memory_part * device_roofs_bytes_per_second(roofs));
    if (isnan(most) || isnan(memory) || (isnan(peak) && most > memory))
        return NAN;
    return fmax(most, memory);
}

/* FIGURES by path; 0 is not known. */
static double figure_of(const double figures[GPU_PATH_COUNT], enum gpu_path path)
{
    return (unsigned)path < GPU_PATH_COUNT && figures[path] > 0 ? figures[path] : NAN;
}

/* A figure that is not known has no origin and no source. */
static void forget_unknown(struct roof *roof)
{
    if (isnan(roof->flops_per_second)) {
        roof->compute_origin = ROOF_ORIGIN_NONE;
        roof->compute_source = NULL;
    }
    if (isnan(roof->bytes_per_second)) {
        roof->memory_origin = ROOF_ORIGIN_NONE;
        roof->memory_source = NULL;
    }
}

static const struct roof unknown_roof = {NAN, NAN, ROOF_ORIGIN_NONE, ROOF_ORIGIN_NONE, NULL, NULL};

struct roof device_roof_specification(const struct device_roofs *roofs, enum gpu_path path)
{
    static const enum roof_origin origins[] = {
        [GPU_ORIGIN_TABLE] = ROOF_ORIGIN_TABLE,
        [GPU_ORIGIN_TABLE_FILE] = ROOF_ORIGIN_TABLE_FILE,
        [GPU_ORIGIN_PEAK] = ROOF_ORIGIN_PEAK,
    };
    const struct gpu_spec *spec = roofs->spec;
    if (!spec)
        return unknown_roof;
    struct roof roof = {
        .flops_per_second = figure_of(spec->flops_per_second, path) * roofs->compute_scale,
        .bytes_per_second = spec->bytes_per_second > 0 ? spec->bytes_per_second * roofs->memory_scale : NAN,
        .compute_origin = origins[spec->origin],
        .memory_origin = origins[spec->origin],
        .compute_source = spec->source,
        .memory_source = spec->source,
    };
    forget_unknown(&roof);
    return roof;
}

struct roof device_roof_achievable(const struct device_roofs *roofs, const struct measured_roofs *measured,
                                   enum gpu_path path)
{
    const struct gpu_spec *spec = roofs->spec;
    struct roof roof = unknown_roof;
    if (spec) {
        roof.flops_per_second = figure_of(spec->achievable_flops_per_second, path) * roofs->compute_scale;
        roof.bytes_per_second =
            spec->achievable_bytes_per_second > 0 ? spec->achievable_bytes_per_second * roofs->memory_scale : NAN;
        roof.compute_origin = roof.memory_origin = ROOF_ORIGIN_PUBLISHED;
        roof.compute_source = roof.memory_source = spec->achievable_source;
    }
    if (measured && !isnan(figure_of(measured->flops_per_second, path))) {
        roof.flops_per_second = measured->flops_per_second[path];
        roof.compute_origin = ROOF_ORIGIN_MEASURED;
        roof.compute_source = measured->source;
    }
    if (measured && measured->bytes_per_second > 0) {
        roof.bytes_per_second = measured->bytes_per_second;
        roof.memory_origin = ROOF_ORIGIN_MEASURED;
        roof.memory_source = measured->source;
    }
    forget_unknown(&roof);
    return roof;
}

struct roof device_roof_held(const struct device_roofs *roofs, double clock_hz, enum gpu_path path)
{
    struct roof roof = device_roof_specification(roofs, path);
    bool clocks_known = roofs->spec && roofs->spec->clock_hz > 0 && clock_hz > 0;
    roof.flops_per_second *= clocks_known ? fmin(1, clock_hz / roofs->spec->clock_hz) : NAN;
    forget_unknown(&roof);
    return roof;
}

const char *roof_kind_name(enum roof_kind kind)
{
    static const char *const names[ROOF_KIND_COUNT] = {
        [ROOF_SPECIFICATION] = "specification",
        [ROOF_ACHIEVABLE] = "achievable",
        [ROOF_HELD_CLOCK] = "held_clock",
    };
    return (unsigned)kind < ROOF_KIND_COUNT ? names[kind] : NULL;
}

const char *roof_origin_name(enum roof_origin origin)
{
    static const char *const names[] = {
        [ROOF_ORIGIN_NONE] = NULL,           [ROOF_ORIGIN_TABLE] = "table",
        [ROOF_ORIGIN_PEAK] = "peak",         [ROOF_ORIGIN_TABLE_FILE] = "table_file",
        [ROOF_ORIGIN_MEASURED] = "measured", [ROOF_ORIGIN_PUBLISHED] = "published",
    };
    return (unsigned)origin < sizeof names / sizeof names[0] ? names[origin] : NULL;
}
