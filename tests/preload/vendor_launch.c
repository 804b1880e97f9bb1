/* SPDX-License-Identifier: Apache-2.0 */
/* The vendor types and numbers of launches, for which small header packages are enough. Compiled with our types, and with
 * the vendor's headers in both forms (per-thread default stream or not, which decides what they declare): vendor_compare.c
 * compares sizes and offsets; numbers and prototypes that differ don't compile. __cudaLaunchKernel and the registrations
 * are in headers for nvcc alone and not compared. */
#ifdef PRELOAD_VENDOR_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <library_types.h>
#define ROWS vendor_rows
#else
#define ROWS our_rows
#endif
#include "preload/cublas_types.h"
#include "tests/preload/vendor_compare.h"

const struct vendor_row ROWS[] = {
    SIZE(dim3),
    SIZE(uint3),
    SIZE(cudaError_t),
    SIZE(CUresult),
    SIZE(cudaDataType),
    OFFSET(cudaLaunchConfig_t, gridDim),
    OFFSET(cudaLaunchConfig_t, blockDim),
    OFFSET(cudaLaunchConfig_t, dynamicSmemBytes),
    OFFSET(cudaLaunchConfig_t, stream),
    SIZE(cudaLaunchConfig_t),
    OFFSET(CUlaunchConfig, gridDimX),
    OFFSET(CUlaunchConfig, blockDimZ),
    OFFSET(CUlaunchConfig, sharedMemBytes),
    OFFSET(CUlaunchConfig, hStream),
    SIZE(CUlaunchConfig),
    {0},
};

#ifdef PRELOAD_VENDOR_HEADERS
SAME(VENDOR_CUDART_NOT_SUPPORTED, cudaErrorNotSupported);
SAME(VENDOR_DRIVER_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
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
SAME(VENDOR_STREAM_PER_THREAD, (uintptr_t)cudaStreamPerThread);

#define LAUNCH(result, missing, symbol, parameters, arguments, ...) result symbol parameters;
#define NOTED(result, missing, symbol, parameters, arguments, ...)
#include "preload/launch_calls.def"

SAME(VENDOR_COPY_HOST_TO_HOST, cudaMemcpyHostToHost);
SAME(VENDOR_COPY_HOST_TO_DEVICE, cudaMemcpyHostToDevice);
SAME(VENDOR_COPY_DEFAULT, cudaMemcpyDefault);
#define COPY(result, missing, symbol, parameters, arguments, ...) result symbol parameters;
#define ENDS(result, missing, symbol, parameters, arguments, ...) result symbol parameters;
#include "preload/copy_calls.def"
#endif
