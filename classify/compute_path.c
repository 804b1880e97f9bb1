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

/* cublasMath_t: in the low bits what a handle allows, above them other permissions. */
enum { MATH_MODE_MASK = 0xf, MATH_MODE_TF32 = 3, MATH_FP32_EMULATED = 1 << 2, MATH_FP64_EMULATED = 1 << 3 };

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

/* The handle may allow what the compute type alone does not say: TF32, or an emulation, of which the library decides call by
 * call, so that the path is not known. Pedantic compute types forbid it. */
static enum gpu_path path_under_math_mode(enum gpu_path path, const struct trace_signature *s)
{
    int mode = s->math_mode >= 0 ? s->math_mode & MATH_MODE_MASK : 0;
    if (path == GPU_PATH_FP32 && s->type_compute == COMPUTE_32F) {
        if (mode & MATH_FP32_EMULATED)
            return GPU_PATH_UNKNOWN;
        return (mode & MATH_MODE_TF32) == MATH_MODE_TF32 ? GPU_PATH_TF32 : GPU_PATH_FP32;
    }
    if (path == GPU_PATH_FP64 && s->type_compute == COMPUTE_64F && mode & MATH_FP64_EMULATED)
        return GPU_PATH_UNKNOWN;
    return path;
}

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
    return path_under_math_mode(path, s);
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
