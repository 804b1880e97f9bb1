/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the stand-in cuBLAS and cuBLASLt against ledger lines worked out by hand, on the unit device: 100 TFLOP/s,
 * 1 TB/s, efficiency 0.8, 2000 ns to start. */
#include "ledger.h"
#include "sim_blas_all.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cublasHandle_t handle;
static char memory[4096]; /* stands for device memory: nothing is computed, so no shape needs its size */
/* An address on the device that nobody may read; volatile, so that compilers do not think about it. */
static const uintptr_t volatile nowhere_address = 16;
static const float one = 1, zero = 0;

/* ---- helpers ---- */

static void expect_int(json_t *call, const char *key, json_int_t value)
{
    json_t *found = json_object_get(json_object_get(call, "args"), key);
    if (!json_is_integer(found) || json_integer_value(found) != value)
        fail_msg("%s: expected %lld, found %lld", key, (long long)value, (long long)json_integer_value(found));
}

static void expect_number(json_t *call, const char *key, double value)
{
    json_t *found = json_object_get(json_object_get(call, "args"), key);
    if (!json_is_number(found) || json_number_value(found) != value)
        fail_msg("%s: expected %.17g, found %.17g", key, value, json_number_value(found));
}

static void expect_text(json_t *call, const char *key, const char *value)
{
    const char *found = json_string_value(json_object_get(json_object_get(call, "args"), key));
    if (!found || strcmp(found, value))
        fail_msg("%s: expected %s, found %s", key, value, found ? found : "nothing");
}

static void expect_work(json_t *call, double flops, double bytes)
{
    expect_number(call, "flops", flops);
    expect_number(call, "bytes", bytes);
}

static void expect_kernel(json_t *lines, json_t *call, const char *name, unsigned x, unsigned y, unsigned z)
{
    json_t *kernel = ledger_line(lines, "kernel", NULL, 0);
    assert_non_null(kernel);
    assert_string_equal(json_string_value(json_object_get(kernel, "name")), name);
    const unsigned expected[3] = {x, y, z};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(json_integer_value(json_array_get(json_object_get(kernel, "grid"), i)), expected[i]);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(kernel, "block"), 0)), 128);
    assert_int_equal(json_integer_value(json_object_get(kernel, "call")),
                     json_integer_value(json_object_get(call, "call")));
}

/* One call of FUNCTION that returned STATUS, with KERNELS kernels; the caller releases *lines. */
static json_t *expect_call(json_t **lines, const char *function, int status, size_t kernels)
{
    *lines = ledger_read();
    assert_int_equal(ledger_count(*lines, "call", NULL), 1);
    json_t *call = ledger_line(*lines, "call", function, 0);
    assert_non_null(call);
    assert_int_equal(json_integer_value(json_object_get(call, "status")), status);
    assert_int_equal(ledger_count(*lines, "kernel", NULL), kernels);
    return call;
}

static int reset(void **state)
{
    (void)state;
    ledger_reset();
    return handle ? (int)cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_HOST) : 0;
}

static cublasStatus_t bf16_gemm(int m, int n, int k, const void *beta)
{
    return cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, memory, CUDA_R_16BF, k, memory, CUDA_R_16BF, k,
                        beta, memory, CUDA_R_16BF, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

/* ---- GEMM ---- */

static void gemm_ex(void **state)
{
    (void)state;
    assert_int_equal(bf16_gemm(512, 17, 3584, &zero), CUBLAS_STATUS_SUCCESS);
    json_t *lines, *call = expect_call(&lines, "cublasGemmEx", 0, 1);
    expect_text(call, "kind", "gemm");
    expect_int(call, "transa", 1);
    expect_int(call, "transb", 0);
    expect_int(call, "m", 512);
    expect_int(call, "n", 17);
    expect_int(call, "k", 3584);
    expect_int(call, "lda", 3584);
    expect_int(call, "ldc", 512);
    expect_int(call, "Atype", 14);
    expect_int(call, "computeType", 68);
    expect_int(call, "algo", -1);
    expect_text(call, "beta_kind", "zero");
    expect_work(call, 2.0 * 512 * 17 * 3584, 2.0 * (512 * 3584 + 3584 * 17 + 512 * 17));
    expect_kernel(lines, call, "simgemm_bf16_TN_64x64", 8, 1, 1);
    /* Memory-bound: 3,809,280 bytes at 1 TB/s and efficiency 0.8 are 4761.6 ns. */
    json_t *kernel = ledger_line(lines, "kernel", NULL, 0);
    const double ns = (double)(json_integer_value(json_object_get(kernel, "end")) -
                               json_integer_value(json_object_get(kernel, "start")));
    assert_true(fabs(ns - (3809280 / 1000.0 / 0.8 + 2000)) <= 1);
    json_decref(lines);
}

static void gemm_ex_compute_bound(void **state)
{
    (void)state;
    assert_int_equal(bf16_gemm(4096, 4096, 4096, &one), CUBLAS_STATUS_SUCCESS);
    json_t *lines, *call = expect_call(&lines, "cublasGemmEx", 0, 1);
    expect_text(call, "beta_kind", "nonzero");
    expect_work(call, 137438953472.0, 2.0 * 4 * 4096 * 4096);
    expect_kernel(lines, call, "simgemm_bf16_TN_64x64", 64, 64, 1);
    json_t *kernel = ledger_line(lines, "kernel", NULL, 0);
    const double ns = (double)(json_integer_value(json_object_get(kernel, "end")) -
                               json_integer_value(json_object_get(kernel, "start")));
    assert_true(fabs(ns - (137438953472.0 / 1e5 / 0.8 + 2000)) <= 1);
    json_decref(lines);
}

static void typed_gemms(void **state)
{
    (void)state;
    const double two = 2, nought = 0;
    assert_int_equal(cublasDgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_C, 100, 65, 7, &two, (double *)memory, 100,
                                    (double *)memory, 65, &nought, (double *)memory, 128),
                     0);
    json_t *lines, *call = expect_call(&lines, "cublasDgemm_v2", 0, 1);
    expect_int(call, "Atype", 1);
    expect_int(call, "batchCount", 1);
    expect_int(call, "computeType", 70);
    expect_work(call, 2.0 * 100 * 65 * 7, 8.0 * (100 * 7 + 7 * 65 + 100 * 65));
    expect_kernel(lines, call, "simgemm_fp64_NC_64x64", 2, 2, 1);
    json_decref(lines);

    ledger_reset();
    const cuComplex i = {0, 1};
    assert_int_equal(cublasCgemm_v2_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, 10, 20, 30, &i, (cuComplex *)memory, 10,
                                       (cuComplex *)memory, 30, &i, (cuComplex *)memory, 10),
                     0);
    call = expect_call(&lines, "cublasCgemm_v2_64", 0, 1);
    expect_work(call, 8.0 * 10 * 20 * 30, 8.0 * (10 * 30 + 30 * 20 + 2 * 10 * 20));
    json_decref(lines);

    ledger_reset();
    const __half h = {0x3c00}, minus_zero = {0x8000};
    assert_int_equal(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 64, 64, 64, &h, (__half *)memory, 64,
                                 (__half *)memory, 64, &minus_zero, (__half *)memory, 64),
                     0);
    call = expect_call(&lines, "cublasHgemm", 0, 1);
    expect_text(call, "beta_kind", "zero");
    expect_work(call, 2.0 * 64 * 64 * 64, 2.0 * 3 * 64 * 64);
    expect_kernel(lines, call, "simgemm_fp16_NT_64x64", 1, 1, 1);
    json_decref(lines);
}

static void tf32_by_math_mode(void **state)
{
    (void)state;
    assert_int_equal(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH), 0);
    assert_int_equal(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, (float *)memory, 8,
                                    (float *)memory, 8, &zero, (float *)memory, 8),
                     0);
    assert_int_equal(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH), 0);
    json_t *lines, *call = expect_call(&lines, "cublasSgemm_v2", 0, 1);
    expect_int(call, "math_mode", 3);
    expect_text(call, "path", "tf32");
    json_decref(lines);
}

static void batches(void **state)
{
    (void)state;
    /* A stride of 0 shares A: 3 outputs, one weight. */
    assert_int_equal(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 33, 17, 64, &one, memory, CUDA_R_16BF,
                                                33, 0, memory, CUDA_R_16BF, 64, 64 * 17, &zero, memory, CUDA_R_32F, 33,
                                                33 * 17, 3, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                     0);
    json_t *lines, *call = expect_call(&lines, "cublasGemmStridedBatchedEx", 0, 1);
    expect_int(call, "strideB", 64 * 17);
    expect_int(call, "batchCount", 3);
    expect_work(call, 3 * 2.0 * 33 * 17 * 64, 2.0 * 33 * 64 + 3 * 2.0 * 64 * 17 + 3 * 4.0 * 33 * 17);
    expect_kernel(lines, call, "simgemm_bf16_NN_64x64", 1, 1, 3);
    json_decref(lines);

    ledger_reset();
    /* The arrays lie in device memory and are not read: an address nobody may touch will do. */
    float *const *nowhere = (float *const *)nowhere_address;
    assert_int_equal(cublasSgemmBatched_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 5, 6, &one,
                                           (const float *const *)nowhere, 4, (const float *const *)nowhere, 6, &zero,
                                           nowhere, 4, 7),
                     0);
    call = expect_call(&lines, "cublasSgemmBatched_64", 0, 1);
    expect_work(call, 7 * 2.0 * 4 * 5 * 6, 7 * 4.0 * (24 + 30 + 20));
    json_decref(lines);
}

static void grouped(void **state)
{
    (void)state;
    const cublasOperation_t ta[] = {CUBLAS_OP_T, CUBLAS_OP_N}, tb[] = {CUBLAS_OP_N, CUBLAS_OP_N};
    const int m[] = {64, 65}, n[] = {1, 2}, k[] = {8, 9}, lda[] = {8, 65}, ldb[] = {8, 9}, ldc[] = {64, 65};
    const int sizes[] = {3, 2};
    const float alpha[] = {1, 1}, beta[] = {0, 1};
    const float *const *in = (const float *const *)nowhere_address;
    assert_int_equal(cublasSgemmGroupedBatched(handle, ta, tb, m, n, k, alpha, in, lda, in, ldb, beta,
                                               (float *const *)nowhere_address, ldc, 2, sizes),
                     0);
    json_t *lines, *call = expect_call(&lines, "cublasSgemmGroupedBatched", 0, 1);
    expect_work(call, 3 * 2.0 * 64 * 8 + 2 * 2.0 * 65 * 2 * 9,
                3 * 4.0 * (64 * 8 + 8 + 64) + 2 * 4.0 * (65 * 9 + 9 * 2 + 2 * 65 * 2));
    json_t *values = json_object_get(json_object_get(call, "args"), "m_values");
    assert_int_equal(json_integer_value(json_array_get(values, 1)), 65);
    expect_kernel(lines, call, "simgemm_grouped_fp32_64x64", 3 + 2 * 2, 1, 1);
    json_decref(lines);
}

static void device_scalars_are_not_read(void **state)
{
    (void)state;
    assert_int_equal(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE), 0);
    assert_int_equal(bf16_gemm(64, 64, 64, (const void *)nowhere_address), 0);
    json_t *lines, *call = expect_call(&lines, "cublasGemmEx", 0, 1);
    expect_text(call, "beta_kind", "device");
    expect_work(call, 2.0 * 64 * 64 * 64, 2.0 * 3 * 64 * 64);
    json_decref(lines);
}

static void arguments_are_checked(void **state)
{
    (void)state;
    static const struct {
        int transa, m, n, k, lda, ldb, ldc, expected;
    } rows[] = {
        {CUBLAS_OP_N, 8, 8, 8, 8, 8, 8, 0},
        {CUBLAS_OP_N, -1, 8, 8, 8, 8, 8, 7},
        {CUBLAS_OP_N, 8, -1, 8, 8, 8, 8, 7},
        {CUBLAS_OP_N, 8, 8, -1, 8, 8, 8, 7},
        {CUBLAS_OP_N, 8, 8, 8, 7, 8, 8, 7},
        {CUBLAS_OP_N, 8, 8, 8, 8, 7, 8, 7},
        {CUBLAS_OP_N, 8, 8, 8, 8, 8, 7, 7},
        {CUBLAS_OP_T, 8, 8, 9, 8, 9, 8, 7},
        {CUBLAS_OP_N, 0, 8, 8, 1, 8, 1, 0},
        {CUBLAS_OP_N, 8, 0, 8, 8, 8, 8, 0},
        {CUBLAS_OP_N, 8, 8, 0, 8, 1, 8, 0},
        {CUBLAS_OP_N, 0, 8, 8, 0, 8, 1, 7},
        {9, 8, 8, 8, 8, 8, 8, 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ledger_reset();
        const int got = (int)cublasSgemm_v2(handle, (cublasOperation_t)rows[i].transa, CUBLAS_OP_N, rows[i].m,
                                            rows[i].n, rows[i].k, &one, (float *)memory, rows[i].lda, (float *)memory,
                                            rows[i].ldb, &zero, (float *)memory, rows[i].ldc);
        if (got != rows[i].expected)
            fail_msg("row %zu: expected status %d, got %d", i, rows[i].expected, got);
        const bool works = !got && rows[i].m && rows[i].n && rows[i].k;
        json_t *lines;
        expect_call(&lines, "cublasSgemm_v2", rows[i].expected, works);
        json_decref(lines);
    }
    assert_int_equal(bf16_gemm(8, 8, 8, NULL), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasSetPointerMode_v2(handle, (cublasPointerMode_t)2), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasSetPointerMode_v2(NULL, CUBLAS_POINTER_MODE_HOST), CUBLAS_STATUS_NOT_INITIALIZED);
    /* bf16 operands do not accumulate in 16 bits. */
    assert_int_equal(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, memory, CUDA_R_16BF, 8, memory,
                                  CUDA_R_16BF, 8, &zero, memory, CUDA_R_16BF, 8, CUBLAS_COMPUTE_16F,
                                  CUBLAS_GEMM_DEFAULT),
                     CUBLAS_STATUS_NOT_SUPPORTED);
}

static void legacy(void **state)
{
    (void)state;
    cublasSgemm('t', 'N', 5, 6, 7, 1, (float *)memory, 7, (float *)memory, 7, 2, (float *)memory, 5);
    assert_int_equal(cublasGetError(), 0);
    json_t *lines, *call = expect_call(&lines, "cublasSgemm", 0, 1);
    expect_int(call, "m", 5);
    expect_number(call, "beta", 2);
    expect_work(call, 2.0 * 5 * 6 * 7, 4.0 * (5 * 7 + 7 * 6 + 2 * 5 * 6));
    expect_kernel(lines, call, "simgemm_fp32_TN_64x64", 1, 1, 1);
    json_decref(lines);
    cublasSgemm('X', 'N', 5, 6, 7, 1, (float *)memory, 7, (float *)memory, 7, 2, (float *)memory, 5);
    assert_int_equal(cublasGetError(), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasGetError(), 0);
    assert_true(cublasSdot(4, (float *)memory, 1, (float *)memory, 1) == 0);
}

/* ---- cublasXt ---- */

static void xt(void **state)
{
    cublasXtHandle_t xt = NULL;
    int device = 0, other = 1, dim = 0;
    (void)state;
    assert_int_equal(cublasXtCreate(&xt), 0);
    /* Without a device nothing is taken. */
    assert_int_equal(cublasXtSspmm(xt, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, 30, 20, &one, (float *)memory,
                                   (float *)memory, 30, &zero, (float *)memory, 30),
                     CUBLAS_STATUS_NOT_INITIALIZED);
    assert_int_equal(cublasXtDeviceSelect(xt, 1, &other), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasXtDeviceSelect(xt, 1, &device), 0);
    assert_int_equal(cublasXtSetBlockDim(xt, 512) || cublasXtGetBlockDim(xt, &dim), 0);
    assert_int_equal(dim, 512);
    ledger_reset();
    /* A packed triangle of 30 on the left of 30 x 20. */
    assert_int_equal(cublasXtSspmm(xt, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, 30, 20, &one, (float *)memory,
                                   (float *)memory, 30, &zero, (float *)memory, 30),
                     0);
    json_t *lines, *call = expect_call(&lines, "cublasXtSspmm", 0, 1);
    expect_text(call, "kind", "xt");
    expect_int(call, "m", 30);
    expect_int(call, "uplo", 1);
    expect_work(call, 2.0 * 30 * 20 * 30, 4.0 * (465 + 600 + 600));
    json_decref(lines);
    ledger_reset();
    assert_int_equal(cublasXtSgemm(xt, CUBLAS_OP_T, CUBLAS_OP_N, 5, 6, 7, &one, (float *)memory, 6, (float *)memory, 7,
                                   &zero, (float *)memory, 5),
                     CUBLAS_STATUS_INVALID_VALUE); /* lda is below k */
    cublasXtDestroy(xt);
}

/* ---- other families ---- */

static void gemv_and_level3(void **state)
{
    (void)state;
    assert_int_equal(cublasSgemv_v2(handle, CUBLAS_OP_T, 100, 30, &one, (float *)memory, 100, (float *)memory, 1, &one,
                                    (float *)memory, 1),
                     0);
    json_t *lines, *call = expect_call(&lines, "cublasSgemv_v2", 0, 1);
    expect_text(call, "kind", "gemv");
    expect_work(call, 2.0 * 100 * 30, 4.0 * (100 * 30 + 100 + 2 * 30));
    json_decref(lines);

    ledger_reset();
    const double d = 1;
    assert_int_equal(cublasDtrsm_v2(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                                    CUBLAS_DIAG_NON_UNIT, 10, 4, &d, (double *)memory, 4, (double *)memory, 10),
                     0);
    call = expect_call(&lines, "cublasDtrsm_v2", 0, 1);
    expect_work(call, 10.0 * 4 * 4, 8.0 * (10 + 2 * 40));
    json_decref(lines);

    ledger_reset();
    assert_int_equal(cublasSsyrk_v2(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, 10, 3, &one, (float *)memory, 3, &zero,
                                    (float *)memory, 10),
                     0);
    call = expect_call(&lines, "cublasSsyrk_v2", 0, 1);
    expect_work(call, 10.0 * 11 * 3, 4.0 * (30 + 55));
    json_decref(lines);

    ledger_reset();
    float norm = 5;
    assert_int_equal(cublasSnrm2_v2(handle, 1000, (float *)memory, 1, &norm), 0);
    assert_true(norm == 0);
    call = expect_call(&lines, "cublasSnrm2_v2", 0, 1);
    expect_text(call, "kind", "level1");
    expect_work(call, 2000, 4000);
    json_decref(lines);
}

static void stubs_are_not_supported(void **state)
{
    (void)state;
    extern int cublasSgetrfBatched(void);
    assert_int_equal(cublasSgetrfBatched(), CUBLAS_STATUS_NOT_SUPPORTED);
    json_t *lines = ledger_read();
    assert_int_equal(ledger_count(lines, "kernel", NULL), 0);
    json_decref(lines);
}

static void vectors_and_matrices_are_copied(void **state)
{
    (void)state;
    const short from[6] = {1, 2, 3, 4, 5, 6};
    short to[8] = {0};
    assert_int_equal(cublasSetMatrix(2, 3, sizeof(short), from, 2, to, 2), 0);
    assert_memory_equal(from, to, sizeof from);
    memset(to, 0, sizeof to);
    assert_int_equal(cublasGetVector(3, sizeof(short), from, 2, to, 1), 0);
    assert_int_equal(to[2], 5);
    assert_int_equal(cublasSetMatrix(2, 3, sizeof(short), from, 1, to, 2), CUBLAS_STATUS_INVALID_VALUE);
}

/* ---- cuBLASLt ---- */

struct lt_case {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, d;
};

static void lt_open(struct lt_case *lt, cudaDataType in, cudaDataType out, int m, int n, int k)
{
    const int32_t transposed = CUBLAS_OP_T;
    assert_int_equal(cublasLtMatmulDescCreate(&lt->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
    assert_int_equal(cublasLtMatmulDescSetAttribute(lt->desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, 4), 0);
    assert_int_equal(cublasLtMatrixLayoutCreate(&lt->a, in, (uint64_t)k, (uint64_t)m, k), 0);
    assert_int_equal(cublasLtMatrixLayoutCreate(&lt->b, in, (uint64_t)k, (uint64_t)n, k), 0);
    assert_int_equal(cublasLtMatrixLayoutCreate(&lt->d, out, (uint64_t)m, (uint64_t)n, m), 0);
}

static cublasStatus_t lt_run(struct lt_case *lt, const void *c)
{
    /* A cuBLAS handle serves as one of cuBLASLt. */
    return cublasLtMatmul((cublasLtHandle_t)handle, lt->desc, &one, memory, lt->a, memory, lt->b, &zero, c, lt->d,
                          memory, lt->d, NULL, NULL, 0, NULL);
}

static void lt_close(struct lt_case *lt)
{
    cublasLtMatrixLayoutDestroy(lt->a);
    cublasLtMatrixLayoutDestroy(lt->b);
    cublasLtMatrixLayoutDestroy(lt->d);
    cublasLtMatmulDescDestroy(lt->desc);
}

static void lt_bias(void **state)
{
    (void)state;
    struct lt_case lt;
    lt_open(&lt, CUDA_R_16BF, CUDA_R_16BF, 512, 256, 3584);
    const uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    const void *bias = memory;
    assert_int_equal(cublasLtMatmulDescSetAttribute(lt.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 4), 0);
    assert_int_equal(cublasLtMatmulDescSetAttribute(lt.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, 8), 0);
    assert_int_equal(lt_run(&lt, NULL), 0); /* C may be missing where beta is zero */
    json_t *lines, *call = expect_call(&lines, "cublasLtMatmul", 0, 1);
    expect_text(call, "kind", "matmul");
    expect_int(call, "m", 512);
    expect_int(call, "n", 256);
    expect_int(call, "k", 3584);
    expect_int(call, "epilogue", 4);
    expect_int(call, "Dtype", 14);
    expect_int(call, "lda", 3584);
    expect_int(call, "transa", 1);
    expect_work(call, 2.0 * 512 * 256 * 3584, 2.0 * (512 * 3584 + 3584 * 256 + 512 * 256) + 2 * 512);
    expect_kernel(lines, call, "simgemm_bf16_TN_64x64", 8, 4, 1);
    json_decref(lines);
    lt_close(&lt);
}

static void lt_gelu_aux_and_batch(void **state)
{
    (void)state;
    struct lt_case lt;
    lt_open(&lt, CUDA_R_16F, CUDA_R_16F, 64, 32, 16);
    const uint32_t epilogue = CUBLASLT_EPILOGUE_GELU_AUX;
    const int32_t batch = 5;
    const int64_t stride = 64 * 16;
    assert_int_equal(cublasLtMatmulDescSetAttribute(lt.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 4), 0);
    cublasLtMatrixLayout_t layouts[] = {lt.a, lt.b, lt.d};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, 4),
                         0);
        if (i != 1) /* B is shared by the batch */
            assert_int_equal(
                cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, 8),
                0);
    }
    assert_int_equal(lt_run(&lt, memory), 0);
    json_t *lines, *call = expect_call(&lines, "cublasLtMatmul", 0, 1);
    expect_work(call, 5 * 2.0 * 64 * 32 * 16, 2.0 * (5 * 64 * 16 + 16 * 32 + 5 * 64 * 32 + 5 * 64 * 32));
    expect_kernel(lines, call, "simgemm_fp16_TN_64x64", 1, 1, 5);
    json_decref(lines);
    lt_close(&lt);
}

static void lt_fp8_scales(void **state)
{
    (void)state;
    struct lt_case lt;
    lt_open(&lt, CUDA_R_8F_E4M3, CUDA_R_16BF, 64, 32, 128);
    const void *scale = memory;
    const int32_t mode = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    assert_int_equal(cublasLtMatmulDescSetAttribute(lt.desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &scale, 8), 0);
    assert_int_equal(cublasLtMatmulDescSetAttribute(lt.desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &scale, 8), 0);
    assert_int_equal(cublasLtMatmulDescSetAttribute(lt.desc, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &mode, 4), 0);
    assert_int_equal(lt_run(&lt, memory), 0);
    json_t *lines, *call = expect_call(&lines, "cublasLtMatmul", 0, 1);
    expect_text(call, "path", "fp8");
    expect_work(call, 2.0 * 64 * 32 * 128, 64 * 128 + 128 * 32 + 2.0 * 64 * 32 + 4 * 64 + 4);
    json_decref(lines);
    lt_close(&lt);
}

static void lt_refuses(void **state)
{
    (void)state;
    struct lt_case lt;
    lt_open(&lt, CUDA_R_16BF, CUDA_R_16BF, 64, 32, 16);
    assert_int_equal(cublasLtMatmul(NULL, lt.desc, &one, memory, lt.a, memory, lt.b, &zero, memory, lt.d, memory, lt.d,
                                    NULL, NULL, 0, NULL),
                     CUBLAS_STATUS_NOT_INITIALIZED);
    const uint64_t wrong = 17;
    assert_int_equal(cublasLtMatrixLayoutSetAttribute(lt.b, CUBLASLT_MATRIX_LAYOUT_ROWS, &wrong, 8), 0);
    assert_int_equal(lt_run(&lt, memory), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasLtMatrixLayoutSetAttribute(lt.b, CUBLASLT_MATRIX_LAYOUT_ROWS, &wrong, 4),
                     CUBLAS_STATUS_INVALID_VALUE);
    json_t *lines = ledger_read();
    assert_int_equal(ledger_count(lines, "kernel", NULL), 0);
    json_decref(lines);
    lt_close(&lt);
}

static void lt_heuristic(void **state)
{
    (void)state;
    struct lt_case lt;
    lt_open(&lt, CUDA_R_16BF, CUDA_R_16BF, 64, 32, 16);
    cublasLtMatmulPreference_t preference;
    assert_int_equal(cublasLtMatmulPreferenceCreate(&preference), 0);
    cublasLtMatmulHeuristicResult_t result;
    int found = -1;
    assert_int_equal(cublasLtMatmulAlgoGetHeuristic((cublasLtHandle_t)handle, lt.desc, lt.a, lt.b, lt.d, lt.d,
                                                    preference, 1, &result, &found),
                     0);
    assert_int_equal(found, 1);
    assert_int_equal(result.state, 0);
    assert_int_equal(cublasLtMatmulAlgoGetHeuristic((cublasLtHandle_t)handle, lt.desc, lt.a, lt.b, lt.d, lt.d,
                                                    preference, 0, &result, &found),
                     CUBLAS_STATUS_INVALID_VALUE);
    cublasLtMatmulPreferenceDestroy(preference);
    lt_close(&lt);
    json_t *lines = ledger_read(); /* queries and descriptors are no work */
    assert_int_equal(ledger_count(lines, "call", NULL), 0);
    json_decref(lines);
}

int main(void)
{
    ledger_use(NULL);
    if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS)
        return 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(gemm_ex, reset),
        cmocka_unit_test_setup(gemm_ex_compute_bound, reset),
        cmocka_unit_test_setup(typed_gemms, reset),
        cmocka_unit_test_setup(tf32_by_math_mode, reset),
        cmocka_unit_test_setup(batches, reset),
        cmocka_unit_test_setup(grouped, reset),
        cmocka_unit_test_setup(device_scalars_are_not_read, reset),
        cmocka_unit_test_setup(arguments_are_checked, reset),
        cmocka_unit_test_setup(legacy, reset),
        cmocka_unit_test_setup(xt, reset),
        cmocka_unit_test_setup(gemv_and_level3, reset),
        cmocka_unit_test_setup(stubs_are_not_supported, reset),
        cmocka_unit_test_setup(vectors_and_matrices_are_copied, reset),
        cmocka_unit_test_setup(lt_bias, reset),
        cmocka_unit_test_setup(lt_gelu_aux_and_batch, reset),
        cmocka_unit_test_setup(lt_fp8_scales, reset),
        cmocka_unit_test_setup(lt_refuses, reset),
        cmocka_unit_test_setup(lt_heuristic, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
