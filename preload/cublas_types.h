/* SPDX-License-Identifier: Apache-2.0 */
/* The few vendor types and numbers that the wrappers need, so that no toolkit is needed to build them. Enumerations are
 * passed as int, as the C ABI does. tests/preload/vendor_*.c define PRELOAD_VENDOR_HEADERS, include the real
 * headers first and compare every prototype, size, offset and number with these. */
#ifndef PRELOAD_CUBLAS_TYPES_H
#define PRELOAD_CUBLAS_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifndef PRELOAD_VENDOR_HEADERS
typedef int cublasStatus_t;
typedef int cublasOperation_t;
typedef int cublasFillMode_t;
typedef int cublasSideMode_t;
typedef int cublasDiagType_t;
typedef int cublasComputeType_t;
typedef int cublasGemmAlgo_t;
typedef int cublasPointerMode_t;
typedef int cublasMath_t;
typedef int cudaDataType;
typedef int cudaError_t;
typedef int CUresult;
typedef struct cublasContext *cublasHandle_t;
typedef struct cublasXtContext *cublasXtHandle_t;
typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct cublasLtMatmulDescOpaque *cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayoutOpaque *cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulAlgo cublasLtMatmulAlgo_t;
typedef int cublasLtMatmulDescAttributes_t;
typedef int cublasLtMatrixLayoutAttribute_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUstream_st *CUstream;
typedef struct CUfunc_st *CUfunction;
typedef struct CUctx_st *CUcontext;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
enum cudaMemcpyKind { cudaMemcpyHostToHost = 0 }; /* as wide as the vendor's */
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUlib_st *cudaLibrary_t;
typedef struct cuComplex {
    float x, y;
} __attribute__((aligned(8))) cuComplex;
typedef struct cuDoubleComplex {
    double x, y;
} __attribute__((aligned(16))) cuDoubleComplex;
typedef struct __half {
    uint16_t bits;
} __half;
typedef struct __nv_bfloat16 {
    uint16_t bits;
} __nv_bfloat16;
typedef struct dim3 {
    unsigned x, y, z;
} dim3;
typedef struct uint3 {
    unsigned x, y, z;
} uint3;
typedef struct cudaLaunchConfig_st {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    void *attrs;
    unsigned numAttrs;
} cudaLaunchConfig_t;
typedef struct CUlaunchConfig_st {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    void *attrs;
    unsigned numAttrs;
} CUlaunchConfig;
#endif

/* What a wrapper answers when no real function can be found: the library's own words for it. */
enum vendor_status {
    VENDOR_SUCCESS = 0,
    VENDOR_CUBLAS_NOT_INITIALIZED = 1, /* CUBLAS_STATUS_NOT_INITIALIZED */
    VENDOR_CUDART_NOT_SUPPORTED = 801, /* cudaErrorNotSupported */
    VENDOR_DRIVER_NOT_INITIALIZED = 3, /* CUDA_ERROR_NOT_INITIALIZED */
};

enum vendor_operation { VENDOR_OP_N = 0, VENDOR_OP_T = 1, VENDOR_OP_C = 2 };     /* CUBLAS_OP_* */
enum vendor_fill { VENDOR_FILL_LOWER = 0, VENDOR_FILL_UPPER = 1 };               /* CUBLAS_FILL_MODE_* */
enum vendor_side { VENDOR_SIDE_LEFT = 0, VENDOR_SIDE_RIGHT = 1 };                /* CUBLAS_SIDE_* */
enum vendor_diagonal { VENDOR_DIAGONAL_NON_UNIT = 0, VENDOR_DIAGONAL_UNIT = 1 }; /* CUBLAS_DIAG_* */
enum vendor_pointer_mode { /* cublasLtPointerMode_t; cuBLAS has the first two */
                           VENDOR_POINTER_HOST = 0,
                           VENDOR_POINTER_DEVICE = 1,
                           VENDOR_POINTER_DEVICE_VECTOR = 2,
                           VENDOR_POINTER_ALPHA_VECTOR_BETA_ZERO = 3,
                           VENDOR_POINTER_ALPHA_VECTOR_BETA_HOST = 4,
};

/* clang-format off */
enum vendor_type { /* cudaDataType */
    VENDOR_R_32F = 0, VENDOR_R_64F = 1, VENDOR_R_16F = 2, VENDOR_C_32F = 4, VENDOR_C_64F = 5, VENDOR_C_16F = 6,
    VENDOR_R_32I = 10, VENDOR_C_32I = 11, VENDOR_R_16BF = 14, VENDOR_C_16BF = 15,
    VENDOR_R_8I = 3, VENDOR_C_8I = 7, VENDOR_R_8U = 8,
};

enum vendor_compute { /* cublasComputeType_t */
    VENDOR_COMPUTE_16F = 64, VENDOR_COMPUTE_16F_PEDANTIC = 65, VENDOR_COMPUTE_32F = 68, VENDOR_COMPUTE_32F_PEDANTIC = 69,
    VENDOR_COMPUTE_64F = 70, VENDOR_COMPUTE_64F_PEDANTIC = 71, VENDOR_COMPUTE_32I = 72, VENDOR_COMPUTE_32I_PEDANTIC = 73,
    VENDOR_COMPUTE_32F_FAST_16F = 74, VENDOR_COMPUTE_32F_FAST_16BF = 75, VENDOR_COMPUTE_32F_FAST_TF32 = 77,
    VENDOR_COMPUTE_32F_EMULATED_16BFX9 = 78, VENDOR_COMPUTE_64F_EMULATED_FIXEDPOINT = 79,
};
/* clang-format on */

/* cudaMemcpyKind */
enum vendor_copy { VENDOR_COPY_HOST_TO_HOST = 0, VENDOR_COPY_HOST_TO_DEVICE = 1, VENDOR_COPY_DEFAULT = 4 };
enum vendor_stream { VENDOR_STREAM_PER_THREAD = 2 }; /* cudaStreamPerThread: what NULL means to the _ptsz functions */

enum { VENDOR_EPILOGUE_DEFAULT = 1 };

#endif
