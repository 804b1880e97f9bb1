/* SPDX-License-Identifier: Apache-2.0 */
/* Ids and names of the functions that we stand in front of, expanded from the tables; and of the few real functions
 * that we only ask. Ids of entries go to the trace with their names; nobody may rely on a number. */
#ifndef PRELOAD_ENTRIES_H
#define PRELOAD_ENTRIES_H

enum entry {
    ENTRY_NONE = 0,
#define CALL(symbol, ...)        ENTRY_##symbol,
#define CALL_LEGACY(symbol, ...) ENTRY_##symbol,
#define DESCRIPTOR(symbol, ...)  ENTRY_##symbol,
#include "preload/cublas_calls.def"
#define LAUNCH(result, missing, symbol, ...) ENTRY_##symbol,
#define NOTED(result, missing, symbol, ...)  ENTRY_##symbol,
#include "preload/launch_calls.def"
#define LOOKUP(result, missing, symbol, ...) ENTRY_##symbol,
#include "preload/lookup_calls.def"
#define CLIENT(symbol, ...) ENTRY_##symbol,
#include "preload/cupti_calls.def"
#define GRAPH(result, missing, symbol, ...) ENTRY_##symbol,
#include "preload/capture_calls.def"
#define COPY(result, missing, symbol, ...) ENTRY_##symbol,
#define ENDS(result, missing, symbol, ...) ENTRY_##symbol,
#include "preload/copy_calls.def"
    ENTRY_COUNT, /* entries: 1 .. ENTRY_COUNT - 1; from here on functions that we ask and don't stand in front of */
    ASKED_cublasGetPointerMode_v2 = ENTRY_COUNT,
    ASKED_cublasGetMathMode,
    ASKED_cublasGetStream_v2,
    ASKED_cublasLtMatmulDescGetAttribute,
    ASKED_cublasLtMatrixLayoutGetAttribute,
    ASKED_cudaRuntimeGetVersion,
    ASKED_cudaGetFuncBySymbol,
    ASKED_cudaFuncGetParamInfo,
    ASKED_cudaPeekAtLastError,
    ASKED_cudaGetLastError,
    SYMBOL_COUNT,
};

/* ID below SYMBOL_COUNT; "" for ENTRY_NONE. */
const char *entry_name(unsigned id);

#endif
