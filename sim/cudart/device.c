/* SPDX-License-Identifier: Apache-2.0 */
/* The one device: count, properties, attributes, limits, synchronising. */
#include "sim/cudart/runtime.h"

#include <stdio.h>
#include <string.h>

static unsigned device_flags;

cudaError_t runtime_cudaGetDeviceCount(int *count)
{
    if (!count)
        return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
}

cudaError_t runtime_cudaGetDevice(int *device)
{
    if (!device)
        return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
}

cudaError_t runtime_cudaSetDevice(int device)
{
    return device ? cudaErrorInvalidDevice : cudaSuccess;
}

cudaError_t runtime_cudaInitDevice(int device, unsigned int flags_of_device, unsigned int flags)
{
    if (flags & cudaInitDeviceFlagsAreValid)
        device_flags = flags_of_device;
    return device ? cudaErrorInvalidDevice : cudaSuccess;
}

cudaError_t runtime_cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    (void)wanted;
    return runtime_cudaGetDevice(device);
}

cudaError_t runtime_cudaSetValidDevices(int *devices, int count)
{
    for (int i = 0; i < count; i++)
        if (devices[i])
            return cudaErrorInvalidDevice;
    return cudaSuccess;
}

cudaError_t runtime_cudaSetDeviceFlags(unsigned int flags)
{
    device_flags = flags;
    return cudaSuccess;
}

cudaError_t runtime_cudaGetDeviceFlags(unsigned int *flags)
{
    if (!flags)
        return cudaErrorInvalidValue;
    *flags = device_flags;
    return cudaSuccess;
}

cudaError_t runtime_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    if (device)
        return cudaErrorInvalidDevice;
    return value && simgpu_device_attribute((int)attribute, value) ? cudaSuccess : cudaErrorInvalidValue;
}

static int attribute(enum cudaDeviceAttr which)
{
    int value = 0;
    simgpu_device_attribute((int)which, &value);
    return value;
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
    if (device)
        return cudaErrorInvalidDevice;
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "%s", simgpu_device()->name);
    simgpu_device_uuid((unsigned char *)properties->uuid.bytes);
    properties->major = simgpu_device()->compute_major;
    properties->minor = simgpu_device()->compute_minor;
    properties->pciBusID = attribute(cudaDevAttrPciBusId);
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
    if (device)
        return cudaErrorInvalidDevice;
    if (!id || length < 13)
        return cudaErrorInvalidValue;
    snprintf(id, (size_t)length, "0000:%02X:00.0", (unsigned)attribute(cudaDevAttrPciBusId));
    return cudaSuccess;
}

cudaError_t runtime_cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    unsigned domain, bus = ~0u;
    if (!device || !id)
        return cudaErrorInvalidValue;
    if (sscanf(id, "%x:%x:", &domain, &bus) != 2 || bus != (unsigned)attribute(cudaDevAttrPciBusId))
        return cudaErrorInvalidDevice;
    *device = 0;
    return cudaSuccess;
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
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t runtime_cudaRuntimeGetVersion(int *version)
{
    return runtime_cudaDriverGetVersion(version);
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

/* ---- there are no peers ---- */

cudaError_t runtime_cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can)
        return cudaErrorInvalidValue;
    *can = 0;
    return device || peer ? cudaErrorInvalidDevice : cudaSuccess;
}

cudaError_t runtime_cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    (void)peer, (void)flags;
    return cudaErrorInvalidDevice;
}

cudaError_t runtime_cudaDeviceDisablePeerAccess(int peer)
{
    (void)peer;
    return cudaErrorInvalidDevice;
}

cudaError_t runtime_cudaProfilerStart(void)
{
    return cudaSuccess;
}

cudaError_t runtime_cudaProfilerStop(void)
{
    return cudaSuccess;
}
