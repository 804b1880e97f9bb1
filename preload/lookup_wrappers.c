/* SPDX-License-Identifier: Apache-2.0 */
/* Expands lookup_calls.def: the real call first, then what it gave out is looked at. */
#include <stdint.h>

#include "preload/cublas_types.h"
#include "preload/driver_entries.h"
#include "preload/entries.h"
#include "preload/preload.h"
#include "preload/real_symbol.h"

/* clang-format off */

/* ---- prototypes ---- */
#define LOOKUP(result, missing, symbol_, parameters, ...) PRELOAD_EXPORT result symbol_ parameters;
#include "preload/lookup_calls.def"

/* ---- bodies ---- */
#define LOOKUP(result, missing, symbol_, parameters, arguments, name, function, version, per_thread)                     \
    result symbol_ parameters                                                                                            \
    {                                                                                                                    \
        result(*real) parameters = real_symbol_get(ENTRY_##symbol_, __builtin_return_address(0));                        \
        if (!real)                                                                                                       \
            return missing;                                                                                              \
        result status = real arguments;                                                                                  \
        if (status == VENDOR_SUCCESS)                                                                                    \
            driver_entries_given(name, function, version, (int)(per_thread), (const void *)real,                         \
                                 __builtin_return_address(0));                                                           \
        return status;                                                                                                   \
    }
#include "preload/lookup_calls.def"

/* clang-format on */
