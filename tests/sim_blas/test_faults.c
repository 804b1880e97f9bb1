/* SPDX-License-Identifier: Apache-2.0 */
/* SIMGPU_FAULT reaches both libraries, work and helpers alike, and the ledger says what was returned. */
#include "ledger.h"
#include "sim_blas_all.h"

#include <stdio.h>
#include <stdlib.h>

static int failures;

static void expect(const char *what, long got, long wanted)
{
    if (got == wanted)
        return;
    fprintf(stderr, "%s: expected %ld, got %ld\n", what, wanted, got);
    failures++;
}

int main(void)
{
    setenv("SIMGPU_FAULT", "cublasGemmEx:14:2,cublasSetStream_v2:3,cublasLtMatmulDescCreate:13,cublasSgemm:16", 1);
    ledger_use(NULL);
    cublasHandle_t handle = NULL;
    cublasLtMatmulDesc_t desc = NULL;
    char memory[64];
    const float one = 1, zero = 0;
    expect("cublasCreate", cublasCreate_v2(&handle), 0);
    for (int i = 1; i <= 3; i++)
        expect("cublasGemmEx",
               cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, memory, CUDA_R_32F, 2, memory, CUDA_R_32F,
                            2, &zero, memory, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
               i == 2 ? 14 : 0);
    expect("cublasSetStream", cublasSetStream_v2(handle, NULL), 3);
    expect("cublasLtMatmulDescCreate", cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), 13);
    cublasSgemm('N', 'N', 2, 2, 2, 1, (float *)memory, 2, (float *)memory, 2, 0, (float *)memory, 2);
    expect("cublasGetError after cublasSgemm", cublasGetError(), 16);
    json_t *lines = ledger_read();
    expect("kernels", (long)ledger_count(lines, "kernel", NULL), 2);
    expect("ledger's status of the second cublasGemmEx",
           json_integer_value(json_object_get(ledger_line(lines, "call", "cublasGemmEx", 1), "status")), 14);
    json_decref(lines);
    expect("cublasDestroy", cublasDestroy_v2(handle), 0);
    return failures != 0;
}
