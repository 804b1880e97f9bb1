/* SPDX-License-Identifier: Apache-2.0 */
/* Output = input times a weight's transpose, bf16 with fp32 accumulation, as an inference engine asks cuBLAS for it. */
#ifndef EXAMPLES_DECODE_LOOP_MULTIPLIER_H
#define EXAMPLES_DECODE_LOOP_MULTIPLIER_H

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>

struct multiplier {
    cublasHandle_t blas;
    cublasLtHandle_t lt;
    cudaStream_t stream;
    void *workspace;
    size_t workspace_bytes;
    long long gemms, matmuls;
    double flops;
};

/* All report a failure on standard error and return false. */
bool multiplier_open(struct multiplier *multiplier);
bool multiplier_close(struct multiplier *multiplier);
/* output[batch][outputs] = input[batch][inputs] * weight[outputs][inputs]^T, row-major; by cublasGemmEx. */
bool multiplier_run(struct multiplier *multiplier, const void *weight, const void *input, void *output, int batch,
                    int outputs, int inputs);
/* The same plus bias[outputs]; by cublasLtMatmul, whose epilogue adds it. */
bool multiplier_run_bias(struct multiplier *multiplier, const void *weight, const void *bias, const void *input,
                         void *output, int batch, int outputs, int inputs);

bool multiplier_cuda_ok(cudaError_t status, const char *what);

#endif
