/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap gpus` for people: a list, ridges of one type, crossing lengths, or one GPU in full. A dash stands for what is not
 * known or does not exist. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/gpus_view.h"

/* ---- cells; printf counts bytes, and a dash has three ---- */

static void print_dash(int width)
{
    printf(" %*s–", width - 1, "");
}

static void print_number(double value, int width, int decimals)
{
    if (value > 0 && isfinite(value))
        printf(" %*.*f", width, decimals, value);
    else
        print_dash(width);
}

static void print_word(const char *text, int width)
{
    if (text)
        printf(" %*s", width, text);
    else
        print_dash(width);
}

/* The first word or two of the confidence mark, which the details follow. */
static void print_mark(const struct gpu_spec *row)
{
    printf("  %.*s\n", (int)strcspn(row->confidence, ";:,"), row->confidence);
}

static void print_left_out(const struct gpus_view *view)
{
    if (view->left_out)
        printf("\n%zu more GPUs have no such units, or no source tells their peak.\n", view->left_out);
}

#define MARKS                                                                                                          \
    "mark: ok, sources agree; derived, worked out from other figures of the GPU; secondary, not from its maker; "      \
    "unverified,\none source only; conflict, sources disagree. 'rooftap gpus NAME' tells more."

/* ---- the list ---- */

static const enum gpu_path listed_ridges[] = {GPU_PATH_FP32,     GPU_PATH_TF32, GPU_PATH_BF16,
                                              GPU_PATH_FP8_E4M3, GPU_PATH_INT8, GPU_PATH_FP4_E2M1};
enum { LISTED_RIDGES = sizeof listed_ridges / sizeof listed_ridges[0] };

static enum gpu_path sixteen_bit_path(const struct gpu_spec *row)
{
    static const enum gpu_path paths[] = {GPU_PATH_BF16, GPU_PATH_FP16, GPU_PATH_FP16_FMA};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (row->flops_per_second[paths[i]] > 0)
            return paths[i];
    return GPU_PATH_BF16;
}

static void print_listed(const struct gpu_spec *row)
{
    enum gpu_path path = sixteen_bit_path(row);
    printf("%-22s %-3s  %-32s", row->key, gpus_can_simulate(row) ? "yes" : "no", row->name);
    print_word(row->compute_capability, 6);
    print_number(row->sm_count, 5, 0);
    print_number(row->memory_bytes / 1e9, 6, 0);
    print_number(row->bytes_per_second / 1e9, 7, 0);
    print_number(row->flops_per_second[path] / 1e12, 8, 1);
    printf("%c |", path == GPU_PATH_BF16 ? ' ' : '*');
    for (int i = 0; i < LISTED_RIDGES; i++)
        print_number(gpu_spec_ridge(row, listed_ridges[i] == GPU_PATH_BF16 ? path : listed_ridges[i]), 6, 1);
    printf(" |");
    print_mark(row);
}

static void print_list(const struct gpus_view *view)
{
    printf("%-22s %-3s  %-32s %6s %5s %6s %7s %8s  |", "name", "sim", "GPU", "CC", "SMs", "mem GB", "GB/s", "16b TF/s");
    for (int i = 0; i < LISTED_RIDGES; i++)
        printf(" %6s", gpu_paths[listed_ridges[i]].group);
    puts(" |  mark");
    for (size_t i = 0; i < view->count; i++)
        print_listed(view->rows[i]);
    puts("\n16b TF/s: dense bf16 with fp32 accumulate; * fp16, the GPU has no bf16. Between the bars: ridges in "
         "FLOP/byte, "
         "peak by\nbandwidth. sim: 'rooftap record --simulate' takes the name.\n" MARKS);
}

/* ---- ridges of one type ---- */

static void print_ridges(const struct gpus_view *view)
{
    enum gpu_path path = gpu_path_by_word(view->dtype);
    printf("%-22s %-32s %9s %8s %9s  mark\n", "name", "GPU", "TFLOP/s", "GB/s", "ridge");
    for (size_t i = 0; i < view->count; i++) {
        const struct gpu_spec *row = view->rows[i];
        printf("%-22s %-32s", row->key, row->name);
        print_number(row->flops_per_second[path] / 1e12, 9, 1);
        print_number(row->bytes_per_second / 1e9, 8, 0);
        print_number(gpu_spec_ridge(row, path), 9, 1);
        print_mark(row);
    }
    print_left_out(view);
    printf("\nDense %s peaks, %s accumulate, %s units. Ridge in FLOP/byte: less intense work is memory-bound.\n" MARKS
           "\n",
           number_type_name(gpu_paths[path].type), number_type_name(gpu_paths[path].accumulate), gpu_paths[path].unit);
}

/* ---- crossing lengths ---- */

static void print_crossings_of(const struct gpus_view *view, const struct gpu_spec *row)
{
    struct gpus_crossing crossings[GPUS_CROSSINGS];
    int count = gpus_crossings(view, row, crossings);
    for (int i = 0; i < count; i++) {
        const struct gpus_crossing *c = &crossings[i];
        double ridge = gpu_spec_ridge(row, c->compute);
        if (isnan(ridge))
            continue;
        printf("%-22s %-32s %10s %5s", row->key, row->name, gpu_paths[c->compute].group,
               c->kv_bytes < 2 ? "fp8" : "bf16");
        print_number(ridge, 8, 1);
        print_number(gpu_spec_crossing_kv(row, c->compute, c->kv_bytes, view->group), 9, 1);
        print_number(gpu_spec_crossing(row, c->compute, c->kv_bytes, c->qo_bytes, view->group), 9, 1);
        puts("");
    }
}

static void print_crossings(const struct gpus_view *view)
{
    printf("%-22s %-32s %10s %5s %8s %9s %9s\n", "name", "GPU", "compute", "KV", "ridge", "KV only", "all bytes");
    for (size_t i = 0; i < view->count; i++)
        print_crossings_of(view, view->rows[i]);
    print_left_out(view);
    printf("\nTokens of context past which causal prefill attention with %d query head%s per KV head is compute-bound "
           "(half "
           "of all\npairs visible). KV only: K and V are read, b_KV R / g. All bytes: Q is read and O written, too, as "
           "wide as "
           "what is\nmultiplied, R (b_KV + g b_QO) / g.\n",
           view->group, view->group == 1 ? "" : "s");
}

/* ---- one GPU ---- */

static void print_line(const char *label, const char *text)
{
    printf("%-22s %s\n", label, text ? text : "–");
}

static void print_figure(const char *label, double value, const char *unit)
{
    printf("%-21s", label);
    if (value > 0)
        printf("  %.10g%s%s\n", value, *unit ? " " : "", unit);
    else
        printf("  –\n");
}

static void print_identity(const struct gpu_spec *row)
{
    print_line("name", row->key);
    print_line("GPU", row->name);
    for (int i = 0; i < GPU_DRIVER_NAMES && row->driver_names[i]; i++)
        print_line(i ? "" : "driver's name", row->driver_names[i]);
    printf("%-21s", "PCI ids");
    for (int i = 0; i < GPU_PCI_IDS && row->pci_ids[i]; i++)
        printf("%s%04x:%04x", i ? ", " : "  ", row->pci_vendor, row->pci_ids[i]);
    puts(row->pci_ids[0] ? "" : "  –");
    print_line("compute capability", row->compute_capability);
    print_line("record --simulate", gpus_can_simulate(row) ? "yes" : "no");
}

static void print_sizes(const struct gpu_spec *row)
{
    static const char *const bases[] = {
        [GPU_CLOCK_NONE] = "MHz",
        [GPU_CLOCK_PUBLISHED] = "MHz, published",
        [GPU_CLOCK_DEVICE_MAX] = "MHz, the highest that the device reports",
        [GPU_CLOCK_BACKSOLVED] = "MHz, solved from the peak",
    };
    print_figure("SMs", row->sm_count, "");
    print_figure("clock of the peaks", row->clock_hz / 1e6, bases[row->clock_basis]);
    print_figure("highest SM clock", row->max_clock_hz / 1e6, "MHz");
    print_figure("tensor rate", row->tensor_flops_per_clock_per_sm,
                 "FLOP per clock and SM (16-bit, fp32 accumulate, dense)");
    print_figure("memory", row->memory_bytes / 1e9, "GB");
    if (row->memory_bytes_also > 0)
        print_figure("memory, other size", row->memory_bytes_also / 1e9, "GB");
    print_figure("bandwidth", row->bytes_per_second / 1e9, "GB/s");
    print_figure("bandwidth, measured", row->achievable_bytes_per_second / 1e9, "GB/s");
    print_figure("memory bus", row->memory_bus_bits, "bits");
    print_figure("L2", row->l2_bytes / 1048576, "MiB");
}

static void print_peaks(const struct gpu_spec *row, const char *dtype)
{
    printf("\n%-15s %-10s %-6s %9s %9s %9s %9s\n", "type", "accumulate", "unit", "TFLOP/s", "ridge", "sparse",
           "measured");
    for (int path = 0; path < GPU_PATH_COUNT; path++) {
        const struct gpu_path_info *info = &gpu_paths[path];
        if (!(row->flops_per_second[path] > 0) || (dtype && strcmp(dtype, info->word) && strcmp(dtype, info->group)))
            continue;
        printf("%-15s %-10s %-6s", info->word, number_type_name(info->accumulate), info->unit);
        print_number(row->flops_per_second[path] / 1e12, 9, 2);
        print_number(gpu_spec_ridge(row, (enum gpu_path)path), 9, 2);
        print_number(row->sparse_flops_per_second[path] / 1e12, 9, 2);
        print_number(row->achievable_flops_per_second[path] / 1e12, 9, 2);
        puts("");
    }
    puts("Peaks are dense. sparse: the data sheet's 2:4 headline, never a roof. measured: the best that is published, "
         "never "
         "the\nroof that classifies.\n");
}

static void print_one(const struct gpus_view *view)
{
    const struct gpu_spec *row = view->rows[0];
    print_identity(row);
    print_sizes(row);
    print_peaks(row, view->dtype);
    print_line("source", row->source);
    if (row->achievable_source)
        print_line("source, measured", row->achievable_source);
    print_line("confidence", row->confidence);
}

bool gpus_print_text(const struct gpus_view *view)
{
    if (view->group)
        print_crossings(view);
    else if (view->one)
        print_one(view);
    else if (view->dtype)
        print_ridges(view);
    else
        print_list(view);
    return true;
}
