/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: count, properties, attributes, limits, peers, synchronising. */
#include "sim/cudart/runtime.h"

#include <stdio.h>
#include <string.h>

static unsigned device_flags[SIMGPU_DEVICES_MOST];

static bool is_device(int device)
{
    return simgpu_device_board(device) >= 0;
}

cudaError_t runtime_cudaGetDeviceCount(int *count)
{
    if (!count)
        return cudaErrorInvalidValue;
    *count = simgpu_device_count();
    return cudaSuccess;
}

cudaError_t runtime_cudaGetDevice(int *device)
{
    if (!device)
        return cudaErrorInvalidValue;
    *device = simgpu_current_device();
    return cudaSuccess;
}

/* Makes the device's primary context, as since CUDA 12. */
cudaError_t runtime_cudaSetDevice(int device)
{
    return is_device(device) ? (cudaError_t)simgpu_context_set(simgpu_context_primary(device)) : cudaErrorInvalidDevice;
}

cudaError_t runtime_cudaInitDevice(int device, unsigned int flags_of_device, unsigned int flags)
{
    if (!is_device(device))
        return cudaErrorInvalidDevice;
    if (flags & cudaInitDeviceFlagsAreValid)
        device_flags[device] = flags_of_device;
    return simgpu_context_primary(device) ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t runtime_cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    (void)wanted;
    return runtime_cudaGetDevice(device);
}

cudaError_t runtime_cudaSetValidDevices(int *devices, int count)
{
    for (int i = 0; i < count; i++)
        if (!is_device(devices[i]))
            return cudaErrorInvalidDevice;
    return cudaSuccess;
}

cudaError_t runtime_cudaSetDeviceFlags(unsigned int flags)
{
    device_flags[simgpu_current_device()] = flags;
    return cudaSuccess;
}

cudaError_t runtime_cudaGetDeviceFlags(unsigned int *flags)
{
    if (!flags)
        return cudaErrorInvalidValue;
    *flags = device_flags[simgpu_current_device()];
    return cudaSuccess;
}

cudaError_t runtime_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    if (!is_device(device))
        return cudaErrorInvalidDevice;
    return value && simgpu_device_attribute(simgpu_device_board(device), (int)attribute, value) ? cudaSuccess
                                                                                                : cudaErrorInvalidValue;
}

static int attribute_of(int device, enum cudaDeviceAttr which)
{
    int value = 0;
    simgpu_device_attribute(simgpu_device_board(device), (int)which, &value);
    return value;
}

/* One that all devices have alike. */
static int attribute(enum cudaDeviceAttr which)
{
    return attribute_of(0, which);
}

static void set_sizes(struct cudaDeviceProp *p)
{
    p->totalGlobalMem = simgpu_device()->memory_bytes;
    p->sharedMemPerBlock = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    p->sharedMemPerBlockOptin = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    p->sharedMemPerMultiprocessor = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    p->reservedSharedMemPerBlock = (size_t)attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    p->regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock);
    p->regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
    p->totalConstMem = (size_t)attribute(cudaDevAttrTotalConstantMemory);
    p->memPitch = (size_t)attribute(cudaDevAttrMaxPitch);
    p->textureAlignment = (size_t)attribute(cudaDevAttrTextureAlignment);
    p->texturePitchAlignment = (size_t)attribute(cudaDevAttrTexturePitchAlignment);
    p->surfaceAlignment = (size_t)attribute(cudaDevAttrSurfaceAlignment);
    p->l2CacheSize = attribute(cudaDevAttrL2CacheSize);
    p->memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth);
}

static void set_limits(struct cudaDeviceProp *p)
{
    p->warpSize = attribute(cudaDevAttrWarpSize);
    p->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock);
    p->maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    p->maxBlocksPerMultiProcessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = attribute((enum cudaDeviceAttr)(cudaDevAttrMaxBlockDimX + i));
        p->maxGridSize[i] = attribute((enum cudaDeviceAttr)(cudaDevAttrMaxGridDimX + i));
        p->maxTexture3D[i] = attribute((enum cudaDeviceAttr)(cudaDevAttrMaxTexture3DWidth + i));
    }
    p->maxTexture1D = attribute(cudaDevAttrMaxTexture1DWidth);
    p->maxTexture2D[0] = attribute(cudaDevAttrMaxTexture2DWidth);
    p->maxTexture2D[1] = attribute(cudaDevAttrMaxTexture2DHeight);
    p->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
    p->asyncEngineCount = attribute(cudaDevAttrAsyncEngineCount);
}

static void set_abilities(struct cudaDeviceProp *p)
{
    p->canMapHostMemory = attribute(cudaDevAttrCanMapHostMemory);
    p->concurrentKernels = attribute(cudaDevAttrConcurrentKernels);
    p->unifiedAddressing = attribute(cudaDevAttrUnifiedAddressing);
    p->streamPrioritiesSupported = attribute(cudaDevAttrStreamPrioritiesSupported);
    p->globalL1CacheSupported = attribute(cudaDevAttrGlobalL1CacheSupported);
    p->localL1CacheSupported = attribute(cudaDevAttrLocalL1CacheSupported);
    p->managedMemory = attribute(cudaDevAttrManagedMemory);
    p->concurrentManagedAccess = attribute(cudaDevAttrConcurrentManagedAccess);
    p->computePreemptionSupported = attribute(cudaDevAttrComputePreemptionSupported);
    p->canUseHostPointerForRegisteredMem = attribute(cudaDevAttrCanUseHostPointerForRegisteredMem);
    p->cooperativeLaunch = attribute(cudaDevAttrCooperativeLaunch);
    p->hostRegisterSupported = attribute(cudaDevAttrHostRegisterSupported);
    p->memoryPoolsSupported = attribute(cudaDevAttrMemoryPoolsSupported);
    p->clusterLaunch = attribute(cudaDevAttrClusterLaunch);
}

static cudaError_t describe(struct cudaDeviceProp *properties, int device)
{
    if (!properties)
        return cudaErrorInvalidValue;
    if (!is_device(device))
        return cudaErrorInvalidDevice;
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "%s", simgpu_device()->name);
    simgpu_device_uuid(simgpu_device_board(device), (unsigned char *)properties->uuid.bytes);
    properties->major = simgpu_device()->compute_major;
    properties->minor = simgpu_device()->compute_minor;
    properties->pciBusID = attribute_of(device, cudaDevAttrPciBusId);
#if CUDART_VERSION >= 13000
    properties->gpuPciDeviceID = simgpu_device()->pci_device_id << 16 | 0x10de;
    properties->deviceNumaId = properties->hostNumaId = -1;
#endif
#if CUDART_VERSION < 13000
    properties->clockRate = attribute(cudaDevAttrClockRate);
    properties->memoryClockRate = attribute(cudaDevAttrMemoryClockRate);
    properties->deviceOverlap = attribute(cudaDevAttrGpuOverlap);
    properties->computeMode = attribute(cudaDevAttrComputeMode);
    properties->singleToDoublePrecisionPerfRatio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
#endif
    set_sizes(properties);
    set_limits(properties);
    set_abilities(properties);
    return cudaSuccess;
}

cudaError_t runtime_cudaGetDeviceProperties_v2(struct cudaDeviceProp *properties, int device)
{
    return describe(properties, device);
}

cudaError_t runtime_cudaDeviceGetPCIBusId(char *id, int length, int device)
{
    if (!is_device(device))
        return cudaErrorInvalidDevice;
    if (!id || length < 13)
        return cudaErrorInvalidValue;
    snprintf(id, (size_t)length, "0000:%02X:00.0", (unsigned)attribute_of(device, cudaDevAttrPciBusId));
    return cudaSuccess;
}

cudaError_t runtime_cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    unsigned domain, bus = ~0u;
    if (!device || !id)
        return cudaErrorInvalidValue;
    if (sscanf(id, "%x:%x:", &domain, &bus) != 2)
        return cudaErrorInvalidDevice;
    for (int candidate = 0; candidate < simgpu_device_count(); candidate++)
        if (bus == (unsigned)attribute_of(candidate, cudaDevAttrPciBusId)) {
            *device = candidate;
            return cudaSuccess;
        }
    return cudaErrorInvalidDevice;
}

cudaError_t runtime_cudaDeviceSynchronize(void)
{
    int forbidden = simgpu_capture_forbids();
    return (cudaError_t)(forbidden ? forbidden : simgpu_synchronize());
}

cudaError_t runtime_cudaDeviceReset(void)
{
    return (cudaError_t)simgpu_synchronize();
}

cudaError_t runtime_cudaDriverGetVersion(int *version)
{
    if (!version)
        return cudaErrorInvalidValue;
    int told = simgpu_device()->driver_version;
    *version = told ? told : CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t runtime_cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return cudaErrorInvalidValue;
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* ---- limits and hints: kept, without effect ---- */

static size_t limits[] = {[cudaLimitStackSize] = 1024,
                          [cudaLimitPrintfFifoSize] = 1 << 20,
                          [cudaLimitMallocHeapSize] = 8 << 20,
                          [cudaLimitDevRuntimeSyncDepth] = 2,
                          [cudaLimitDevRuntimePendingLaunchCount] = 2048,
                          [cudaLimitMaxL2FetchGranularity] = 64,
                          [cudaLimitPersistingL2CacheSize] = 0};

cudaError_t runtime_cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if (!value)
        return cudaErrorInvalidValue;
    if ((unsigned)limit >= sizeof limits / sizeof *limits)
        return cudaErrorUnsupportedLimit;
    *value = __atomic_load_n(&limits[limit], __ATOMIC_RELAXED);
    return cudaSuccess;
}

cudaError_t runtime_cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((unsigned)limit >= sizeof limits / sizeof *limits)
        return cudaErrorUnsupportedLimit;
    __atomic_store_n(&limits[limit], value, __ATOMIC_RELAXED);
    return cudaSuccess;
}

cudaError_t runtime_cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    if (!config)
        return cudaErrorInvalidValue;
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}

cudaError_t runtime_cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    (void)config;
    return cudaSuccess;
}

cudaError_t runtime_cudaCtxResetPersistingL2Cache(void)
{
    return cudaSuccess;
}

cudaError_t runtime_cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = SIMGPU_PRIORITY_GREATEST;
    return cudaSuccess;
}

/* ---- peers: each device reaches each other one's memory, as soon as it is asked to ---- */

cudaError_t runtime_cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can)
        return cudaErrorInvalidValue;
    *can = device != peer;
    return is_device(device) && is_device(peer) ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t runtime_cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int device, int peer)
{
    if (!value || attribute < cudaDevP2PAttrPerformanceRank || attribute > cudaDevP2PAttrCudaArrayAccessSupported)
        return cudaErrorInvalidValue;
    if (!is_device(device) || !is_device(peer) || device == peer)
        return cudaErrorInvalidDevice;
    *value = attribute == cudaDevP2PAttrAccessSupported;
    return cudaSuccess;
}

static cudaError_t set_peer(int peer, bool enable)
{
    return is_device(peer) ? (cudaError_t)simgpu_context_peer(simgpu_context_primary(peer), enable)
                           : cudaErrorInvalidDevice;
}

cudaError_t runtime_cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    return flags ? cudaErrorInvalidValue : set_peer(peer, true);
}

cudaError_t runtime_cudaDeviceDisablePeerAccess(int peer)
{
    return set_peer(peer, false);
}

cudaError_t runtime_cudaProfilerStart(void)
{
    return cudaSuccess;
}

cudaError_t runtime_cudaProfilerStop(void)
{
    return cudaSuccess;
}
