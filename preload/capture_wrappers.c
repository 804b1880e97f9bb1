/* SPDX-License-Identifier: Apache-2.0 */
/* Expands capture_calls.def into the functions that programs call instead of the libraries'. */
#include <stdbool.h>

#include "preload/capture_record.h"
#include "preload/capture_types.h"
#include "preload/entries.h"
#include "preload/preload.h"
#include "preload/real_symbol.h"

/* clang-format off */

/* ---- prototypes ---- */
#define GRAPH(result, missing, symbol, parameters, arguments, before, after) PRELOAD_EXPORT result symbol parameters;
#include "preload/capture_calls.def"

/* ---- bodies ---- */
#define GRAPH(result, missing, symbol, parameters, arguments, before, after)                                             \
    result symbol parameters                                                                                             \
    {                                                                                                                    \
        result(*real) parameters = real_symbol_get(ENTRY_##symbol, __builtin_return_address(0));                         \
        if (!real)                                                                                                       \
            return missing;                                                                                              \
        before;                                                                                                          \
        result status = real arguments;                                                                                  \
        const bool succeeded = status == VENDOR_SUCCESS;                                                                 \
        (void)succeeded;                                                                                                 \
        after;                                                                                                           \
        return status;                                                                                                   \
    }
#include "preload/capture_calls.def"

/* clang-format on */
