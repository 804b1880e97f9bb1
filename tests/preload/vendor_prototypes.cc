/* SPDX-License-Identifier: Apache-2.0 */
/* Declares every cuBLAS entry point of our table after the vendor's own headers: a prototype that differs is a compile error.
 * C++, since cublasHgemm and its kin are declared for C++ only. */
#define PRELOAD_VENDOR_HEADERS
#include <cublas.h>
#include <cublasLt.h>
#define CUBLAS_V2_H_ /* cublasXt.h wants it, cublas.h forbids it; what is needed of it is in cublas_api.h */
#include <cublasXt.h>

#include "preload/cublas_types.h"

extern "C" {
#define CALL(symbol, parameters, arguments, ...) cublasStatus_t symbol parameters;
#define CALL_LEGACY(symbol, parameters, arguments, ...) void symbol parameters;
#define DESCRIPTOR(symbol, parameters, arguments, ...) cublasStatus_t symbol parameters;
#include "preload/cublas_calls.def"
}
