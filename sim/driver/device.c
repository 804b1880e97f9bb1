/* SPDX-License-Identifier: Apache-2.0 */
/* The device and contexts. */
#include "sim/driver/driver.h"

#include <stdio.h>
#include <string.h>

static bool primary_active;
static unsigned primary_flags;

static CUresult check(CUdevice device)
{
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult driver_cuDeviceGet(CUdevice *device, int ordinal)
{
    if (!device || ordinal)
        return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetCount(int *count)
{
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetName(char *name, int length, CUdevice device)
{
    if (!name || length <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)length, "%s", simgpu_device()->name);
    return check(device);
}

CUresult driver_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    if (!uuid)
        return CUDA_ERROR_INVALID_VALUE;
    simgpu_device_uuid((unsigned char *)uuid->bytes);
    return check(device);
}

CUresult driver_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return driver_cuDeviceGetUuid_v2(uuid, device);
}

CUresult driver_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = simgpu_device()->memory_bytes;
    return check(device);
}

CUresult driver_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    if (device)
        return CUDA_ERROR_INVALID_DEVICE;
    return value && simgpu_device_attribute((int)attribute, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    *major = simgpu_device()->compute_major;
    *minor = simgpu_device()->compute_minor;
    return check(device);
}

static unsigned bus(void)
{
    int value = 0;
    simgpu_device_attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &value);
    return (unsigned)value;
}

CUresult driver_cuDeviceGetPCIBusId(char *id, int length, CUdevice device)
{
    if (!id || length < 13)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(id, (size_t)length, "0000:%02X:00.0", bus());
    return check(device);
}

CUresult driver_cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    unsigned domain, asked = ~0u;
    if (!device || !id)
        return CUDA_ERROR_INVALID_VALUE;
    if (sscanf(id, "%x:%x:", &domain, &asked) != 2 || asked != bus())
        return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    if (!can)
        return CUDA_ERROR_INVALID_VALUE;
    *can = 0;
    return device || peer ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    *pool = (CUmemoryPool)simgpu_pool_default();
    return check(device);
}

CUresult driver_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    *pool = (CUmemoryPool)simgpu_pool_current();
    return check(device);
}

CUresult driver_cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    return device ? CUDA_ERROR_INVALID_DEVICE : (CUresult)simgpu_pool_make_current((struct simgpu_pool *)pool);
}

/* ---- the primary context ---- */

CUresult driver_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    if (!context || device)
        return context ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    *context = (CUcontext)simgpu_context_primary();
    __atomic_store_n(&primary_active, true, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult driver_cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    return check(device); /* what it holds is the device's and stays */
}

CUresult driver_cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    simgpu_synchronize();
    return check(device);
}

CUresult driver_cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags)
{
    __atomic_store_n(&primary_flags, flags, __ATOMIC_RELAXED);
    return check(device);
}

CUresult driver_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    if (flags)
        *flags = __atomic_load_n(&primary_flags, __ATOMIC_RELAXED);
    if (active)
        *active = simgpu_context_primary_active() || __atomic_load_n(&primary_active, __ATOMIC_RELAXED);
    return check(device);
}

/* ---- contexts ---- */

static CUresult create(CUcontext *context, CUdevice device)
{
    if (!context || device)
        return context ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    *context = (CUcontext)simgpu_context_create();
    return *context ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult driver_cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    (void)flags;
    return create(context, device);
}

CUresult driver_cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *params, int count, unsigned int flags,
                               CUdevice device)
{
    (void)params, (void)count, (void)flags;
    return create(context, device);
}

#if CUDA_VERSION >= 12080
CUresult driver_cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned int flags, CUdevice device)
{
    (void)params, (void)flags;
    return create(context, device);
}
#endif

CUresult driver_cuCtxDestroy_v2(CUcontext context)
{
    return (CUresult)simgpu_context_destroy(context);
}

CUresult driver_cuCtxPushCurrent_v2(CUcontext context)
{
    return (CUresult)simgpu_context_push(context);
}

CUresult driver_cuCtxPopCurrent_v2(CUcontext *context)
{
    return (CUresult)simgpu_context_pop((void **)context);
}

CUresult driver_cuCtxSetCurrent(CUcontext context)
{
    return (CUresult)simgpu_context_set(context);
}

CUresult driver_cuCtxGetCurrent(CUcontext *context)
{
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = (CUcontext)simgpu_context_current();
    return CUDA_SUCCESS;
}

static CUresult need_context(void)
{
    return simgpu_context_current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult driver_cuCtxGetDevice(CUdevice *device)
{
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return need_context();
}

CUresult driver_cuCtxGetFlags(unsigned int *flags)
{
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = 0;
    return need_context();
}

CUresult driver_cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
    if (!version || (context && !simgpu_context_valid(context)))
        return version ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxGetId(CUcontext context, unsigned long long *id)
{
    void *asked = context ? (void *)context : simgpu_context_current();
    if (!id)
        return CUDA_ERROR_INVALID_VALUE;
    *id = simgpu_context_id(asked);
    return *id ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult driver_cuCtxSynchronize(void)
{
    CUresult result = need_context();
    if (result == CUDA_SUCCESS)
        result = (CUresult)simgpu_capture_forbids();
    return result == CUDA_SUCCESS ? (CUresult)simgpu_synchronize() : result;
}

CUresult driver_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = SIMGPU_PRIORITY_GREATEST;
    return need_context();
}

static size_t limits[] = {[CU_LIMIT_STACK_SIZE] = 1024,
                          [CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20,
                          [CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
                          [CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2,
                          [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
                          [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
                          [CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = 0};

CUresult driver_cuCtxGetLimit(size_t *value, CUlimit limit)
{
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    if ((unsigned)limit >= sizeof limits / sizeof *limits)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = __atomic_load_n(&limits[limit], __ATOMIC_RELAXED);
    return need_context();
}

CUresult driver_cuCtxSetLimit(CUlimit limit, size_t value)
{
    if ((unsigned)limit >= sizeof limits / sizeof *limits)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    __atomic_store_n(&limits[limit], value, __ATOMIC_RELAXED);
    return need_context();
}

CUresult driver_cuCtxGetCacheConfig(CUfunc_cache *config)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    *config = CU_FUNC_CACHE_PREFER_NONE;
    return need_context();
}

CUresult driver_cuCtxSetCacheConfig(CUfunc_cache config)
{
    (void)config;
    return need_context();
}
