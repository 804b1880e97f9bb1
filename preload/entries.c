/* SPDX-License-Identifier: Apache-2.0 */
/* The names, by id: texts and places in them, since every address in a table is work for the loader in every process. */
#include "preload/entries.h"

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define EACH_ASKED(NAME)                                                                                                 \
    NAME(cublasGetPointerMode_v2) NAME(cublasGetMathMode) NAME(cublasGetStream_v2)                                       \
    NAME(cublasLtMatmulDescGetAttribute) NAME(cublasLtMatrixLayoutGetAttribute) NAME(cudaRuntimeGetVersion)         \
    NAME(cudaGetFuncBySymbol) NAME(cudaFuncGetParamInfo) NAME(cudaPeekAtLastError) NAME(cudaGetLastError)

static const struct {
    char none[1];
#define CALL(symbol, ...)                    char of_##symbol[sizeof #symbol];
#define CALL_LEGACY(symbol, ...)             char of_##symbol[sizeof #symbol];
#define DESCRIPTOR(symbol, ...)              char of_##symbol[sizeof #symbol];
#include "preload/cublas_calls.def"
#define LAUNCH(result, missing, symbol, ...) char of_##symbol[sizeof #symbol];
#define NOTED(result, missing, symbol, ...)  char of_##symbol[sizeof #symbol];
#include "preload/launch_calls.def"
#define LOOKUP(result, missing, symbol, ...) char of_##symbol[sizeof #symbol];
#include "preload/lookup_calls.def"
#define CLIENT(symbol, ...)                  char of_##symbol[sizeof #symbol];
#include "preload/cupti_calls.def"
#define COPY(result, missing, symbol, ...)   char of_##symbol[sizeof #symbol];
#define ENDS(result, missing, symbol, ...)   char of_##symbol[sizeof #symbol];
#include "preload/copy_calls.def"
#define GRAPH(result, missing, symbol, ...)  char of_##symbol[sizeof #symbol];
#include "preload/capture_calls.def"
#define ASKED(symbol)                        char of_##symbol[sizeof #symbol];
    EACH_ASKED(ASKED)
#undef ASKED
} names = {
    .none = "",
#define CALL(symbol, ...)                    .of_##symbol = #symbol,
#define CALL_LEGACY(symbol, ...)             .of_##symbol = #symbol,
#define DESCRIPTOR(symbol, ...)              .of_##symbol = #symbol,
#include "preload/cublas_calls.def"
#define LAUNCH(result, missing, symbol, ...) .of_##symbol = #symbol,
#define NOTED(result, missing, symbol, ...)  .of_##symbol = #symbol,
#include "preload/launch_calls.def"
#define LOOKUP(result, missing, symbol, ...) .of_##symbol = #symbol,
#include "preload/lookup_calls.def"
#define CLIENT(symbol, ...)                  .of_##symbol = #symbol,
#include "preload/cupti_calls.def"
#define COPY(result, missing, symbol, ...)   .of_##symbol = #symbol,
#define ENDS(result, missing, symbol, ...)   .of_##symbol = #symbol,
#include "preload/copy_calls.def"
#define GRAPH(result, missing, symbol, ...)  .of_##symbol = #symbol,
#include "preload/capture_calls.def"
#define ASKED(symbol)                        .of_##symbol = #symbol,
    EACH_ASKED(ASKED)
#undef ASKED
};

#define PLACE(symbol) offsetof(__typeof__(names), of_##symbol)
static const uint16_t places[SYMBOL_COUNT] = {
#define CALL(symbol, ...)                    [ENTRY_##symbol] = PLACE(symbol),
#define CALL_LEGACY(symbol, ...)             [ENTRY_##symbol] = PLACE(symbol),
#define DESCRIPTOR(symbol, ...)              [ENTRY_##symbol] = PLACE(symbol),
#include "preload/cublas_calls.def"
#define LAUNCH(result, missing, symbol, ...) [ENTRY_##symbol] = PLACE(symbol),
#define NOTED(result, missing, symbol, ...)  [ENTRY_##symbol] = PLACE(symbol),
#include "preload/launch_calls.def"
#define LOOKUP(result, missing, symbol, ...) [ENTRY_##symbol] = PLACE(symbol),
#include "preload/lookup_calls.def"
#define CLIENT(symbol, ...)                  [ENTRY_##symbol] = PLACE(symbol),
#include "preload/cupti_calls.def"
#define COPY(result, missing, symbol, ...)   [ENTRY_##symbol] = PLACE(symbol),
#define ENDS(result, missing, symbol, ...)   [ENTRY_##symbol] = PLACE(symbol),
#include "preload/copy_calls.def"
#define GRAPH(result, missing, symbol, ...)  [ENTRY_##symbol] = PLACE(symbol),
#include "preload/capture_calls.def"
#define ASKED(symbol)                        [ASKED_##symbol] = PLACE(symbol),
    EACH_ASKED(ASKED)
#undef ASKED
};
/* clang-format on */

_Static_assert(sizeof names <= UINT16_MAX, "places");

const char *entry_name(unsigned id)
{
    return id < SYMBOL_COUNT ? (const char *)&names + places[id] : "";
}
