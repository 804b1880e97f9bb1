/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, contexts, and who may reach whose memory. */
#include "sim/driver/driver.h"

#include <stdio.h>
#include <string.h>

static bool primary_active[SIMGPU_DEVICES_MOST];
static unsigned primary_flags[SIMGPU_DEVICES_MOST];

static CUresult check(CUdevice device)
{
    return simgpu_device_board(device) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult driver_cuDeviceGet(CUdevice *device, int ordinal)
{
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    if (check(ordinal) == CUDA_SUCCESS)
        *device = ordinal;
    return check(ordinal);
}

CUresult driver_cuDeviceGetCount(int *count)
{
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = simgpu_device_count();
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
    if (check(device) == CUDA_SUCCESS)
        simgpu_device_uuid(simgpu_device_board(device), (unsigned char *)uuid->bytes);
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
    if (check(device) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_DEVICE;
    return value && simgpu_device_attribute(simgpu_device_board(device), (int)attribute, value)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    *major = simgpu_device()->compute_major;
    *minor = simgpu_device()->compute_minor;
    return check(device);
}

static unsigned bus(CUdevice device)
{
    int value = 0;
    simgpu_device_attribute(simgpu_device_board(device), CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &value);
    return (unsigned)value;
}

CUresult driver_cuDeviceGetPCIBusId(char *id, int length, CUdevice device)
{
    if (!id || length < 13)
        return CUDA_ERROR_INVALID_VALUE;
    if (check(device) == CUDA_SUCCESS)
        snprintf(id, (size_t)length, "0000:%02X:00.0", bus(device));
    return check(device);
}

CUresult driver_cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    unsigned domain, asked = ~0u;
    if (!device || !id)
        return CUDA_ERROR_INVALID_VALUE;
    if (sscanf(id, "%x:%x:", &domain, &asked) != 2)
        return CUDA_ERROR_INVALID_DEVICE;
    for (CUdevice candidate = 0; candidate < simgpu_device_count(); candidate++)
        if (bus(candidate) == asked) {
            *device = candidate;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_DEVICE;
}

CUresult driver_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    if (!can)
        return CUDA_ERROR_INVALID_VALUE;
    *can = device != peer;
    return check(device) != CUDA_SUCCESS ? check(device) : check(peer);
}

CUresult driver_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer)
{
    if (!value || attribute < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        attribute > CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED)
        return CUDA_ERROR_INVALID_VALUE;
    if (check(device) != CUDA_SUCCESS || check(peer) != CUDA_SUCCESS || device == peer)
        return CUDA_ERROR_INVALID_DEVICE;
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : (CUresult)simgpu_context_peer(peer, true);
}

CUresult driver_cuCtxDisablePeerAccess(CUcontext peer)
{
    return (CUresult)simgpu_context_peer(peer, false);
}

CUresult driver_cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (check(device) == CUDA_SUCCESS)
        *pool = (CUmemoryPool)simgpu_pool_default(device);
    return check(device);
}

CUresult driver_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (check(device) == CUDA_SUCCESS)
        *pool = (CUmemoryPool)simgpu_pool_current(device);
    return check(device);
}

CUresult driver_cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    CUresult result = check(device);
    return result != CUDA_SUCCESS ? result : (CUresult)simgpu_pool_make_current(device, (struct simgpu_pool *)pool);
}

/* ---- the primary context ---- */

CUresult driver_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    if (!context || check(device) != CUDA_SUCCESS)
        return context ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    *context = (CUcontext)simgpu_context_primary(device);
    __atomic_store_n(&primary_active[device], true, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult driver_cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    return check(device); /* what it holds is the device's and stays */
}

CUresult driver_cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    void *own = simgpu_context_current();
    if (check(device) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!simgpu_context_primary_active(device))
        return CUDA_SUCCESS;
    simgpu_context_set(simgpu_context_primary(device));
    simgpu_synchronize();
    return (CUresult)simgpu_context_set(own);
}

CUresult driver_cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags)
{
    if (check(device) == CUDA_SUCCESS)
        __atomic_store_n(&primary_flags[device], flags, __ATOMIC_RELAXED);
    return check(device);
}

CUresult driver_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    if (check(device) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_DEVICE;
    if (flags)
        *flags = __atomic_load_n(&primary_flags[device], __ATOMIC_RELAXED);
    if (active)
        *active = simgpu_context_primary_active(device) || __atomic_load_n(&primary_active[device], __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

/* ---- contexts ---- */

static CUresult create(CUcontext *context, CUdevice device)
{
    if (!context || check(device) != CUDA_SUCCESS)
        return context ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    *context = (CUcontext)simgpu_context_create(device);
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
    *device = simgpu_current_device();
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
