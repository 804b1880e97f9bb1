/* SPDX-License-Identifier: Apache-2.0 */
/* Types to paths, one row a mix. */
#include "classify/compute_path.h"

#include <stdbool.h>
#include <stddef.h>

/* cublasComputeType_t */
enum {
    COMPUTE_16F = 64,
    COMPUTE_16F_PEDANTIC = 65,
    COMPUTE_32F = 68,
    COMPUTE_32F_PEDANTIC = 69,
    COMPUTE_64F = 70,
    COMPUTE_64F_PEDANTIC = 71,
    COMPUTE_32I = 72,
    COMPUTE_32I_PEDANTIC = 73,
    COMPUTE_32F_FAST_16F = 74,
    COMPUTE_32F_FAST_16BF = 75,
    COMPUTE_32F_FAST_TF32 = 77,
};

/* cublasMath_t: a mode in the low bits, permissions above */
enum { MATH_MODE_MASK = 0xf, MATH_MODE_TF32 = 3 };

struct path_rule {
    enum number_type a, b;
    int compute;
    enum gpu_path path;
};

/* First match wins. What is not here (fp8 with bf16, emulated fp32, ...) has no path, so no ridge. */
/* clang-format off */
static const struct path_rule path_rules[] = {
    {NUMBER_FP64,     NUMBER_FP64,     COMPUTE_64F,           GPU_PATH_FP64},
    {NUMBER_FP64,     NUMBER_FP64,     COMPUTE_64F_PEDANTIC,  GPU_PATH_FP64},
    {NUMBER_FP32,     NUMBER_FP32,     COMPUTE_32F_PEDANTIC,  GPU_PATH_FP32},
    {NUMBER_FP32,     NUMBER_FP32,     COMPUTE_32F,           GPU_PATH_FP32},
    {NUMBER_FP32,     NUMBER_FP32,     COMPUTE_32F_FAST_TF32, GPU_PATH_TF32},
    {NUMBER_FP32,     NUMBER_FP32,     COMPUTE_32F_FAST_16F,  GPU_PATH_FP16},
    {NUMBER_FP32,     NUMBER_FP32,     COMPUTE_32F_FAST_16BF, GPU_PATH_BF16},
    {NUMBER_BF16,     NUMBER_BF16,     COMPUTE_32F,           GPU_PATH_BF16},
    {NUMBER_BF16,     NUMBER_BF16,     COMPUTE_32F_PEDANTIC,  GPU_PATH_BF16},
    {NUMBER_BF16,     NUMBER_BF16,     COMPUTE_32F_FAST_16BF, GPU_PATH_BF16},
    {NUMBER_FP16,     NUMBER_FP16,     COMPUTE_32F,           GPU_PATH_FP16},
    {NUMBER_FP16,     NUMBER_FP16,     COMPUTE_32F_PEDANTIC,  GPU_PATH_FP16},
    {NUMBER_FP16,     NUMBER_FP16,     COMPUTE_32F_FAST_16F,  GPU_PATH_FP16},
    {NUMBER_FP16,     NUMBER_FP16,     COMPUTE_16F,           GPU_PATH_FP16_ACC16},
    {NUMBER_FP16,     NUMBER_FP16,     COMPUTE_16F_PEDANTIC,  GPU_PATH_FP16_ACC16},
    {NUMBER_FP8_E4M3, NUMBER_FP8_E4M3, COMPUTE_32F,           GPU_PATH_FP8_E4M3},
    {NUMBER_FP8_E4M3, NUMBER_FP8_E5M2, COMPUTE_32F,           GPU_PATH_FP8_E4M3},
    {NUMBER_FP8_E5M2, NUMBER_FP8_E4M3, COMPUTE_32F,           GPU_PATH_FP8_E5M2},
    {NUMBER_FP8_E5M2, NUMBER_FP8_E5M2, COMPUTE_32F,           GPU_PATH_FP8_E5M2},
    {NUMBER_FP4_E2M1, NUMBER_FP4_E2M1, COMPUTE_32F,           GPU_PATH_FP4_E2M1},
    {NUMBER_INT8,     NUMBER_INT8,     COMPUTE_32I,           GPU_PATH_INT8},
    {NUMBER_INT8,     NUMBER_INT8,     COMPUTE_32I_PEDANTIC,  GPU_PATH_INT8},
    {NUMBER_INT8,     NUMBER_INT8,     COMPUTE_32F,           GPU_PATH_INT8},
    {NUMBER_INT8,     NUMBER_INT8,     COMPUTE_32F_PEDANTIC,  GPU_PATH_INT8},
};
/* clang-format on */

enum gpu_path compute_path_of_gemm(const struct trace_signature *s, struct number_format a, struct number_format b)
{
    enum gpu_path path = GPU_PATH_UNKNOWN;
    for (size_t i = 0; i < sizeof path_rules / sizeof path_rules[0]; i++) {
        const struct path_rule *r = &path_rules[i];
        if (r->a == a.type && r->b == b.type && r->compute == s->type_compute) {
            path = r->path;
            break;
        }
    }
    /* The handle may allow TF32 where the compute type alone says fp32. Pedantic compute types forbid it. */
    bool tf32_allowed = s->math_mode >= 0 && (s->math_mode & MATH_MODE_MASK) == MATH_MODE_TF32;
    if (path == GPU_PATH_FP32 && s->type_compute == COMPUTE_32F && tf32_allowed)
        path = GPU_PATH_TF32;
    return path;
}

/* A matrix-vector product has one row: tensor cores have nothing to reuse, and cuBLAS's kernels use FMA units. */
enum gpu_path compute_path_of_gemv(struct number_format a)
{
    switch (a.type) {
    case NUMBER_FP64:
        return GPU_PATH_FP64;
    case NUMBER_FP32:
    case NUMBER_BF16:
    case NUMBER_FP16:
        return GPU_PATH_FP32;
    default:
        return GPU_PATH_UNKNOWN;
    }
}
