/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with the runtime, cuBLAS and cuBLASLt by SONAME, as a framework's library is. */
#include "gemms.h"

static const float one = 1, zero = 0;

bool gemms_open(struct gemms *gemms)
{
    return cudaStreamCreateWithFlags(&gemms->stream, cudaStreamNonBlocking) == cudaSuccess &&
           cudaMalloc(&gemms->memory, 1 << 16) == cudaSuccess && cublasCreate(&gemms->blas) == CUBLAS_STATUS_SUCCESS &&
           cublasSetStream(gemms->blas, gemms->stream) == CUBLAS_STATUS_SUCCESS &&
           cublasLtCreate(&gemms->lt) == CUBLAS_STATUS_SUCCESS;
}

int gemms_ex(struct gemms *gemms, int m, int n, int k)
{
    void *x = gemms->memory;
    return cublasGemmEx(gemms->blas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, x, CUDA_R_16BF, m, x, CUDA_R_16BF, k,
                        &zero, x, CUDA_R_16BF, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

int gemms_sgemm(struct gemms *gemms, int m, int n, int k)
{
    float *x = gemms->memory;
    return cublasSgemm(gemms->blas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, x, m, x, k, &zero, x, m);
}

int gemms_lt(struct gemms *gemms, int m, int n, int k)
{
    void *x = gemms->memory;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&a, CUDA_R_16BF, (uint64_t)m, (uint64_t)k, m);
    cublasLtMatrixLayoutCreate(&b, CUDA_R_16BF, (uint64_t)k, (uint64_t)n, k);
    cublasLtMatrixLayoutCreate(&d, CUDA_R_16BF, (uint64_t)m, (uint64_t)n, m);
    int status =
        cublasLtMatmul(gemms->lt, operation, &one, x, a, x, b, &zero, x, d, x, d, NULL, NULL, 0, gemms->stream);
    cublasLtMatmulDescDestroy(operation);
    cublasLtMatrixLayoutDestroy(a);
    cublasLtMatrixLayoutDestroy(b);
    cublasLtMatrixLayoutDestroy(d);
    return status;
}

int gemms_run(int count, int m, int n, int k)
{
    static struct gemms gemms;
    int failed = 0;
    if (!gemms.blas && !gemms_open(&gemms))
        return count;
    for (int i = 0; i < count; i++)
        failed += gemms_ex(&gemms, m, n, k) != CUBLAS_STATUS_SUCCESS;
    if (cudaStreamSynchronize(gemms.stream) != cudaSuccess)
        return count;
    return failed;
}
