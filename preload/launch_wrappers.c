/* SPDX-License-Identifier: Apache-2.0 */
/* Expands launch_calls.def into the functions that programs and nvcc's host stubs call instead of the libraries'. */
#include "preload/cublas_types.h"
#include "preload/entries.h"
#include "preload/kernel_names.h"
#include "preload/launch_record.h"
#include "preload/length_rules.h"
#include "preload/real_symbol.h"

/* clang-format off */

#define KERNEL(key) shape.kernel = (const void *)(key)
#define FUNCTION(f) event.function = (f)
#define PARAMETERS(array) event.parameters = (array)
#define DIMS(gx, gy, gz, bx, by, bz)                                                                                     \
    shape.grid_xy = memo_pair(gx, gy), shape.block_xy = memo_pair(bx, by), shape.grid_z_block_z = memo_pair(gz, bz)
#define DIM3(g, b) DIMS((g).x, (g).y, (g).z, (b).x, (b).y, (b).z)
#define SHARED(bytes) shape.entry_shared |= (uint64_t)(bytes) << 32
#define STREAM(stream_, default_) event.stream = (uint64_t)(uintptr_t)(stream_), event.default_stream = (default_)
#define RUNTIME_CONFIG(config_, default_)                                                                                \
    CONFIG_SIZES, event.runtime_config = (config_), event.default_stream = (default_)
#define DRIVER_CONFIG(config_, default_)                                                                                 \
    CONFIG_SIZES, event.driver_config = (config_), event.default_stream = (default_)
#define CONFIG_SIZES DIMS(0, 0, 0, 0, 0, 0), SHARED(0)
/* Every byte of a shape is set here or by the words of the table. */
#define FILL(entry_id, ...)                                                                                              \
    (event.incarnation = incarnation, shape.entry_shared = (entry_id), shape.kernel = NULL, event.stream = 0, event.function = NULL, event.runtime_config = NULL,                \
     event.driver_config = NULL, __VA_ARGS__)

#define LENGTH_LAUNCH                                                                                                    \
    {.kernel = shape.kernel, .function = event.function, .parameters = event.parameters,                                \
     .grid = {(uint32_t)shape.grid_xy, (uint32_t)(shape.grid_xy >> 32), (uint32_t)shape.grid_z_block_z},                \
     .stream = event.stream, .call_id = event.call_id}

/* ---- prototypes ---- */
#define LAUNCH(result, missing, symbol, parameters, arguments, ...) PRELOAD_EXPORT result symbol parameters;
#define NOTED(result, missing, symbol, parameters, arguments, note) PRELOAD_EXPORT result symbol parameters;
#include "preload/launch_calls.def"

/* ---- bodies ---- */
#define LAUNCH(result, missing, symbol, parameters, arguments, ...)                                                      \
    result symbol parameters                                                                                             \
    {                                                                                                                    \
        result(*real) parameters = real_symbol_called(ENTRY_##symbol);                                                   \
        if (__builtin_expect(!real, 0)) {                                                                                \
            real = real_symbol_find(ENTRY_##symbol, __builtin_return_address(0));                                        \
            if (!real)                                                                                                   \
                return missing;                                                                                          \
        }                                                                                                                \
        uint64_t incarnation;                                                                                            \
        struct trace_thread *thread = launch_record_thread(&incarnation);                                                \
        if (!thread)                                                                                                     \
            return real arguments;                                                                                       \
        struct launch_shape shape;                                                                                       \
        struct launch_event event;                                                                                       \
        FILL(ENTRY_##symbol, __VA_ARGS__);                                                                               \
        launch_record_begin(thread, &shape, &event);                                                                     \
        result status = real arguments;                                                                                  \
        launch_record_end(&shape, &event, (int)status);                                                                  \
        if (__builtin_expect(atomic_load_explicit(&length_rules_now, memory_order_relaxed), 0) && status == VENDOR_SUCCESS) \
            length_rules_launched(&(const struct length_launch)LENGTH_LAUNCH);                                           \
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
