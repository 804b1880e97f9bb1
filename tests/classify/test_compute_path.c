/* SPDX-License-Identifier: Apache-2.0 */
/* One process with many types: each call has the peak of what it runs on, by its types, its compute type and its handle's
 * math mode, and of the GPU. cudaDataType, cublasComputeType_t and cublasMath_t by number, as library_types.h and
 * cublas_api.h have them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/gpu_specs.h"
#include "classify/work.h"

enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, R_32I = 10, R_16BF = 14, R_8F_E4M3 = 28, R_8F_E5M2 = 29 };
enum {
    COMPUTE_16F = 64,
    COMPUTE_32F = 68,
    COMPUTE_32F_PEDANTIC = 69,
    COMPUTE_64F = 70,
    COMPUTE_32I = 72,
    FAST_16F = 74,
    FAST_16BF = 75,
    FAST_TF32 = 77
};
enum { DEFAULT_MATH = 0, TENSOR_OP_MATH = 1, TF32_MATH = 3, NO_REDUCED_PRECISION = 16 };

static enum gpu_path path_of(int type_a, int type_b, int type_d, int compute, int math_mode)
{
    struct trace_signature s = {
        .kind = TRACE_CALL_GEMM,
        .library = TRACE_LIBRARY_CUBLAS,
        .provenance = TRACE_EXACT,
        .beta = TRACE_SCALAR_ZERO,
        .m = 64,
        .n = 64,
        .k = 64,
        .batch = 1,
        .type = {type_a, type_b, type_d, type_d},
        .type_compute = compute,
        .math_mode = math_mode,
    };
    struct work work;
    work_of_signature(&s, "cublasGemmEx", &work);
    return work.path;
}

static void test_path_is_that_of_types_and_mode(void **state)
{
    static const struct {
        const char *call;
        int a, b, d, compute, math_mode;
        enum gpu_path path;
    } cases[] = {
        {"bf16 GemmEx", R_16BF, R_16BF, R_16BF, COMPUTE_32F, DEFAULT_MATH, GPU_PATH_BF16},
        {"bf16 GemmEx on a handle with TF32", R_16BF, R_16BF, R_16BF, COMPUTE_32F, TF32_MATH, GPU_PATH_BF16},
        {"Sgemm", R_32F, R_32F, R_32F, COMPUTE_32F, DEFAULT_MATH, GPU_PATH_FP32},
        {"Sgemm on a handle with TF32", R_32F, R_32F, R_32F, COMPUTE_32F, TF32_MATH, GPU_PATH_TF32},
        {"the same with a permission bit", R_32F, R_32F, R_32F, COMPUTE_32F, TF32_MATH | NO_REDUCED_PRECISION,
         GPU_PATH_TF32},
        {"pedantic on a handle with TF32", R_32F, R_32F, R_32F, COMPUTE_32F_PEDANTIC, TF32_MATH, GPU_PATH_FP32},
        {"Sgemm, mode not known", R_32F, R_32F, R_32F, COMPUTE_32F, TRACE_UNKNOWN, GPU_PATH_FP32},
        {"32F_FAST_TF32", R_32F, R_32F, R_32F, FAST_TF32, DEFAULT_MATH, GPU_PATH_TF32},
        {"32F_FAST_16BF", R_32F, R_32F, R_32F, FAST_16BF, DEFAULT_MATH, GPU_PATH_BF16},
        {"32F_FAST_16F", R_32F, R_32F, R_32F, FAST_16F, DEFAULT_MATH, GPU_PATH_FP16},
        {"fp8", R_8F_E4M3, R_8F_E4M3, R_16BF, COMPUTE_32F, DEFAULT_MATH, GPU_PATH_FP8_E4M3},
        {"fp8, a gradient", R_8F_E5M2, R_8F_E4M3, R_16BF, COMPUTE_32F, DEFAULT_MATH, GPU_PATH_FP8_E5M2},
        {"int8", R_8I, R_8I, R_32I, COMPUTE_32I, DEFAULT_MATH, GPU_PATH_INT8},
        {"Dgemm", R_64F, R_64F, R_64F, COMPUTE_64F, DEFAULT_MATH, GPU_PATH_FP64},
        {"Hgemm", R_16F, R_16F, R_16F, COMPUTE_16F, DEFAULT_MATH, GPU_PATH_FP16_ACC16},
        {"fp16 with fp32 accumulate", R_16F, R_16F, R_16F, COMPUTE_32F, DEFAULT_MATH, GPU_PATH_FP16},
        {"fp8 with bf16: no figure", R_8F_E4M3, R_16BF, R_16BF, COMPUTE_32F, DEFAULT_MATH, GPU_PATH_UNKNOWN},
        {"an unknown type", 99, 99, 99, COMPUTE_32F, DEFAULT_MATH, GPU_PATH_UNKNOWN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum gpu_path path = path_of(cases[i].a, cases[i].b, cases[i].d, cases[i].compute, cases[i].math_mode);
        if (path != cases[i].path)
            fail_msg("%s: path %d", cases[i].call, (int)path);
    }
}

/* TFLOP/s of data sheets, as gpu_rows_*.def cite them. */
static void test_peak_is_that_of_path_and_gpu(void **state)
{
    static const struct {
        const char *gpu;
        enum gpu_path wanted, path;
        double peak; /* 0: not known */
    } cases[] = {
        {"h100-sxm", GPU_PATH_FP64, GPU_PATH_FP64_TENSOR, 67},
        {"a100-sxm-80", GPU_PATH_FP64, GPU_PATH_FP64_TENSOR, 19.5},
        {"rtx4090", GPU_PATH_FP64, GPU_PATH_FP64, 82.6 / 64}, /* has no such tensor cores */
        {"t4", GPU_PATH_TF32, GPU_PATH_FP32, 8.1},
        {"a100-sxm-80", GPU_PATH_TF32, GPU_PATH_TF32, 156},
        {"rtx4090", GPU_PATH_BF16, GPU_PATH_BF16, 165.2},
        {"rtx4090", GPU_PATH_FP16_ACC16, GPU_PATH_FP16_ACC16, 330.3},
        {"t4", GPU_PATH_BF16, GPU_PATH_BF16, 0},
        {"a100-sxm-80", GPU_PATH_FP8_E4M3, GPU_PATH_FP8_E4M3, 0},
        {"radeon-pro-vii", GPU_PATH_INT8, GPU_PATH_INT8_DP4A, 52.2}, /* no int8 matrix units */
        {"t4", GPU_PATH_INT8, GPU_PATH_INT8, 130},
        {"v100-sxm2-16", GPU_PATH_INT8, GPU_PATH_INT8_DP4A, 0}, /* nobody's figure */
        {"tpu-v5e", GPU_PATH_TF32, GPU_PATH_TF32, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct gpu_spec *spec = gpu_spec_by_key(cases[i].gpu);
        enum gpu_path path = gpu_spec_product_path(spec, cases[i].wanted);
        assert_int_equal(path, cases[i].path);
        assert_true(fabs(spec->flops_per_second[path] / 1e12 - cases[i].peak) <= 1e-9);
        assert_int_equal(isnan(gpu_spec_ridge(spec, path)), cases[i].peak == 0);
    }
    assert_int_equal(gpu_spec_product_path(NULL, GPU_PATH_FP64), GPU_PATH_FP64);
    assert_int_equal(gpu_spec_product_path(gpu_spec_by_key("h100-sxm"), GPU_PATH_UNKNOWN), GPU_PATH_UNKNOWN);
}

/* A kernel that has both: tensor cores from 7.5 on, dp4a on 6.1 and from 7.0 on. */
static void test_a_kernel_takes_the_unit_its_gpu_has(void **state)
{
    static const struct {
        const char *capability;
        double int8, dp4a; /* peaks of the row */
        enum gpu_path of_int8, of_dp4a;
    } cases[] = {
        {"5.2", 0, 0, GPU_PATH_UNKNOWN, GPU_PATH_UNKNOWN},
        {"6.0", 0, 0, GPU_PATH_UNKNOWN, GPU_PATH_UNKNOWN},
        {"6.1", 0, 0, GPU_PATH_INT8_DP4A, GPU_PATH_INT8_DP4A},
        {"6.1", 0, 47e12, GPU_PATH_INT8_DP4A, GPU_PATH_INT8_DP4A},
        {"6.2", 0, 0, GPU_PATH_UNKNOWN, GPU_PATH_UNKNOWN},
        {"6.2", 0, 1e12, GPU_PATH_INT8_DP4A, GPU_PATH_INT8_DP4A}, /* who says so knows */
        {"7.0", 0, 0, GPU_PATH_INT8_DP4A, GPU_PATH_INT8_DP4A},
        {"7.0", 60e12, 0, GPU_PATH_INT8, GPU_PATH_INT8_DP4A},
        {"7.2", 0, 0, GPU_PATH_INT8_DP4A, GPU_PATH_INT8_DP4A},
        {"7.5", 0, 0, GPU_PATH_INT8, GPU_PATH_INT8_DP4A},
        {"8.9", 660e12, 0, GPU_PATH_INT8, GPU_PATH_INT8_DP4A},
        {"12.0", 0, 0, GPU_PATH_INT8, GPU_PATH_INT8_DP4A},
        {NULL, 0, 0, GPU_PATH_INT8, GPU_PATH_INT8_DP4A},
        {NULL, 0, 52e12, GPU_PATH_INT8_DP4A, GPU_PATH_INT8_DP4A},
        {"gfx906", 0, 0, GPU_PATH_INT8, GPU_PATH_INT8_DP4A},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct gpu_spec spec = {
            .compute_capability = cases[i].capability,
            .flops_per_second = {[GPU_PATH_INT8] = cases[i].int8, [GPU_PATH_INT8_DP4A] = cases[i].dp4a},
        };
        assert_int_equal(gpu_spec_kernel_path(&spec, GPU_PATH_INT8), cases[i].of_int8);
        assert_int_equal(gpu_spec_kernel_path(&spec, GPU_PATH_INT8_DP4A), cases[i].of_dp4a);
        assert_int_equal(gpu_spec_kernel_path(&spec, GPU_PATH_TF32), GPU_PATH_TF32);
        assert_int_equal(gpu_spec_kernel_path(&spec, GPU_PATH_UNKNOWN), GPU_PATH_UNKNOWN);
    }
    assert_int_equal(gpu_spec_kernel_path(NULL, GPU_PATH_INT8), GPU_PATH_INT8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path_is_that_of_types_and_mode),
        cmocka_unit_test(test_peak_is_that_of_path_and_gpu),
        cmocka_unit_test(test_a_kernel_takes_the_unit_its_gpu_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
