/* SPDX-License-Identifier: Apache-2.0 */
/* What all sources of the stand-in cuBLAS and cuBLASLt share: the generated public types, the few element types that
 * the public C headers leave to C++, and the context behind a handle. */
#ifndef SIM_BLAS_BLAS_H
#define SIM_BLAS_BLAS_H

#include "sim/core/simgpu.h"

#include <cublasLt.h>
#include <cublasXt.h>
#include <cublas_api.h>
#include <stdbool.h>

#ifndef SIM_BLAS_API /* an archive keeps its names to the program */
#define SIM_BLAS_API __attribute__((visibility("default")))
#endif
/* The major follows CUDA's; minor and patch are those of the releases that came with CUDA 13.0 and 12.8. */
#if SIM_CUDA_MAJOR >= 13
#define SIM_BLAS_VERSION_MINOR 1
#define SIM_BLAS_VERSION_PATCH 0
#else
#define SIM_BLAS_VERSION_MINOR 8
#define SIM_BLAS_VERSION_PATCH 4
#endif
#define SIM_BLAS_VERSION (SIM_CUDA_MAJOR * 10000 + SIM_BLAS_VERSION_MINOR * 100 + SIM_BLAS_VERSION_PATCH)

typedef struct {
    unsigned short x;
} __half;
typedef struct {
    unsigned short x;
} __nv_bfloat16;
typedef cublasStatus_t cublasStatus;

/* A cublasHandle_t is accepted as a cublasLtHandle_t too, as the public documentation allows. */
struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasMath_t math_mode;
    cublasAtomicsMode_t atomics_mode;
    cublasEmulationStrategy_t emulation_strategy;
    int sm_count_target;
    void *workspace;
    size_t workspace_bytes;
};

struct cublasXtContext {
    struct cublasContext inner; /* what its calls run on */
    int devices;                /* selected; 0: none yet, and no call is taken */
    int block_dim;
    cublasXtPinnedMemMode_t pinning;
};

struct cublasLtContext {
    int unused;
};

#endif
