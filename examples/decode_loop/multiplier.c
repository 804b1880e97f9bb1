/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS is column-major: a row-major x[batch][inputs] is its inputs x batch matrix, so that the weight is operand A,
 * transposed, m counts outputs and n the batch. Every status is looked at. */
#include "multiplier.h"

#include <stdio.h>

#define WORKSPACE_BYTES (32u << 20) /* what is recommended for Hopper; smaller devices need less */

bool multiplier_cuda_ok(cudaError_t status, const char *what)
{
    if (status != cudaSuccess)
        fprintf(stderr, "decode_loop: %s: %s\n", what, cudaGetErrorString(status));
    return status == cudaSuccess;
}

static bool blas_ok(cublasStatus_t status, const char *what)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        fprintf(stderr, "decode_loop: %s: %s\n", what, cublasGetStatusName(status));
    return status == CUBLAS_STATUS_SUCCESS;
}

#define BLAS_OK(what, call) blas_ok(call, what)

bool multiplier_open(struct multiplier *multiplier)
{
    *multiplier = (struct multiplier){.workspace_bytes = WORKSPACE_BYTES};
    return multiplier_cuda_ok(cudaStreamCreateWithFlags(&multiplier->stream, cudaStreamNonBlocking),
                              "cudaStreamCreateWithFlags") &&
           multiplier_cuda_ok(cudaMalloc(&multiplier->workspace, WORKSPACE_BYTES), "cudaMalloc of the workspace") &&
           BLAS_OK("cublasCreate", cublasCreate(&multiplier->blas)) &&
           BLAS_OK("cublasSetStream", cublasSetStream(multiplier->blas, multiplier->stream)) &&
           BLAS_OK("cublasSetWorkspace",
                   cublasSetWorkspace(multiplier->blas, multiplier->workspace, multiplier->workspace_bytes)) &&
           BLAS_OK("cublasLtCreate", cublasLtCreate(&multiplier->lt));
}

bool multiplier_close(struct multiplier *multiplier)
{
    bool good = true;
    if (multiplier->lt)
        good &= BLAS_OK("cublasLtDestroy", cublasLtDestroy(multiplier->lt));
    if (multiplier->blas)
        good &= BLAS_OK("cublasDestroy", cublasDestroy(multiplier->blas));
    good &= multiplier_cuda_ok(cudaFree(multiplier->workspace), "cudaFree");
    if (multiplier->stream)
        good &= multiplier_cuda_ok(cudaStreamDestroy(multiplier->stream), "cudaStreamDestroy");
    return good;
}

bool multiplier_run(struct multiplier *multiplier, const void *weight, const void *input, void *output, int batch,
                    int outputs, int inputs)
{
    const float alpha = 1, beta = 0;
    multiplier->gemms++;
    multiplier->flops += 2.0 * batch * outputs * inputs;
    return BLAS_OK("cublasGemmEx", cublasGemmEx(multiplier->blas, CUBLAS_OP_T, CUBLAS_OP_N, outputs, batch, inputs,
                                                &alpha, weight, CUDA_R_16BF, inputs, input, CUDA_R_16BF, inputs, &beta,
                                                output, CUDA_R_16BF, outputs, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

/* ---- with a bias ---- */

struct descriptors {
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t weight, input, output;
    cublasLtMatmulPreference_t preference;
};

static bool set_operation(cublasLtMatmulDesc_t operation, const void *bias)
{
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    return BLAS_OK("cublasLtMatmulDescSetAttribute(TRANSA)",
                   cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                                  sizeof transposed)) &&
           BLAS_OK(
               "cublasLtMatmulDescSetAttribute(EPILOGUE)",
               cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue)) &&
           BLAS_OK("cublasLtMatmulDescSetAttribute(BIAS_POINTER)",
                   cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
}

static bool descriptors_create(struct descriptors *made, const void *bias, int batch, int outputs, int inputs,
                               size_t workspace_bytes)
{
    const uint64_t rows = (uint64_t)inputs, count = (uint64_t)batch, results = (uint64_t)outputs;
    return BLAS_OK("cublasLtMatmulDescCreate",
                   cublasLtMatmulDescCreate(&made->operation, CUBLAS_COMPUTE_32F, CUDA_R_32F)) &&
           set_operation(made->operation, bias) &&
           BLAS_OK("cublasLtMatrixLayoutCreate",
                   cublasLtMatrixLayoutCreate(&made->weight, CUDA_R_16BF, rows, results, inputs)) &&
           BLAS_OK("cublasLtMatrixLayoutCreate",
                   cublasLtMatrixLayoutCreate(&made->input, CUDA_R_16BF, rows, count, inputs)) &&
           BLAS_OK("cublasLtMatrixLayoutCreate",
                   cublasLtMatrixLayoutCreate(&made->output, CUDA_R_16BF, results, count, outputs)) &&
           BLAS_OK("cublasLtMatmulPreferenceCreate", cublasLtMatmulPreferenceCreate(&made->preference)) &&
           BLAS_OK("cublasLtMatmulPreferenceSetAttribute",
                   cublasLtMatmulPreferenceSetAttribute(made->preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                        &workspace_bytes, sizeof workspace_bytes));
}

static bool descriptors_destroy(struct descriptors *made)
{
    bool good = true;
    if (made->preference)
        good &= BLAS_OK("cublasLtMatmulPreferenceDestroy", cublasLtMatmulPreferenceDestroy(made->preference));
    cublasLtMatrixLayout_t layouts[] = {made->weight, made->input, made->output};
    for (int i = 0; i < 3; i++)
        if (layouts[i])
            good &= BLAS_OK("cublasLtMatrixLayoutDestroy", cublasLtMatrixLayoutDestroy(layouts[i]));
    if (made->operation)
        good &= BLAS_OK("cublasLtMatmulDescDestroy", cublasLtMatmulDescDestroy(made->operation));
    return good;
}

static bool find_algorithm(struct multiplier *multiplier, const struct descriptors *made,
                           cublasLtMatmulHeuristicResult_t *result)
{
    int found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(multiplier->lt, made->operation, made->weight, made->input, made->output,
                                       made->output, made->preference, 1, result, &found);
    if (!BLAS_OK("cublasLtMatmulAlgoGetHeuristic", status))
        return false;
    if (!found)
        fprintf(stderr, "decode_loop: cublasLtMatmulAlgoGetHeuristic: no algorithm for this shape\n");
    return found > 0;
}

bool multiplier_run_bias(struct multiplier *multiplier, const void *weight, const void *bias, const void *input,
                         void *output, int batch, int outputs, int inputs)
{
    const float alpha = 1, beta = 0;
    struct descriptors made = {0};
    cublasLtMatmulHeuristicResult_t result;
    bool good = descriptors_create(&made, bias, batch, outputs, inputs, multiplier->workspace_bytes) &&
                find_algorithm(multiplier, &made, &result) &&
                BLAS_OK("cublasLtMatmul",
                        cublasLtMatmul(multiplier->lt, made.operation, &alpha, weight, made.weight, input, made.input,
                                       &beta, output, made.output, output, made.output, &result.algo,
                                       multiplier->workspace, multiplier->workspace_bytes, multiplier->stream));
    good = descriptors_destroy(&made) && good;
    multiplier->matmuls++;
    multiplier->flops += 2.0 * batch * outputs * inputs;
    return good;
}
