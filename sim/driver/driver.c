/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning and the end of each driver call, cuInit, errors by name, and functions by name and version. */
#include "sim/driver/driver.h"

#include <string.h>

static __thread int door_per_thread;

static CUresult ready_for(enum driver_need need)
{
    if (simgpu_forked())
        return CUDA_ERROR_NOT_INITIALIZED;
    if (need == DRIVER_FREE)
        return CUDA_SUCCESS;
    if (!simgpu_initialised())
        return CUDA_ERROR_NOT_INITIALIZED;
    if (simgpu_poisoned())
        return (CUresult)simgpu_poisoned();
    return need == DRIVER_CONTEXT && !simgpu_context_current() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult driver_enter(struct simgpu_api_call *call, const char *function, enum driver_need need, int per_thread)
{
    CUresult result = ready_for(need);
    simgpu_api_enter(call);
    int fault = simgpu_fault(function);
    door_per_thread = per_thread; /* last: an observer may have called in between */
    return fault ? (CUresult)fault : result;
}

CUresult driver_exit(struct simgpu_api_call *call, CUresult result)
{
    simgpu_api_exit(call, &result);
    return result;
}

CUresult driver_missing(const char *function)
{
    simgpu_not_supported(function);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult driver_result(int result)
{
    return result == SIMGPU_INVALID_CONFIGURATION ? CUDA_ERROR_INVALID_VALUE : (CUresult)result;
}

struct simgpu_stream *driver_stream(CUstream handle)
{
    return simgpu_stream_of(handle, door_per_thread);
}

const char *driver_symbol(const void *function)
{
    return simgpu_kernel_valid(function) ? simgpu_kernel_name(function) : NULL;
}

CUresult driver_cuInit(unsigned int flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : (CUresult)simgpu_init();
}

CUresult driver_cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = driver_version();
    return CUDA_SUCCESS;
}

int driver_version(void)
{
    return simgpu_device()->driver_version ? simgpu_device()->driver_version : CUDA_VERSION;
}

/* The tables behind it are described in no public document; there are none here. Who asks is a static cudart, or another
 * library of the vendor's. */
CUresult driver_cuGetExportTable(const void **table, const CUuuid *id)
{
    (void)id;
    if (table)
        *table = NULL;
    simgpu_not_supported_because("cuGetExportTable",
                                 "a program or library with its own CUDA runtime built in (static cudart), which asks "
                                 "for it, can't run on the simulated GPU; link it with -cudart shared");
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult driver_cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}

CUresult driver_cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}

/* ---- errors by name ---- */

static const struct driver_error *error_of(CUresult error)
{
    const struct driver_error *known = driver_errors;
    while (known->name && known->number != (int)error)
        known++;
    return known;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = error_of(error)->name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = error == CUDA_SUCCESS ? "no error" : error_of(error)->text;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- functions by name ---- */

static void *of_13_1(const char *symbol, int version, bool *too_new)
{
    void *function = driver_tools_id(symbol);
    if (function && version < 13010)
        *too_new = true;
    return version < 13010 ? NULL : function;
}

/* The newest one that is no newer than VERSION. */
static void *newest(const char *symbol, int version, int per_thread, bool *too_new)
{
    const struct driver_address *best = NULL;
    for (const struct driver_address *row = driver_addresses; row->name; row++) {
        if (row->per_thread != per_thread || strcmp(row->name, symbol))
            continue;
        if (row->version > version)
            *too_new = true;
        else if (!best || row->version > best->version)
            best = row;
    }
    return best ? best->function : NULL;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    bool too_new = false;
    if (!symbol || !function || (flags & ~(cuuint64_t)3))
        return CUDA_ERROR_INVALID_VALUE;
    *function = NULL;
    if (!*symbol) /* asked by runtimes to see that the function is there */
        return CUDA_SUCCESS;
    if (simgpu_device()->driver_version && version > driver_version())
        version = driver_version();
    if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        *function = newest(symbol, version, 1, &too_new);
    if (!*function)
        *function = newest(symbol, version, 0, &too_new);
    if (!*function)
        *function = of_13_1(symbol, version, &too_new);
    CUdriverProcAddressQueryResult found = *function ? CU_GET_PROC_ADDRESS_SUCCESS
                                           : too_new ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                                     : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (status)
        *status = found;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
    return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}

/* ---- the driver's log: there are never any messages ---- */

#if CUDA_VERSION >= 12090
CUresult driver_cuLogsRegisterCallback(CUlogsCallback callback, void *data, CUlogsCallbackHandle *handle)
{
    static char registered;
    (void)data;
    if (!callback)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle)
        *handle = (CUlogsCallbackHandle)&registered;
    return CUDA_SUCCESS;
}

CUresult driver_cuLogsUnregisterCallback(CUlogsCallbackHandle handle)
{
    return handle ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
#endif
