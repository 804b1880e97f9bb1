/* SPDX-License-Identifier: Apache-2.0 */
/* Figures and their share of the specification's, where the GPU has a row; a dash where something is not known. */
#include "cli/calibration_table.h"

#include <math.h>
#include <string.h>

#include "classify/number_type.h"
#include "classify/roofline.h"

static void print_share(FILE *out, double value, double specification)
{
    if (isfinite(value) && isfinite(specification) && specification > 0)
        fprintf(out, "%9.1f %%", 100 * value / specification);
    else
        fprintf(out, "%11s", "-");
}

static void print_gemm(const struct calibration *calibration, const struct device_roofs *roofs, FILE *out)
{
    fprintf(out, "%-30s %9s %11s %10s  %s\n", "matrix products", "TFLOP/s", "of spec", "median", "M x N x K");
    for (int path = 0; path < GPU_PATH_COUNT; path++) {
        const struct calibration_gemm *gemm = &calibration->gemm[path];
        const struct gpu_path_info *info = &gpu_paths[path];
        char name[64];
        if (!isfinite(gemm->flops_per_second))
            continue;
        snprintf(name, sizeof name, "  %s, %s accumulate", number_type_name(info->type),
                 number_type_name(info->accumulate));
        fprintf(out, "%-30s %9.1f", name, gemm->flops_per_second / 1e12);
        print_share(out, gemm->flops_per_second, device_roofs_flops_per_second(roofs, (enum gpu_path)path));
        fprintf(out, " %10.1f  %lld x %lld x %lld\n", gemm->median_flops_per_second / 1e12, (long long)gemm->m,
                (long long)gemm->n, (long long)gemm->k);
    }
}

static void print_bandwidth(const struct calibration *calibration, const struct device_roofs *roofs, FILE *out)
{
    const struct {
        const char *name;
        double value;
    } rows[] = {{"  copy", calibration->copy_bytes_per_second}, {"  read", calibration->read_bytes_per_second}};
    fprintf(out, "%-30s %9s %11s\n", "memory", "GB/s", "of spec");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!isfinite(rows[i].value))
            continue;
        fprintf(out, "%-30s %9.0f", rows[i].name, rows[i].value / 1e9);
        print_share(out, rows[i].value, device_roofs_bytes_per_second(roofs));
        fputc('\n', out);
    }
    for (int i = 0; i < calibration->point_count; i++) {
        char name[64];
        const struct calibration_point *point = &calibration->points[i];
        snprintf(name, sizeof name, "  copy, %lld block%s", (long long)point->blocks, point->blocks == 1 ? "" : "s");
        fprintf(out, "%-30s %9.0f", name, point->bytes_per_second / 1e9);
        print_share(out, point->bytes_per_second, device_roofs_bytes_per_second(roofs));
        fputc('\n', out);
    }
}

static void print_launch(const struct calibration *calibration, FILE *out)
{
    if (isfinite(calibration->empty_kernel_ns))
        fprintf(out, "an empty kernel takes %.2f us", calibration->empty_kernel_ns / 1e3);
    if (isfinite(calibration->enqueue_ns))
        fprintf(out, ", to launch one %.2f us of the host", calibration->enqueue_ns / 1e3);
    fputc('\n', out);
    if (isfinite(calibration->sm_hz_lowest))
        fprintf(out, "SM clock meanwhile %.0f to %.0f MHz\n", calibration->sm_hz_lowest / 1e6,
                calibration->sm_hz_highest / 1e6);
}

void calibration_table_print(const struct calibration *calibration, const char *path, FILE *out)
{
    const struct trace_device *device = &calibration->device;
    bool simulated = device->simulated == 1;
    const struct gpu_spec *spec = gpu_spec_find(device->pci_device_id, device->name, simulated);
    struct device_roofs roofs = {NULL, 1, 1};
    if (spec)
        roofs = device_roofs(spec, device->sm_count, device->mig == 1, device->memory_bytes);
    fprintf(out, "%s%s\n", device->name, simulated ? " - SIMULATED: arithmetic, no measurement" : "");
    fprintf(out, "cuBLAS %s, %.1f s%s\n\n", calibration->cublas, calibration->seconds,
            calibration->stopped_early ? ", and no time for all of it" : "");
    print_gemm(calibration, &roofs, out);
    print_bandwidth(calibration, &roofs, out);
    print_launch(calibration, out);
    if (!spec)
        fputs("\nno specification of this GPU is known, so no share of it\n", out);
    fprintf(out, "\nkept in %s\n", path);
}
