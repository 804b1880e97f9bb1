/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled twice, with our types and with the vendor's headers: sizes and offsets as each sees them, compared by
 * vendor_headers.c. With the vendor's headers our numbers are asserted too. */
#ifdef PRELOAD_VENDOR_HEADERS
#include <cublasLt.h>
#include <cublas_api.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#define LAYOUT vendor_layout
#else
#define LAYOUT our_layout
#endif
#include "preload/cublas_types.h"
#include "tests/preload/vendor_layout.h"

const size_t LAYOUT[VENDOR_LAYOUT_COUNT] = {
    sizeof(dim3),
    sizeof(cuComplex),
    _Alignof(cuComplex),
    sizeof(cuDoubleComplex),
    _Alignof(cuDoubleComplex),
    offsetof(cudaLaunchConfig_t, gridDim),
    offsetof(cudaLaunchConfig_t, blockDim),
    offsetof(cudaLaunchConfig_t, dynamicSmemBytes),
    offsetof(cudaLaunchConfig_t, stream),
    sizeof(cudaLaunchConfig_t),
    offsetof(CUlaunchConfig, gridDimX),
    offsetof(CUlaunchConfig, blockDimZ),
    offsetof(CUlaunchConfig, sharedMemBytes),
    offsetof(CUlaunchConfig, hStream),
    sizeof(CUlaunchConfig),
    sizeof(cublasOperation_t),
    sizeof(cudaDataType),
    sizeof(cublasComputeType_t),
    sizeof(cublasStatus_t),
    sizeof(cudaError_t),
};

#ifdef PRELOAD_VENDOR_HEADERS
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
SAME(VENDOR_CUBLAS_NOT_INITIALIZED, CUBLAS_STATUS_NOT_INITIALIZED);
SAME(VENDOR_CUDART_NOT_SUPPORTED, cudaErrorNotSupported);
SAME(VENDOR_DRIVER_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
SAME(VENDOR_OP_N, CUBLAS_OP_N);
SAME(VENDOR_OP_T, CUBLAS_OP_T);
SAME(VENDOR_OP_C, CUBLAS_OP_C);
SAME(VENDOR_POINTER_HOST, CUBLASLT_POINTER_MODE_HOST);
SAME(VENDOR_POINTER_HOST, CUBLAS_POINTER_MODE_HOST);
SAME(VENDOR_POINTER_DEVICE, CUBLASLT_POINTER_MODE_DEVICE);
SAME(VENDOR_POINTER_DEVICE, CUBLAS_POINTER_MODE_DEVICE);
SAME(VENDOR_POINTER_DEVICE_VECTOR, CUBLASLT_POINTER_MODE_DEVICE_VECTOR);
SAME(VENDOR_POINTER_ALPHA_VECTOR_BETA_ZERO, CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO);
SAME(VENDOR_POINTER_ALPHA_VECTOR_BETA_HOST, CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST);
SAME(VENDOR_R_32F, CUDA_R_32F);
SAME(VENDOR_R_64F, CUDA_R_64F);
SAME(VENDOR_R_16F, CUDA_R_16F);
SAME(VENDOR_C_32F, CUDA_C_32F);
SAME(VENDOR_C_64F, CUDA_C_64F);
SAME(VENDOR_C_16F, CUDA_C_16F);
SAME(VENDOR_R_32I, CUDA_R_32I);
SAME(VENDOR_C_32I, CUDA_C_32I);
SAME(VENDOR_R_16BF, CUDA_R_16BF);
SAME(VENDOR_C_16BF, CUDA_C_16BF);
SAME(VENDOR_R_8I, CUDA_R_8I);
SAME(VENDOR_C_8I, CUDA_C_8I);
SAME(VENDOR_COMPUTE_16F, CUBLAS_COMPUTE_16F);
SAME(VENDOR_COMPUTE_16F_PEDANTIC, CUBLAS_COMPUTE_16F_PEDANTIC);
SAME(VENDOR_COMPUTE_32F, CUBLAS_COMPUTE_32F);
SAME(VENDOR_COMPUTE_32F_PEDANTIC, CUBLAS_COMPUTE_32F_PEDANTIC);
SAME(VENDOR_COMPUTE_64F, CUBLAS_COMPUTE_64F);
SAME(VENDOR_COMPUTE_64F_PEDANTIC, CUBLAS_COMPUTE_64F_PEDANTIC);
SAME(VENDOR_COMPUTE_32I, CUBLAS_COMPUTE_32I);
SAME(VENDOR_COMPUTE_32I_PEDANTIC, CUBLAS_COMPUTE_32I_PEDANTIC);
SAME(VENDOR_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_32F_FAST_16F);
SAME(VENDOR_COMPUTE_32F_FAST_16BF, CUBLAS_COMPUTE_32F_FAST_16BF);
SAME(VENDOR_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_TF32);
#if CUBLAS_VERSION >= 120900
SAME(VENDOR_COMPUTE_32F_EMULATED_16BFX9, CUBLAS_COMPUTE_32F_EMULATED_16BFX9);
#endif
SAME(VENDOR_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_DEFAULT);
SAME(VENDOR_STREAM_PER_THREAD, (uintptr_t)cudaStreamPerThread);
#define LT_LAYOUT(number, name) SAME(number, CUBLASLT_MATRIX_LAYOUT_##name)
LT_LAYOUT(0, TYPE);
LT_LAYOUT(1, ORDER);
LT_LAYOUT(2, ROWS);
LT_LAYOUT(3, COLS);
LT_LAYOUT(4, LD);
LT_LAYOUT(5, BATCH_COUNT);
LT_LAYOUT(6, STRIDED_BATCH_OFFSET);
#define LT_DESC(number, name) SAME(number, CUBLASLT_MATMUL_DESC_##name)
LT_DESC(0, COMPUTE_TYPE);
LT_DESC(1, SCALE_TYPE);
LT_DESC(2, POINTER_MODE);
LT_DESC(3, TRANSA);
LT_DESC(4, TRANSB);
LT_DESC(7, EPILOGUE);
LT_DESC(8, BIAS_POINTER);
LT_DESC(11, EPILOGUE_AUX_POINTER);
LT_DESC(12, EPILOGUE_AUX_LD);
LT_DESC(17, A_SCALE_POINTER);
LT_DESC(20, D_SCALE_POINTER);
LT_DESC(22, EPILOGUE_AUX_DATA_TYPE);
LT_DESC(26, BIAS_DATA_TYPE);
#if CUBLAS_VERSION >= 120800
LT_DESC(31, A_SCALE_MODE);
LT_DESC(34, D_SCALE_MODE);
#endif
/* lt_shapes.c compares this many bytes of a descriptor: no version may have fewer. */
_Static_assert(sizeof(cublasLtMatrixLayoutOpaque_t) >= 64, "layout");
_Static_assert(sizeof(cublasLtMatmulDescOpaque_t) >= 184, "descriptor");
#endif
