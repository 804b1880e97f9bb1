/* SPDX-License-Identifier: Apache-2.0 */
/* Never compiled: run through the preprocessor, it turns the tables into lines that generate.py reads. */
#define CALL(symbol, parameters, arguments, ...)        @CALL cublasStatus_t symbol parameters @
#define CALL_LEGACY(symbol, parameters, arguments, ...) @LEGACY void symbol parameters @
#define DESCRIPTOR(symbol, parameters, arguments, ...)  @DESCRIPTOR cublasStatus_t symbol parameters @
#include "preload/cublas_calls.def"
#define LAUNCH(result, missing, symbol, parameters, arguments, ...) @LAUNCH result symbol parameters @
#define NOTED(result, missing, symbol, parameters, arguments, ...)  @NOTED result symbol parameters @
#include "preload/launch_calls.def"
#define LOOKUP(result, missing, symbol, parameters, arguments, ...) @LOOKUP result symbol parameters @
#include "preload/lookup_calls.def"
#define CLIENT(symbol, parameters, arguments, shares) @CLIENT int symbol parameters @
#include "preload/cupti_calls.def"
#define COPY(result, missing, symbol, parameters, arguments, ...) @LOOKUP result symbol parameters @
#define ENDS(result, missing, symbol, parameters, arguments, ...) @LOOKUP result symbol parameters @
#include "preload/copy_calls.def"
#define GRAPH(result, missing, symbol, parameters, arguments, ...) @GRAPH result symbol parameters @
#include "preload/capture_calls.def"
