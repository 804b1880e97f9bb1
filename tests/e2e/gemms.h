/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix multiplies for the programs of this folder, as a library of its own: programs that only load it, as Python does
 * with PyTorch's, have not used CUDA yet. */
#ifndef TESTS_E2E_GEMMS_H
#define TESTS_E2E_GEMMS_H

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>

#define GEMMS_API __attribute__((visibility("default")))

/* One a thread: a handle and a stream. */
struct gemms {
    cublasHandle_t blas;
    cublasLtHandle_t lt;
    cudaStream_t stream;
    void *memory; /* kernels of the simulated GPU do nothing, so that all operands may lie here */
};

GEMMS_API bool gemms_open(struct gemms *gemms);

/* C[m][n] = A[m][k] B[k][n], column-major, not transposed; each returns the library's status. */
GEMMS_API int gemms_ex(struct gemms *gemms, int m, int n, int k);    /* cublasGemmEx, bf16 */
GEMMS_API int gemms_sgemm(struct gemms *gemms, int m, int n, int k); /* cublasSgemm_v2 */
GEMMS_API int gemms_lt(struct gemms *gemms, int m, int n, int k);    /* cublasLtMatmul, bf16 */

/* For callers that have no struct: opens one for the process at the first call. COUNT calls of gemms_ex; how many failed. */
GEMMS_API int gemms_run(int count, int m, int n, int k);

#endif
