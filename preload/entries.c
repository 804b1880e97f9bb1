/* SPDX-License-Identifier: Apache-2.0 */
/* The names, by id. */
#include "preload/entries.h"

static const char *const entry_names[SYMBOL_COUNT] = {
    [ENTRY_NONE] = "",
#define CALL(symbol, ...)        [ENTRY_##symbol] = #symbol,
#define CALL_LEGACY(symbol, ...) [ENTRY_##symbol] = #symbol,
#define DESCRIPTOR(symbol, ...)  [ENTRY_##symbol] = #symbol,
#include "preload/cublas_calls.def"
#define LAUNCH(result, missing, symbol, ...) [ENTRY_##symbol] = #symbol,
#define NOTED(result, missing, symbol, ...)  [ENTRY_##symbol] = #symbol,
#include "preload/launch_calls.def"
#define LOOKUP(result, missing, symbol, ...) [ENTRY_##symbol] = #symbol,
#include "preload/lookup_calls.def"
    [ASKED_cublasGetPointerMode_v2] = "cublasGetPointerMode_v2",
    [ASKED_cublasGetMathMode] = "cublasGetMathMode",
    [ASKED_cublasGetStream_v2] = "cublasGetStream_v2",
    [ASKED_cublasLtMatmulDescGetAttribute] = "cublasLtMatmulDescGetAttribute",
    [ASKED_cublasLtMatrixLayoutGetAttribute] = "cublasLtMatrixLayoutGetAttribute",
    [ASKED_cudaRuntimeGetVersion] = "cudaRuntimeGetVersion",
};

const char *entry_name(unsigned id)
{
    return id < SYMBOL_COUNT ? entry_names[id] : "";
}
