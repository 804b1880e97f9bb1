/* SPDX-License-Identifier: Apache-2.0 */
/* The best matrix product of each path. Operands hold random numbers: of zeros a GPU draws less power, keeps a higher clock
 * and shows a peak that no model reaches. */
#include "calibrate/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Large and square-ish; of several sizes, since one may fall badly into waves of the GPU's SMs. */
static const struct {
    int64_t m, n, k;
    bool quick;
} shapes[] = {
    {4096, 4096, 4096, false},  {8192, 8192, 4096, true},   {8192, 8192, 8192, false},
    {6144, 8192, 12288, false}, {16384, 8192, 8192, false},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0], PATTERN_BYTES = 4 << 20 };

/* ---- operands ---- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13; /* xorshift64 */
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Numbers between -1 and 1 in each type's own bits: a random sign and mantissa under one of the four exponents below 1. */
static void fill_pattern(const struct blas_path *path, unsigned char *pattern)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    const struct {
        enum gpu_path path;
        int bytes, mantissa_bits, top_exponent; /* biased, of numbers from 0.5 up */
    } formats[] = {
        {GPU_PATH_BF16, 2, 7, 126},   {GPU_PATH_FP16, 2, 10, 14},  {GPU_PATH_FP16_ACC16, 2, 10, 14},
        {GPU_PATH_FP8_E4M3, 1, 3, 6}, {GPU_PATH_TF32, 4, 23, 126}, {GPU_PATH_FP32, 4, 23, 126},
    };
    for (size_t i = 0; i < PATTERN_BYTES; i += 8) {
        uint64_t word = next_random(&state);
        memcpy(pattern + i, &word, sizeof word);
    }
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        if (formats[f].path != path->path)
            continue;
        int bytes = formats[f].bytes, bits = formats[f].mantissa_bits;
        for (size_t i = 0; i < PATTERN_BYTES; i += (size_t)bytes) {
            uint32_t number = 0;
            memcpy(&number, pattern + i, (size_t)bytes);
            uint32_t mantissa = number & ((1u << bits) - 1), sign = number & 1u << (8 * bytes - 1);
            uint32_t exponent = (uint32_t)formats[f].top_exponent - (uint32_t)(next_random(&state) & 3);
            number = sign | exponent << bits | mantissa;
            memcpy(pattern + i, &number, (size_t)bytes);
        }
    }
}

/* By doubling: the device copies what it has. */
static bool fill(struct measure *measure, cuda_address to, size_t bytes, const unsigned char *pattern)
{
    size_t have = bytes < PATTERN_BYTES ? bytes : PATTERN_BYTES;
    bool good = cuda_upload(&measure->cuda, to, pattern, have);
    while (good && have < bytes) {
        size_t more = have < bytes - have ? have : bytes - have;
        good = cuda_copy(&measure->cuda, to + have, to, more);
        have += more;
    }
    return good && cuda_wait(&measure->cuda);
}

struct operands {
    cuda_address x, w, d;
};

static void release(struct measure *measure, struct operands *operands)
{
    cuda_release(&measure->cuda, operands->x);
    cuda_release(&measure->cuda, operands->w);
    cuda_release(&measure->cuda, operands->d);
}

/* For the largest of the shapes that fits into a third of what is free. */
static bool make_operands(struct measure *measure, const struct blas_path *path, struct operands *operands,
                          bool usable[SHAPES], bool quick)
{
    size_t x = 0, w = 0, d = 0, free_bytes = cuda_free_bytes(&measure->cuda);
    for (int i = 0; i < SHAPES; i++) {
        size_t bytes[3] = {(size_t)(shapes[i].m * shapes[i].k * path->operand_bytes),
                           (size_t)(shapes[i].n * shapes[i].k * path->operand_bytes),
                           (size_t)(shapes[i].m * shapes[i].n * path->result_bytes)};
        usable[i] = (!quick || shapes[i].quick) && bytes[0] + bytes[1] + bytes[2] <= free_bytes / 3;
        if (!usable[i])
            continue;
        x = bytes[0] > x ? bytes[0] : x;
        w = bytes[1] > w ? bytes[1] : w;
        d = bytes[2] > d ? bytes[2] : d;
    }
    *operands = (struct operands){0};
    if (!x)
        return true;
    bool good = cuda_allocate(&measure->cuda, x, &operands->x) && cuda_allocate(&measure->cuda, w, &operands->w) &&
                cuda_allocate(&measure->cuda, d, &operands->d);
    unsigned char *pattern = good && measure->calibration->device.simulated != 1 ? malloc(PATTERN_BYTES) : NULL;
    if (pattern) { /* a simulated GPU looks at no operand */
        fill_pattern(path, pattern);
        good = fill(measure, operands->x, x, pattern) && fill(measure, operands->w, w, pattern);
        free(pattern);
    }
    return good;
}

/* ---- products ---- */

static bool run(struct measure *measure, void *context)
{
    return blas_product_run(&measure->blas, context);
}

static void keep_best(struct calibration_gemm *best, const struct blas_product *product,
                      const struct measure_times *times)
{
    double flops = 2.0 * (double)product->m * (double)product->n * (double)product->k;
    double rate = flops / (times->best_ns / 1e9);
    if (times->best_ns > 0 && !(rate <= best->flops_per_second))
        *best = (struct calibration_gemm){rate, flops / (times->median_ns / 1e9), product->m, product->n, product->k};
}

/* A library that refuses a path leaves it unknown: what the GPU lacks is no failure. */
static bool measure_path(struct measure *measure, const struct blas_path *path, bool quick, double seconds)
{
    struct operands operands;
    bool usable[SHAPES], good = make_operands(measure, path, &operands, usable, quick);
    int count = 0;
    for (int i = 0; good && i < SHAPES; i++)
        count += usable[i];
    for (int i = 0; good && i < SHAPES && budget_allows(&measure->budget); i++) {
        struct blas_product product = {.path = path,
                                       .m = shapes[i].m,
                                       .n = shapes[i].n,
                                       .k = shapes[i].k,
                                       .x = operands.x,
                                       .w = operands.w,
                                       .d = operands.d};
        struct measure_times times;
        if (!usable[i])
            continue;
        bool taken = blas_product_begin(&measure->blas, &product) &&
                     measure_repeat(measure, run, &product, seconds / count, &times);
        blas_product_end(&measure->blas, &product);
        if (taken)
            keep_best(&measure->calibration->gemm[path->path], &product, &times);
        else if (!cuda_wait(&measure->cuda)) /* the device itself is lost */
            good = false;
        else
            break;
    }
    release(measure, &operands);
    return good;
}

bool measure_gemm(struct measure *measure, bool quick)
{
    const struct trace_device *device = &measure->calibration->device;
    int capability = device->compute_major * 10 + device->compute_minor;
    for (size_t i = 0; i < blas_path_count; i++) {
        char what[64];
        if (capability < blas_paths[i].least_capability)
            continue;
        if (!budget_allows(&measure->budget))
            break;
        snprintf(what, sizeof what, "matrix products, %s", number_type_name(gpu_paths[blas_paths[i].path].type));
        budget_tell(&measure->budget, what);
        if (!measure_path(measure, &blas_paths[i], quick, budget_slice(&measure->budget, (int)(blas_path_count - i))))
            return false;
    }
    return true;
}
