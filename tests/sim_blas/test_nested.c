/* SPDX-License-Identifier: Apache-2.0 */
/* A device that says gemm_nested: one call of a user passes cublasSgemm_v2, cublasGemmEx and cublasLtMatmul, each by the
 * PLT, so that a library in between sees all three. This program is that library: its own definitions come first. */
#include "ledger.h"
#include "sim_blas_all.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static int seen_ex, seen_lt;
static char memory[4096];
/* An address on the device that nobody may read; volatile, so that compilers do not think about it. */
static const uintptr_t volatile nowhere_address = 16;
static const float one = 1, zero = 0;

__attribute__((visibility("default"))) cublasStatus_t
cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
             const void *alpha, const void *A, cudaDataType Atype, int lda, const void *B, cudaDataType Btype, int ldb,
             const void *beta, void *C, cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
             cublasGemmAlgo_t algo)
{
    seen_ex++;
    cublasStatus_t (*next)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                           const void *, cudaDataType, int, const void *, cudaDataType, int, const void *, void *,
                           cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
    *(void **)&next = dlsym(RTLD_NEXT, "cublasGemmEx");
    return next(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc, computeType,
                algo);
}

__attribute__((visibility("default"))) cublasStatus_t
cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc, const void *alpha, const void *A,
               cublasLtMatrixLayout_t Adesc, const void *B, cublasLtMatrixLayout_t Bdesc, const void *beta,
               const void *C, cublasLtMatrixLayout_t Cdesc, void *D, cublasLtMatrixLayout_t Ddesc,
               const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspaceSizeInBytes, cudaStream_t stream)
{
    seen_lt++;
    cublasStatus_t (*next)(cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *, cublasLtMatrixLayout_t,
                           const void *, cublasLtMatrixLayout_t, const void *, const void *, cublasLtMatrixLayout_t,
                           void *, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t);
    *(void **)&next = dlsym(RTLD_NEXT, "cublasLtMatmul");
    return next(lightHandle, computeDesc, alpha, A, Adesc, B, Bdesc, beta, C, Cdesc, D, Ddesc, algo, workspace,
                workspaceSizeInBytes, stream);
}

static void three_layers(void **state)
{
    cublasHandle_t handle = *state;
    assert_int_equal(cublasSgemm_v2(handle, CUBLAS_OP_T, CUBLAS_OP_N, 100, 20, 30, &one, (float *)memory, 30,
                                    (float *)memory, 30, &zero, (float *)memory, 100),
                     0);
    assert_int_equal(seen_ex, 1);
    assert_int_equal(seen_lt, 1);
    json_t *lines = ledger_read();
    static const char *const functions[] = {"cublasLtMatmul", "cublasGemmEx", "cublasSgemm_v2"};
    json_int_t outer = 0;
    for (int i = 2; i >= 0; i--) {
        json_t *call = ledger_line(lines, "call", functions[i], 0);
        assert_non_null(call);
        json_t *args = json_object_get(call, "args");
        assert_int_equal(json_integer_value(json_object_get(args, "m")), 100);
        assert_int_equal(json_integer_value(json_object_get(args, "n")), 20);
        assert_int_equal(json_integer_value(json_object_get(args, "k")), 30);
        assert_true(json_number_value(json_object_get(args, "flops")) == 2.0 * 100 * 20 * 30);
        assert_true(json_number_value(json_object_get(args, "bytes")) == 4.0 * (100 * 30 + 30 * 20 + 100 * 20));
        assert_int_equal(json_is_true(json_object_get(call, "nested")), i != 2);
        assert_int_equal(json_integer_value(json_object_get(call, "outer")), outer);
        outer = json_integer_value(json_object_get(call, "call"));
    }
    assert_int_equal(ledger_count(lines, "call", NULL), 3);
    /* gemm_kernels = 2: the product and a reduction, both under the innermost call. */
    assert_int_equal(ledger_count(lines, "kernel", NULL), 2);
    json_t *reduce = ledger_line(lines, "kernel", NULL, 1);
    assert_string_equal(json_string_value(json_object_get(reduce, "name")), "simgemm_splitK_reduce_fp32");
    assert_int_equal(json_integer_value(json_object_get(reduce, "call")), outer);
    json_decref(lines);
}

static void batches_nest_too(void **state)
{
    cublasHandle_t handle = *state;
    const int before = seen_lt;
    ledger_reset();
    assert_int_equal(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 9, 10, &one, (float *)memory, 8, 0,
                                               (float *)memory, 10, 90, &zero, (float *)memory, 8, 72, 3),
                     0);
    const float *const *arrays = (const float *const *)nowhere_address; /* on the device: nobody reads it */
    assert_int_equal(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 9, 10, &one, arrays, 8, arrays, 10, &zero,
                                        (float *const *)nowhere_address, 8, 3),
                     0);
    assert_int_equal(seen_lt, before + 2);
    json_t *lines = ledger_read();
    json_t *strided = json_object_get(ledger_line(lines, "call", "cublasLtMatmul", 0), "args");
    json_t *pointers = json_object_get(ledger_line(lines, "call", "cublasLtMatmul", 1), "args");
    assert_true(json_number_value(json_object_get(strided, "bytes")) == 4.0 * (80 + 3 * 90 + 3 * 72));
    assert_true(json_number_value(json_object_get(pointers, "bytes")) == 4.0 * 3 * (80 + 90 + 72));
    assert_int_equal(json_integer_value(json_object_get(pointers, "A_batch_mode")), 1);
    json_decref(lines);
}

/* A call of cublasXt is a call of cuBLAS inside, which nests in turn. */
static void xt_nests(void **state)
{
    cublasXtHandle_t xt = NULL;
    int device = 0;
    (void)state;
    assert_int_equal(cublasXtCreate(&xt) || cublasXtDeviceSelect(xt, 1, &device), 0);
    ledger_reset();
    assert_int_equal(cublasXtSgemm(xt, CUBLAS_OP_N, CUBLAS_OP_N, 8, 9, 10, &one, (float *)memory, 8, (float *)memory,
                                   10, &zero, (float *)memory, 8),
                     0);
    json_t *lines = ledger_read();
    json_t *outer = ledger_line(lines, "call", "cublasXtSgemm", 0);
    json_t *inner = ledger_line(lines, "call", "cublasSgemm_v2_64", 0);
    assert_false(json_is_true(json_object_get(outer, "nested")));
    assert_true(json_is_true(json_object_get(inner, "nested")));
    assert_int_equal(json_integer_value(json_object_get(inner, "outer")),
                     json_integer_value(json_object_get(outer, "call")));
    assert_true(json_number_value(json_object_get(json_object_get(outer, "args"), "flops")) == 2.0 * 8 * 9 * 10);
    assert_int_equal(ledger_count(lines, "kernel", NULL), 2);
    json_decref(lines);
    cublasXtDestroy(xt);
}

int main(void)
{
    ledger_use("name = nested\npci_device_id = 0x1\nsm_count = 100\ncompute_capability = 9.0\n"
               "memory_bytes = 1000000000\nbytes_per_second = 1e12\nflops_per_second.fp32 = 1e14\n"
               "gemm_nested = 1\ngemm_kernels = 2\n");
    cublasHandle_t handle = NULL;
    if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS)
        return 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(three_layers, handle),
        cmocka_unit_test_prestate(batches_nest_too, handle),
        cmocka_unit_test(xt_nests),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cublasDestroy_v2(handle);
    return failed;
}
