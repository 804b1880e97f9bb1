/* SPDX-License-Identifier: Apache-2.0 */
/* Grouped products as a mixture of experts makes them: `e2e_grouped CALLS`. Each step routes tokens to experts anew, by the
 * step's number alone: some get none. One call of bf16 a step, every other step one of float with a beta for each group. */
#include <cublasXt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "gemms.h"

enum { EXPERTS = 48, WIDTH = 64, INNER = 192 };

static struct gemms gemms;
static cublasOperation_t transa[EXPERTS], transb[EXPERTS];
static int m[EXPERTS], n[EXPERTS], k[EXPERTS], lda[EXPERTS], ldb[EXPERTS], ldc[EXPERTS], size[EXPERTS];
static float alpha[EXPERTS], beta[EXPERTS];
static void *matrices[1]; /* read by no kernel */

static void route(int step)
{
    for (int i = 0; i < EXPERTS; i++) {
        transa[i] = CUBLAS_OP_T;
        transb[i] = CUBLAS_OP_N;
        m[i] = INNER;
        n[i] = (i * 7 + step * 5) % 11; /* tokens */
        k[i] = WIDTH;
        lda[i] = ldb[i] = WIDTH;
        ldc[i] = INNER;
        size[i] = 1 + (i % 3 == 0);
        alpha[i] = 1;
        beta[i] = (float)((i + step) % 2);
    }
    size[step % EXPERTS] = 0;
}

static int of_bf16(void)
{
    float zeros[EXPERTS] = {0};
    const void *const *inputs = (const void *const *)(const void *)matrices;
    return cublasGemmGroupedBatchedEx(gemms.blas, transa, transb, m, n, k, alpha, inputs, CUDA_R_16BF, lda, inputs,
                                      CUDA_R_16BF, ldb, zeros, matrices, CUDA_R_16BF, ldc, EXPERTS, size,
                                      CUBLAS_COMPUTE_32F);
}

static int of_float(void)
{
    const float *const *inputs = (const float *const *)(const void *)matrices;
    return cublasSgemmGroupedBatched(gemms.blas, transa, transb, m, n, k, alpha, inputs, lda, inputs, ldb, beta,
                                     (float *const *)(void *)matrices, ldc, EXPERTS, size);
}

/* C is symmetric products' sum, on the host and over one GPU. */
static int of_xt(void)
{
    static float host[WIDTH * WIDTH];
    const float one = 1, zero = 0;
    int device = 0, status;
    cublasXtHandle_t xt;
    if (cublasXtCreate(&xt) || cublasXtDeviceSelect(xt, 1, &device))
        return -1;
    status = cublasXtSsyrk(xt, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, WIDTH, 16, &one, host, WIDTH, &zero, host, WIDTH);
    cublasXtDestroy(xt);
    return status;
}

int main(int count, char **arguments)
{
    int steps = count > 1 ? atoi(arguments[1]) : 0, failed = !gemms_open(&gemms);
    for (int step = 0; step < steps && !failed; step++) {
        route(step);
        failed |= of_bf16() != 0;
        failed |= step % 2 && of_float() != 0;
    }
    failed |= of_xt() != 0;
    cudaStreamSynchronize(gemms.stream);
    return failed;
}
