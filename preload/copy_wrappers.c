/* SPDX-License-Identifier: Apache-2.0 */
/* Expands copy_calls.def into the functions that programs call instead of the libraries'. A copy costs a load while nobody
 * watches what it may fill. */
#include "preload/copy_record.h"

#include <errno.h>

#include "cupti/event_pools.h"
#include "cupti/length_reads.h"
#include "preload/entries.h"
#include "preload/preload.h"
#include "preload/real_symbol.h"
#include "trace/trace_writer.h"

enum { READS_HELD = 1u << EVENT_POOLS }; /* beside the pools' bits */

int copy_device_now(void)
{
    int errno_before = errno, device = -1;
    const struct cuda_driver *driver = cuda_driver_bound();
    if (!copy_needs_contexts() || !driver || !driver->cuCtxGetDevice || driver->cuCtxGetDevice(&device) != 0)
        device = -1;
    errno = errno_before;
    return device;
}

uint32_t copy_context_ends(void *context, int device)
{
    int errno_before = errno;
    uint32_t held = trace_writer_is_open() ? event_pools_hold(context, device) : 0;
    if (trace_writer_is_open() && length_reads_hold(context))
        held |= READS_HELD;
    errno = errno_before;
    return held;
}

/* A primary context that others retain too is released and stays. */
void copy_context_ended(uint32_t held, int device, bool succeeded)
{
    int errno_before = errno, active = 0;
    unsigned flags;
    const struct cuda_driver *driver = cuda_driver_bound();
    if (succeeded && device >= 0 && driver && driver->cuDevicePrimaryCtxGetState &&
        driver->cuDevicePrimaryCtxGetState(device, &flags, &active) != 0)
        active = 0;
    event_pools_release(held & ~READS_HELD, succeeded && !active);
    if (held & READS_HELD)
        length_reads_release(succeeded && !active);
    errno = errno_before;
}

/* clang-format off */

/* ---- prototypes ---- */
#define COPY(result, missing, symbol, parameters, arguments, destination, source, bytes, where, stream) PRELOAD_EXPORT result symbol parameters;
#define ENDS(result, missing, symbol, parameters, arguments, context, device, may_stay) PRELOAD_EXPORT result symbol parameters;
#include "preload/copy_calls.def"

/* ---- bodies ---- */
#define COPY(result, missing, symbol, parameters, arguments, destination, source, bytes, where, stream_)                 \
    result symbol parameters                                                                                             \
    {                                                                                                                    \
        result(*real) parameters = real_symbol_get(ENTRY_##symbol, __builtin_return_address(0));                         \
        if (!real)                                                                                                       \
            return missing;                                                                                              \
        length_reads_before_change();                                                                                    \
        result status = real arguments;                                                                                  \
        if (lengths_are_watched() && status == VENDOR_SUCCESS)                                                           \
            lengths_copied((uint64_t)(uintptr_t)(destination), (const void *)(uintptr_t)(source), bytes, where,          \
                           (void *)(uintptr_t)(stream_));                                                                \
        return status;                                                                                                   \
    }
#define ENDS(result, missing, symbol, parameters, arguments, context, device_, may_stay)                                           \
    result symbol parameters                                                                                             \
    {                                                                                                                    \
        result(*real) parameters = real_symbol_get(ENTRY_##symbol, __builtin_return_address(0));                         \
        if (!real)                                                                                                       \
            return missing;                                                                                              \
        if (!copy_needs_contexts())                                                                                      \
            return real arguments;                                                                                       \
        const int device_meant = (device_);                                                                              \
        uint32_t held = copy_context_ends(context, device_meant);                                                        \
        result status = real arguments;                                                                                  \
        copy_context_ended(held, (may_stay) ? device_meant : -1, status == VENDOR_SUCCESS);                                               \
        return status;                                                                                                   \
    }
#include "preload/copy_calls.def"

/* clang-format on */
