/* SPDX-License-Identifier: Apache-2.0 */
/* Expands launch_calls.def into the functions that programs and nvcc's host stubs call instead of the libraries'. */
#include "preload/cublas_types.h"
#include "preload/entries.h"
#include "preload/kernel_names.h"
#include "preload/launch_record.h"
#include "preload/real_symbol.h"

/* clang-format off */

#define KERNEL(key) .kernel = (const void *)(key)
#define DIM3(g, b) .grid = {(g).x, (g).y, (g).z}, .block = {(b).x, (b).y, (b).z}
#define DIMS(gx, gy, gz, bx, by, bz) .grid = {(gx), (gy), (gz)}, .block = {(bx), (by), (bz)}
#define SHARED(bytes) .shared_bytes = (uint32_t)(bytes)
#define STREAM(stream_, default_) .stream = (uint64_t)(uintptr_t)(stream_), .default_stream = (default_)
#define RUNTIME_CONFIG(config_, default_) .runtime_config = (config_), .default_stream = (default_)
#define DRIVER_CONFIG(config_, default_) .driver_config = (config_), .default_stream = (default_)

/* ---- prototypes ---- */
#define LAUNCH(result, missing, symbol, parameters, arguments, ...) PRELOAD_EXPORT result symbol parameters;
#define NOTED(result, missing, symbol, parameters, arguments, note) PRELOAD_EXPORT result symbol parameters;
#include "preload/launch_calls.def"

/* ---- bodies ---- */
#define LAUNCH(result, missing, symbol, parameters, arguments, ...)                                                      \
    result symbol parameters                                                                                             \
    {                                                                                                                    \
        result(*real) parameters = real_symbol_get(ENTRY_##symbol, __builtin_return_address(0));                         \
        if (!real)                                                                                                       \
            return missing;                                                                                              \
        if (!launch_record_wanted())                                                                                     \
            return real arguments;                                                                                       \
        struct launch_request request = {.entry = ENTRY_##symbol, __VA_ARGS__};                                          \
        if (!launch_record_begin(&request))                                                                              \
            return real arguments;                                                                                       \
        result status = real arguments;                                                                                  \
        launch_record_end(&request, (int)status);                                                                        \
        return status;                                                                                                   \
    }

/* A registration that fails leaves a name that no launch will ask for. */
#define NOTED(result, missing, symbol, parameters, arguments, note) NOTED_##result(missing, symbol, parameters, arguments, note)
#define NOTED_void(missing, symbol, parameters, arguments, note)                                                         \
    void symbol parameters                                                                                               \
    {                                                                                                                    \
        void(*real) parameters = real_symbol_get(ENTRY_##symbol, __builtin_return_address(0));                           \
        if (!real)                                                                                                       \
            return;                                                                                                      \
        real arguments;                                                                                                  \
        note;                                                                                                            \
    }
#define NOTED_cudaError_t(missing, symbol, parameters, arguments, note)                                                  \
    cudaError_t symbol parameters                                                                                        \
    {                                                                                                                    \
        cudaError_t(*real) parameters = real_symbol_get(ENTRY_##symbol, __builtin_return_address(0));                    \
        if (!real)                                                                                                       \
            return missing;                                                                                              \
        cudaError_t status = real arguments;                                                                             \
        if (status == VENDOR_SUCCESS)                                                                                    \
            note;                                                                                                        \
        return status;                                                                                                   \
    }
#include "preload/launch_calls.def"

/* clang-format on */
