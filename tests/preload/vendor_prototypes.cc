/* SPDX-License-Identifier: Apache-2.0 */
/* Declares every entry point of our tables after the vendor's own headers: a prototype that differs is a compile error.
 * C++, since cublasHgemm and its kin are declared for C++ only. crt/device_functions.h, which has __cudaLaunchKernel, is for
 * nvcc alone and not compared. */
#define PRELOAD_VENDOR_HEADERS
#include <cublas.h>
#include <cublasLt.h>
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "preload/cublas_types.h"

extern "C" {
#define CALL(symbol, parameters, arguments, ...) cublasStatus_t symbol parameters;
#define CALL_LEGACY(symbol, parameters, arguments, ...) void symbol parameters;
#define DESCRIPTOR(symbol, parameters, arguments, ...) cublasStatus_t symbol parameters;
#include "preload/cublas_calls.def"
#define LAUNCH(result, missing, symbol, parameters, arguments, ...) result symbol parameters;
#define NOTED(result, missing, symbol, parameters, arguments, ...)
#include "preload/launch_calls.def"
}
