/* SPDX-License-Identifier: Apache-2.0 */
/* FLOPs, bytes and roles against constants worked out by hand, one table row a decision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/work.h"

/* cudaDataType and cublasComputeType_t by value, so that the test does not lean on the code's names for them. */
enum {
    R32F = 0,
    R64F = 1,
    R16F = 2,
    R8I = 3,
    C32F = 4,
    R32I = 10,
    R16BF = 14,
    R4I = 16,
    E4M3 = 28,
    E5M2 = 29,
    R4F = 33
};
enum { C16 = 64, C32 = 68, C32P = 69, C64 = 70, CI = 72, FAST16F = 74, FAST16BF = 75, FASTTF32 = 77, BF16X9 = 78 };

static struct trace_signature gemm(int64_t m, int64_t n, int64_t k, int type, int compute)
{
    return (struct trace_signature){
        .kind = TRACE_CALL_GEMM,
        .library = TRACE_LIBRARY_CUBLAS,
        .provenance = TRACE_EXACT,
        .trans_a = 1,
        .beta = TRACE_SCALAR_ZERO,
        .m = m,
        .n = n,
        .k = k,
        .batch = 1,
        .type = {type, type, type, type},
        .type_compute = compute,
        .type_bias = -1,
        .type_aux = -1,
        .epilogue = 1,
        .scale_mode = {-1, -1, -1, -1},
    };
}

static struct work work_of(struct trace_signature s)
{
    struct work work;
    work_of_signature(&s, "cublasGemmEx", &work);
    return work;
}

static void test_roles(void **state)
{
    struct trace_signature s = gemm(512, 256, 3584, R16BF, C32);
    struct work w = work_of(s);
    (void)state;
    assert_int_equal(w.m, 256);
    assert_int_equal(w.n, 512);
    assert_int_equal(w.k, 3584);
    assert_int_equal(w.weight, WORK_WEIGHT_A);
    assert_true(w.flops == 939524096.0);
    assert_true(w.bytes == 5767168.0);
    s.trans_a = 0;
    assert_int_equal(work_of(s).weight, WORK_WEIGHT_A);
    s.trans_b = 1; /* N,T: a weight gradient */
    w = work_of(s);
    assert_int_equal(w.weight, WORK_WEIGHT_NONE);
    assert_int_equal(w.m, 256);
    assert_true(w.bytes == 5767168.0);
    s.library = TRACE_LIBRARY_CUBLASLT;
    for (int i = 0; i < 4; i++)
        s.order[i] = 1;
    s.trans_a = s.trans_b = 0;
    w = work_of(s);
    assert_int_equal(w.m, 512);
    assert_int_equal(w.n, 256);
    assert_int_equal(w.weight, WORK_WEIGHT_B);
}

static void test_bytes(void **state)
{
    struct trace_signature s = gemm(10, 20, 30, R32F, C32);
    (void)state;
    /* 4 * (300 + 600 + 200) */
    assert_true(work_of(s).bytes == 4400);
    s.beta = TRACE_SCALAR_ONE; /* C is read: 800 more */
    assert_true(work_of(s).bytes == 5200);
    assert_int_equal(work_of(s).provenance, TRACE_EXACT);
    s.beta = TRACE_SCALAR_OTHER;
    assert_true(work_of(s).bytes == 5200);
    s.beta = TRACE_SCALAR_ON_DEVICE;
    assert_true(work_of(s).bytes == 5200);
    assert_int_equal(work_of(s).provenance, TRACE_AT_MOST);
    s.beta = TRACE_SCALAR_ZERO;
    s.batch = 7;
    s.batch_mode = TRACE_BATCH_STRIDED;
    s.batch_stride[0] = 0; /* A is read once */
    s.batch_stride[1] = 600;
    s.batch_stride[2] = s.batch_stride[3] = 200;
    assert_true(work_of(s).bytes == 4.0 * (300 + 7 * 600 + 7 * 200));
    assert_true(work_of(s).flops == 7 * 2 * 6000.0);
    s.batch_mode = TRACE_BATCH_POINTERS;
    assert_true(work_of(s).bytes == 7 * 4400);
    s = gemm(10, 20, 30, R4I, CI); /* half a byte each; int32 out */
    s.type[2] = s.type[3] = R32I;
    assert_true(work_of(s).bytes == 150 + 300 + 800);
    s = gemm(10, 20, 30, C32F, C32);
    assert_true(work_of(s).flops == 8 * 6000.0);
    assert_true(work_of(s).bytes == 8800);
}

static void test_lt_extras(void **state)
{
    struct trace_signature s = gemm(256, 128, 512, E4M3, C32);
    (void)state;
    s.library = TRACE_LIBRARY_CUBLASLT;
    s.type[2] = s.type[3] = R16BF;
    double plain = 256 * 512 + 512 * 128 + 2 * 256 * 128;
    assert_true(work_of(s).bytes == plain);
    s.epilogue = 4; /* bias: one for each row of D, in D's type where none is said */
    assert_true(work_of(s).bytes == plain + 512);
    s.type_bias = R32F;
    assert_true(work_of(s).bytes == plain + 1024);
    s.epilogue = 130; /* relu_aux: one bit an element of D */
    assert_true(work_of(s).bytes == plain + 4096);
    s.epilogue = 512; /* bgradb: one for each column of D */
    assert_true(work_of(s).bytes == plain + 512);
    s.epilogue = 1;
    s.scale_mode[0] = s.scale_mode[1] = s.scale_mode[3] = 0; /* three scalars */
    assert_true(work_of(s).bytes == plain + 12);
    s.scale_mode[3] = -1;
    s.scale_mode[0] = s.scale_mode[1] = 2; /* one byte for 32 along K */
    assert_true(work_of(s).bytes == plain + 256 * 16 + 128 * 16);
    s.scale_mode[0] = s.scale_mode[1] = 3; /* a float for each row of op(A), column of op(B) */
    assert_true(work_of(s).bytes == plain + 4 * 256 + 4 * 128);
    s.scale_mode[0] = 5; /* a float for 128 x 128 */
    s.scale_mode[1] = 4; /* a float for 128 along K */
    assert_true(work_of(s).bytes == plain + 4 * 2 * 4 + 4 * 128 * 4);
    s.scale_mode[0] = 99; /* a mode from the future */
    assert_true(isnan(work_of(s).bytes));
}

static void test_paths(void **state)
{
    static const struct {
        int a, b, compute, math;
        enum gpu_path path;
    } cases[] = {
        {R16BF, R16BF, C32, 0, GPU_PATH_BF16},     {R16F, R16F, C32, 0, GPU_PATH_FP16},
        {R16F, R16F, C16, 0, GPU_PATH_FP16_ACC16}, {R32F, R32F, C32, 0, GPU_PATH_FP32},
        {R32F, R32F, C32, 3, GPU_PATH_TF32},       {R32F, R32F, C32, 16 | 3, GPU_PATH_TF32},
        {R32F, R32F, C32, 16, GPU_PATH_FP32},      {R32F, R32F, C32P, 3, GPU_PATH_FP32},
        {R32F, R32F, C32, -1, GPU_PATH_FP32},      {R32F, R32F, FASTTF32, 0, GPU_PATH_TF32},
        {R32F, R32F, FAST16F, 0, GPU_PATH_FP16},   {R32F, R32F, FAST16BF, 0, GPU_PATH_BF16},
        {R32F, R32F, BF16X9, 0, GPU_PATH_UNKNOWN}, {R64F, R64F, C64, 0, GPU_PATH_FP64},
        {R32F, R32F, C32, 4, GPU_PATH_UNKNOWN},    {R32F, R32F, C32P, 4, GPU_PATH_FP32}, /* BF16x9 allowed, forbidden */
        {R64F, R64F, C64, 8, GPU_PATH_UNKNOWN},    {R64F, R64F, C64, 4, GPU_PATH_FP64},  /* fixed point */
        {R32F, R32F, C32, 8, GPU_PATH_FP32},       {R32F, R32F, C32, 8 | 3, GPU_PATH_TF32},
        {R64F, R64F, 71, 8, GPU_PATH_FP64},        {R64F, R64F, 79, 0, GPU_PATH_UNKNOWN},
        {R16BF, R16BF, C32, 4, GPU_PATH_BF16},     {C32F, C32F, C32, 3, GPU_PATH_TF32},
        {R8I, R8I, CI, 0, GPU_PATH_INT8},          {E4M3, E4M3, C32, 0, GPU_PATH_FP8_E4M3},
        {E5M2, E4M3, C32, 0, GPU_PATH_FP8_E5M2},   {R4F, R4F, C32, 0, GPU_PATH_FP4_E2M1},
        {E4M3, R16BF, C32, 0, GPU_PATH_UNKNOWN},   {R16BF, R16F, C32, 0, GPU_PATH_UNKNOWN},
        {77, 77, C32, 0, GPU_PATH_UNKNOWN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace_signature s = gemm(8, 8, 8, cases[i].a, cases[i].compute);
        s.type[1] = cases[i].b;
        s.math_mode = cases[i].math;
        if (work_of(s).path != cases[i].path)
            fail_msg("case %zu", i);
    }
}

static void test_unknown_stays_unknown(void **state)
{
    struct trace_signature s = gemm(-1, 20, 30, R32F, C32);
    struct work w = work_of(s);
    (void)state;
    assert_false(w.shape_known);
    assert_true(isnan(w.flops) && isnan(w.bytes) && isnan(w.intensity));
    assert_int_equal(w.provenance, TRACE_NONE);
    s = gemm(10, 20, 30, 77, C32); /* a type from the future: FLOPs, no bytes */
    w = work_of(s);
    assert_true(w.flops == 12000);
    assert_true(isnan(w.bytes) && isnan(w.intensity));
    s = gemm(0, 0, 0, R32F, C32); /* nothing to do is known to be nothing */
    w = work_of(s);
    assert_true(w.shape_known && w.flops == 0 && w.bytes == 0 && isnan(w.intensity));
    s.kind = 99;
    assert_false(work_of(s).shape_known);
}

static void test_gemv(void **state)
{
    struct trace_signature s = gemm(300, 200, 1, R32F, C32); /* A is 300 x 200, transposed: y has 200 */
    (void)state;
    s.kind = TRACE_CALL_GEMV;
    struct work w = work_of(s);
    assert_int_equal(w.m, 1);
    assert_int_equal(w.n, 200);
    assert_int_equal(w.k, 300);
    assert_true(w.flops == 120000);
    assert_true(w.bytes == 4.0 * (60000 + 300 + 200));
    assert_int_equal(w.path, GPU_PATH_FP32);
    s.trans_a = 0;
    s.beta = TRACE_SCALAR_ONE;
    s.math_mode = 3; /* no tensor core multiplies a vector */
    w = work_of(s);
    assert_int_equal(w.n, 300);
    assert_true(w.bytes == 4.0 * (60000 + 200 + 300 + 300));
    assert_int_equal(w.path, GPU_PATH_FP32);
}

static void check_level3(const char *name, int side, double flops, double elements)
{
    struct trace_signature s = gemm(30, 20, 10, R32F, C32);
    struct work w;
    s.kind = TRACE_CALL_LEVEL3;
    s.side = (uint8_t)side;
    work_of_signature(&s, name, &w);
    if (w.flops != flops || w.bytes != 4 * elements)
        fail_msg("%s: %g FLOPs, %g elements", name, w.flops, w.bytes / 4);
}

static void test_level3(void **state)
{
    (void)state;
    check_level3("cublasSsymm_v2", 0, 2.0 * 30 * 20 * 30, 465 + 600 + 600);
    check_level3("cublasSsymm_v2", 1, 2.0 * 30 * 20 * 20, 210 + 600 + 600);
    check_level3("cublasStrsm_v2", 0, 30.0 * 20 * 30, 465 + 600 + 600);
    check_level3("cublasSsyrk_v2", 255, 20.0 * 21 * 10, 200 + 210);
    check_level3("cublasSsyrkx", 255, 20.0 * 21 * 10, 200 + 200 + 210);
    check_level3("cublasSsyr2k_v2", 255, 2 * 20.0 * 21 * 10, 200 + 200 + 210);
    check_level3("cublasXtSspmm", 0, 2.0 * 30 * 20 * 30, 465 + 600 + 600);
    check_level3("cublasXtSsyrkx", 255, 20.0 * 21 * 10, 200 + 200 + 210);
    struct trace_signature s = gemm(30, 20, 10, R32F, C32);
    struct work w;
    s.kind = TRACE_CALL_LEVEL3;
    work_of_signature(&s, "cublasSnovel", &w);
    assert_false(w.shape_known);
    work_of_signature(&s, NULL, &w);
    assert_false(w.shape_known);
}

static void take_groups(const struct trace_signature *s, const struct trace_group *groups, size_t count, struct work *w)
{
    struct work_of_groups sum = work_sum_groups(s, groups, count);
    work_take_groups(s, &sum, w);
}

/* 2 m n k for each matrix; A, B, D once, C where the group's beta is not zero; fp32. Idle: no matrices, m = 0, n = 0. */
static void test_call_with_groups(void **state)
{
    const struct trace_group groups[] = {
        {.m = 37, .n = 41, .k = 43, .batch = 7, .beta = TRACE_SCALAR_ZERO},
        {.m = 5, .n = 41, .k = 61, .batch = 1, .beta = TRACE_SCALAR_ONE},
        {.m = 37, .n = 41, .k = 43, .batch = 0, .beta = TRACE_SCALAR_ONE},
        {.m = 0, .n = 41, .k = 43, .batch = 3, .beta = TRACE_SCALAR_ONE},
        {.m = 37, .n = 0, .k = 43, .batch = 3, .beta = TRACE_SCALAR_ONE},
    };
    struct trace_signature s = gemm(TRACE_UNKNOWN, 41, TRACE_UNKNOWN, R32F, C32);
    struct work w;
    (void)state;
    s.batch_mode = TRACE_BATCH_GROUPED;
    s.batch = 8;
    s.beta = TRACE_SCALAR_UNKNOWN;
    work_of_signature(&s, NULL, &w);
    assert_false(w.shape_known);
    take_groups(&s, groups, 5, &w);
    assert_true(w.shape_known);
    assert_true(w.flops == 2.0 * 37 * 41 * 43 * 7 + 2.0 * 5 * 41 * 61);
    assert_true(w.bytes == 4.0 * (7 * (37 * 43 + 43 * 41 + 37 * 41) + 5 * 61 + 61 * 41 + 2 * 5 * 41));
    assert_true(w.intensity == w.flops / w.bytes);
    assert_true(isnan(w.bytes_per_row) && isnan(w.bytes_fixed) && isnan(w.flops_per_row));
    assert_true(isnan(work_rows_at_ridge(&w, 10)));
    assert_int_equal(w.provenance, TRACE_AT_MOST); /* addresses of a batch may repeat */
    assert_int_equal(w.path, GPU_PATH_FP32);
    /* Nothing but idle groups: nothing, and that is known. */
    work_of_signature(&s, NULL, &w);
    take_groups(&s, groups + 2, 3, &w);
    assert_true(w.shape_known && w.flops == 0 && w.bytes == 0 && isnan(w.intensity));
    /* A size that no program passes: not nothing. */
    const struct trace_group negative = {.m = -1, .n = 41, .k = 43, .batch = 3};
    take_groups(&s, &negative, 1, &w);
    assert_true(!w.shape_known && isnan(w.flops) && isnan(w.bytes));
    /* One size, one beta: the same as a batch of as many. */
    s.m = 37;
    s.k = 43;
    s.beta = TRACE_SCALAR_ZERO;
    s.batch = 7;
    work_of_signature(&s, NULL, &w);
    take_groups(&s, groups, 1, &w);
    assert_true(w.flops == 2.0 * 37 * 41 * 43 * 7);
    assert_true(w.bytes == 4.0 * 7 * (37 * 43 + 43 * 41 + 37 * 41));
    assert_int_equal(w.model.batch, 7);
    /* One size, two betas: C is read where it is. */
    s.beta = TRACE_SCALAR_UNKNOWN;
    s.batch = 9;
    const struct trace_group betas[] = {groups[0], {.m = 37, .n = 41, .k = 43, .batch = 2, .beta = TRACE_SCALAR_ONE}};
    work_of_signature(&s, NULL, &w);
    take_groups(&s, betas, 2, &w);
    assert_true(w.bytes == 4.0 * (9 * (37 * 43 + 43 * 41 + 37 * 41) + 2 * 37 * 41));
    assert_int_equal(w.model.batch, TRACE_UNKNOWN);
}

/* 30 x 20 with a triangle of 30 on the left: with a unit diagonal 20 * 30 * 29 / 2 multiplications and as many additions, and
 * 435 elements of A. Where the record doesn't say, the stored diagonal is the maximum. */
static void test_diagonal(void **state)
{
    struct trace_signature s = gemm(30, 20, 10, R32F, C32);
    struct work w;
    (void)state;
    s.kind = TRACE_CALL_LEVEL3;
    work_of_signature(&s, "cublasStrmm_v2", &w);
    assert_true(w.flops == 18000 && w.bytes == 4.0 * (465 + 600 + 600));
    assert_int_equal(w.provenance, TRACE_AT_MOST);
    s.diagonal = 1;
    work_of_signature(&s, "cublasStrmm_v2", &w);
    assert_true(w.flops == 18000);
    assert_int_equal(w.provenance, TRACE_EXACT);
    s.diagonal = 2;
    work_of_signature(&s, "cublasStrsm_v2", &w);
    assert_true(w.flops == 17400 && w.bytes == 4.0 * (435 + 600 + 600));
    work_of_signature(&s, "cublasSsymm_v2", &w); /* has no such thing */
    assert_true(w.bytes == 4.0 * (465 + 600 + 600));
}

static void test_mixed_sizes_at_the_ridge(void **state)
{
    /* 2 M N K = R (b_A M K + b_B N K + b_D M N), N = K = 4096, b = 2, 1, 2 (activations, weight, output), R = 100:
     * M = 100 * 4096 * 4096 / (2 * 4096^2 - 100 * (2 * 4096 + 2 * 4096)) = 52.5667... */
    struct trace_signature s = gemm(4096, 1, 4096, R16BF, C32);
    (void)state;
    s.type[0] = E4M3;
    struct work w = work_of(s);
    assert_true(fabs(work_rows_at_ridge(&w, 100) - 52.566735) < 1e-5);
    assert_true(isnan(work_rows_at_ridge(&w, NAN)));
}

/* The same product of 4096 x 4096 with one token, the weight as A and, where a caller exchanges the roles, as B. */
static void test_roles_exchanged(void **state)
{
    struct trace_signature s = gemm(4096, 1, 4096, R16BF, C32);
    (void)state;
    s.ld[0] = 8192; /* rows lie further apart than they are long: no more is read */
    struct work w = work_of(s);
    assert_true(w.flops == 33554432.0);
    assert_true(w.bytes == 2 * (16777216.0 + 4096 + 4096));
    assert_int_equal(w.m, 1);
    assert_int_equal(w.n, 4096);
    s.beta = TRACE_SCALAR_ONE;
    assert_true(work_of(s).bytes == 2 * (16777216.0 + 3 * 4096));
    s = gemm(1, 4096, 4096, R16BF, C32);
    s.trans_a = 0;
    w = work_of(s);
    assert_true(w.flops == 33554432.0);
    assert_true(w.bytes == 2 * (16777216.0 + 4096 + 4096));
    assert_int_equal(w.m, 4096);
    assert_int_equal(w.n, 1);
}

static void test_sizes_of_nothing(void **state)
{
    static const int64_t sizes[][3] = {{0, 20, 30}, {10, 0, 30}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct trace_signature s = gemm(sizes[i][0], sizes[i][1], sizes[i][2], R32F, C32);
        s.beta = TRACE_SCALAR_ONE;
        struct work w = work_of(s);
        assert_true(w.shape_known && w.flops == 0 && w.bytes == 0); /* without output nothing is read */
    }
    struct trace_signature s = gemm(10, 20, 0, R32F, C32); /* D = beta C */
    assert_true(work_of(s).flops == 0 && work_of(s).bytes == 800);
    s.beta = TRACE_SCALAR_OTHER;
    assert_true(work_of(s).bytes == 1600);
    s = gemm(10, 20, 30, R32F, C32);
    s.batch = 0;
    assert_true(work_of(s).flops == 0 && work_of(s).bytes == 0);
    for (int i = 0; i < 4; i++) {
        s = gemm(10, 20, 30, R32F, C32);
        int64_t *size[] = {&s.m, &s.n, &s.k, &s.batch};
        *size[i] = -5;
        assert_false(work_of(s).shape_known);
        assert_true(isnan(work_of(s).flops) && isnan(work_of(s).bytes));
    }
}

/* fp4 with a scale byte for 16 along K. K is the logical one: A is 4096 * 4096 / 2 + 4096 * 256 bytes, B 16 * 4096 / 2 +
 * 16 * 256, D 16 * 4096 * 2. */
static void test_block_scaled_fp4(void **state)
{
    struct trace_signature s = gemm(4096, 16, 4096, R4F, C32);
    (void)state;
    s.library = TRACE_LIBRARY_CUBLASLT;
    s.type[2] = s.type[3] = R16BF;
    s.scale_mode[0] = s.scale_mode[1] = 1;
    struct work w = work_of(s);
    assert_true(w.flops == 536870912.0);
    assert_true(w.bytes == 9437184.0 + 36864 + 131072);
    assert_int_equal(w.path, GPU_PATH_FP4_E2M1);
    s.type[0] = 99; /* a type from the future: its size is not taken for another's */
    w = work_of(s);
    assert_true(w.flops == 536870912.0);
    assert_true(isnan(w.bytes) && isnan(w.intensity));
    assert_int_equal(w.path, GPU_PATH_UNKNOWN);
    s = gemm(4096, 16, 4096, R16BF, C32);
    s.type[3] = s.type[2] = 99;
    assert_true(isnan(work_of(s).bytes));
}

/* Layers as their config.json gives them; FLOPs 2 M N K, bytes 2 (M K + N K + M N), multiplied out by hand. */
static void test_published_layers(void **state)
{
    static const struct {
        int64_t m, k, n; /* tokens, input and output features */
        double flops, bytes;
    } layers[] = {
        {1, 4096, 6144, 50331648, 50352128},           /* Llama-3-8B q, k, v */
        {8192, 4096, 14336, 962072674304, 419430400},  /* Llama-3-8B gate */
        {1, 4096, 128256, 1050673152, 1050937856},     /* Llama-3-8B lm_head */
        {512, 4096, 22016, 92341796864, 207093760},    /* Llama-2-7B gate and up */
        {4096, 28672, 8192, 1924145348608, 771751936}, /* Llama-2-70B down */
        {256, 3584, 512, 939524096, 5767168},          /* Qwen2.5-7B k */
        {160, 3584, 18944, 21726494720, 142999552},    /* Qwen2.5-7B up */
        {64, 4096, 8, 4194304, 590848},                /* Mixtral-8x7B router */
        {128, 1536, 24576, 9663676416, 82182144},      /* DeepSeek-V3 q_b */
        {2048, 4096, 4096, 68719476736, 67108864},     /* Mistral-7B o */
    };
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        struct work w = work_of(gemm(layers[i].n, layers[i].m, layers[i].k, R16BF, C32));
        if (w.flops != layers[i].flops || w.bytes != layers[i].bytes || w.m != layers[i].m)
            fail_msg("layer %zu: %.0f FLOPs, %.0f bytes", i, w.flops, w.bytes);
    }
}

/* A row order undoes a transposition: what counts is whether the activations' rows lie one after another. */
static void test_weight_by_layout(void **state)
{
    struct trace_signature s = gemm(512, 256, 64, R16BF, C32);
    (void)state;
    s.library = TRACE_LIBRARY_CUBLASLT;
    assert_int_equal(work_of(s).weight, WORK_WEIGHT_A);
    s.order[1] = 1; /* B's rows run along n now: a transposed activation */
    assert_int_equal(work_of(s).weight, WORK_WEIGHT_NONE);
    s.trans_b = 1;
    assert_int_equal(work_of(s).weight, WORK_WEIGHT_A);
    s.trans_b = 0xff;
    assert_int_equal(work_of(s).weight, WORK_WEIGHT_NONE);
}

static void test_absent_c(void **state)
{
    struct trace_signature s = gemm(10, 20, 30, R32F, C32);
    (void)state;
    s.library = TRACE_LIBRARY_CUBLASLT;
    s.type[2] = s.order[2] = -1;
    s.beta = TRACE_SCALAR_ON_DEVICE; /* whatever it is, there is nothing to read */
    assert_true(work_of(s).bytes == 4400);
    assert_int_equal(work_of(s).provenance, TRACE_EXACT);
}

/* Pointers lie on the device and may repeat; strides may be shorter than a matrix. Then bytes are a maximum. */
static void test_shared_matrices(void **state)
{
    struct trace_signature s = gemm(10, 20, 30, R32F, C32); /* A is stored 30 x 10, B 30 x 20 */
    (void)state;
    s.ld[0] = s.ld[1] = 30;
    s.ld[2] = s.ld[3] = 10;
    s.batch_mode = TRACE_BATCH_POINTERS;
    assert_int_equal(work_of(s).provenance, TRACE_EXACT);
    s.batch = 3;
    assert_int_equal(work_of(s).provenance, TRACE_AT_MOST);
    assert_true(work_of(s).bytes == 3 * 4400);
    s.batch_mode = TRACE_BATCH_STRIDED;
    s.batch_stride[0] = 300;
    s.batch_stride[1] = 600;
    s.batch_stride[2] = s.batch_stride[3] = 200;
    assert_int_equal(work_of(s).provenance, TRACE_EXACT);
    s.batch_stride[0] = 299; /* the last element is the next matrix's first */
    assert_int_equal(work_of(s).provenance, TRACE_AT_MOST);
    s.ld[0] = 90; /* three heads side by side in lines of 90 */
    s.batch_stride[0] = 30;
    assert_int_equal(work_of(s).provenance, TRACE_EXACT);
    s.batch_stride[0] = -1; /* not known */
    assert_int_equal(work_of(s).provenance, TRACE_AT_MOST);
}

static void test_bias_types(void **state)
{
    struct trace_signature s = gemm(10, 20, 30, R8I, CI);
    (void)state;
    s.library = TRACE_LIBRARY_CUBLASLT;
    s.type_scale = R32F;
    double plain = work_of(s).bytes;
    assert_true(plain == 300 + 600 + 200);
    s.epilogue = 4;
    assert_true(work_of(s).bytes == plain + 40); /* int8 to int8: as the scalars, fp32 */
    s = gemm(10, 20, 30, E4M3, C32);
    s.library = TRACE_LIBRARY_CUBLASLT;
    s.epilogue = 4;
    assert_true(work_of(s).bytes == plain + 20); /* fp8: bf16 or fp16 */
    s.type_bias = 99;
    assert_true(isnan(work_of(s).bytes));
}

/* K and N of 4096 in bf16: 33554432 bytes of weight. In int4 with a 16-bit scale and a 4-bit zero for 128 it is
 * 8388608 + 4096 * 32 * 2.5 = 8716288; in fp8 with an fp32 scale a channel 16777216 + 16384. */
static void test_other_weights(void **state)
{
    struct work w = work_of(gemm(4096, 8, 4096, R16BF, C32));
    struct gemm_work product;
    double rest = 2.0 * 8 * (4096 + 4096);
    (void)state;
    gemm_work(&w.model, &product);
    assert_true(product.bytes == 33554432 + rest);
    assert_true(product.operand_bytes[GEMM_RIGHT] == 33554432);
    assert_int_equal(product.dominant, GEMM_DIMENSION_M);
    struct gemm_model model = gemm_with_weight(&w.model, 4, (struct gemm_scales){20, 1, 128, 0});
    gemm_work(&model, &product);
    assert_true(product.bytes == 8716288 + rest);
    model = gemm_with_weight(&w.model, 8, (struct gemm_scales){32, 1, 0, 0});
    gemm_work(&model, &product);
    assert_true(product.bytes == 16777216 + 16384 + rest);
    model = gemm_with_weight(&w.model, 4.5, (struct gemm_scales){0, 0, 0, 0}); /* ggml's q4_K, K in whole blocks */
    gemm_work(&model, &product);
    assert_true(product.bytes == 9437184 + rest);
    assert_true(product.flops == 268435456.0);
}

static void test_dominant_dimension(void **state)
{
    static const struct {
        int64_t m, n, k;
        enum gemm_dimension dominant;
    } cases[] = {
        {8, 4096, 4096, GEMM_DIMENSION_M},    {4096, 8, 4096, GEMM_DIMENSION_N}, {4096, 4096, 8, GEMM_DIMENSION_K},
        {4096, 4096, 4096, GEMM_DIMENSION_M}, {4096, 64, 64, GEMM_DIMENSION_N},  {0, 64, 64, GEMM_DIMENSION_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gemm_model model = gemm_plain(cases[i].m, cases[i].n, cases[i].k, 16);
        struct gemm_work product;
        gemm_work(&model, &product);
        assert_int_equal(product.dominant, cases[i].dominant);
    }
    assert_string_equal(gemm_dimension_name(GEMM_DIMENSION_K), "K");
    assert_null(gemm_dimension_name(GEMM_DIMENSION_NONE));
}

/* (2/b) / (1/N + 1/K) for N 512, K 3584 in bf16 is 448; fp8 operands and a bf16 output: 2 / (1/512 + 2/3584) = 796.44... */
static void test_caps(void **state)
{
    struct gemm_model model = gemm_plain(1, 512, 3584, 16);
    struct gemm_ridge ridge = gemm_work_ridge(&model, 448);
    (void)state;
    assert_true(fabs(ridge.cap - 448) < 1e-9);
    assert_int_equal(ridge.caps_at, GEMM_DIMENSION_N);
    assert_true(isinf(gemm_work_ridge(&model, 449).rows));
    assert_true(isfinite(gemm_work_ridge(&model, 447).rows));
    model.operand[GEMM_LEFT].bits = model.operand[GEMM_RIGHT].bits = 8;
    assert_true(fabs(gemm_work_ridge(&model, 100).cap - 7168 / 9.0) < 1e-9);
    model = gemm_plain(1, 3584, 512, 16);
    assert_int_equal(gemm_work_ridge(&model, 100).caps_at, GEMM_DIMENSION_K);
    model.n = -1;
    ridge = gemm_work_ridge(&model, 100);
    assert_true(isnan(ridge.rows) && isnan(ridge.cap));
    model = gemm_plain(1, 0, 512, 16);
    assert_true(isnan(gemm_work_ridge(&model, 100).rows));
    model = gemm_plain(1, 512, 512, NAN);
    assert_true(isnan(gemm_work_ridge(&model, 100).rows));
}

/* A damaged trace may hold any number: no figure is negative, none overflows an integer (UBSan watches). */
static void test_extreme_sizes(void **state)
{
    static const int64_t extremes[] = {INT64_MIN, -1, 0, 1, 3, INT64_MAX - 1, INT64_MAX};
    enum { EXTREMES = sizeof extremes / sizeof extremes[0], KINDS = 3, DRAWS = 20000 };
    uint64_t draw = 1;
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        struct trace_signature s = gemm(1, 1, 1, R32F, C32);
        int64_t *fields[] = {&s.m,     &s.n,     &s.k,      &s.batch,           &s.ld[0],           &s.ld[1],
                             &s.ld[2], &s.ld[3], &s.aux_ld, &s.batch_stride[0], &s.batch_stride[1], &s.batch_stride[2]};
        s.kind = (uint8_t)(TRACE_CALL_GEMM + i % KINDS);
        s.library = (uint8_t)(TRACE_LIBRARY_CUBLAS + i / KINDS % 2);
        s.batch_mode = (uint8_t)(i / 7 % 4);
        s.epilogue = i % 1024;
        for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
            draw = draw * 6364136223846793005u + 1442695040888963407u;
            *fields[f] = extremes[(draw >> 33) % EXTREMES];
        }
        struct work w;
        work_of_signature(&s, "cublasStrsm_v2", &w);
        assert_false(w.flops < 0 || w.bytes < 0 || w.intensity < 0);
        assert_int_equal(isnan(w.flops), !w.shape_known);
        assert_false(work_rows_at_ridge(&w, 100) < 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_lt_extras),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_unknown_stays_unknown),
        cmocka_unit_test(test_gemv),
        cmocka_unit_test(test_level3),
        cmocka_unit_test(test_call_with_groups),
        cmocka_unit_test(test_diagonal),
        cmocka_unit_test(test_mixed_sizes_at_the_ridge),
        cmocka_unit_test(test_roles_exchanged),
        cmocka_unit_test(test_sizes_of_nothing),
        cmocka_unit_test(test_block_scaled_fp4),
        cmocka_unit_test(test_published_layers),
        cmocka_unit_test(test_weight_by_layout),
        cmocka_unit_test(test_absent_c),
        cmocka_unit_test(test_shared_matrices),
        cmocka_unit_test(test_bias_types),
        cmocka_unit_test(test_other_weights),
        cmocka_unit_test(test_dominant_dimension),
        cmocka_unit_test(test_caps),
        cmocka_unit_test(test_extreme_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
