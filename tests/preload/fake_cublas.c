/* SPDX-License-Identifier: Apache-2.0 */
/* Fake libcublas: handles and nesting. The gemms themselves are generated. */
#include <stdlib.h>

#include "tests/preload/fake.h"

struct cublasContext {
    int pointer_mode, math_mode;
    cudaStream_t stream;
};

int cublasCreate_v2(cublasHandle_t *handle);
int cublasSetPointerMode_v2(cublasHandle_t handle, int mode);
int cublasGetPointerMode_v2(cublasHandle_t handle, int *mode);
int cublasSetMathMode(cublasHandle_t handle, int mode);
int cublasGetMathMode(cublasHandle_t handle, int *mode);
int cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
int cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream);
int cublasGemmEx(cublasHandle_t handle, int transa, int transb, int m, int n, int k, const void *alpha, const void *A,
                 int Atype, int lda, const void *B, int Btype, int ldb, const void *beta, void *C, int Ctype, int ldc,
                 int computeType, int algo);
int cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *A,
                   cublasLtMatrixLayout_t Adesc, const void *B, cublasLtMatrixLayout_t Bdesc, const void *beta,
                   const void *C, cublasLtMatrixLayout_t Cdesc, void *D, cublasLtMatrixLayout_t Ddesc,
                   const cublasLtMatmulAlgo_t *algo, void *workspace, size_t bytes, cudaStream_t stream);

int cublasCreate_v2(cublasHandle_t *handle)
{
    *handle = calloc(1, sizeof **handle);
    return 0;
}

int cublasSetPointerMode_v2(cublasHandle_t handle, int mode)
{
    handle->pointer_mode = mode;
    return 0;
}

int cublasGetPointerMode_v2(cublasHandle_t handle, int *mode)
{
    *mode = handle->pointer_mode;
    return 0;
}

int cublasSetMathMode(cublasHandle_t handle, int mode)
{
    handle->math_mode = mode;
    return 0;
}

int cublasGetMathMode(cublasHandle_t handle, int *mode)
{
    *mode = handle->math_mode;
    return 0;
}

int cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return 0;
}

int cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream)
{
    *stream = handle->stream;
    return 0;
}

static int nested;

__attribute__((constructor)) static void read_environment(void)
{
    nested = getenv("FAKE_NESTED") != NULL;
}

void fake_nest_gemm_ex(void)
{
    if (nested)
        cublasGemmEx(NULL, 0, 0, 1, 1, 1, NULL, NULL, 0, 1, NULL, 0, 1, NULL, NULL, 0, 1, 68, -1);
}

void fake_nest_matmul(void)
{
    if (nested)
        cublasLtMatmul(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL);
}
