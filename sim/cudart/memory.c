/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations, page-locked memory, pools, and what can be asked of a pointer. */
#include "sim/cudart/runtime.h"

#include <string.h>

static bool is_device(int device)
{
    return simgpu_device_board(device) >= 0;
}

static cudaError_t allocate(enum simgpu_memory_kind kind, void **address, size_t size, unsigned flags)
{
    if (!address)
        return cudaErrorInvalidValue;
    int result = simgpu_capture_forbids();
    *address = NULL;
    if (!result && size)
        result = simgpu_memory_allocate(kind, size, flags, NULL, address);
    return (cudaError_t)result;
}

cudaError_t runtime_cudaMalloc(void **address, size_t size)
{
    return allocate(SIMGPU_MEMORY_DEVICE, address, size, 0);
}

cudaError_t runtime_cudaMallocManaged(void **address, size_t size, unsigned int flags)
{
    if (!size || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return cudaErrorInvalidValue;
    return allocate(SIMGPU_MEMORY_MANAGED, address, size, flags);
}

cudaError_t runtime_cudaHostAlloc(void **address, size_t size, unsigned int flags)
{
    return allocate(SIMGPU_MEMORY_HOST, address, size, flags);
}

cudaError_t runtime_cudaMallocHost(void **address, size_t size)
{
    return allocate(SIMGPU_MEMORY_HOST, address, size, 0);
}

#define PITCH ((size_t)512)

cudaError_t runtime_cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height)
{
    if (!pitch)
        return cudaErrorInvalidValue;
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return allocate(SIMGPU_MEMORY_DEVICE, address, *pitch * height, 0);
}

cudaError_t runtime_cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent)
{
    if (!pitched)
        return cudaErrorInvalidValue;
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return runtime_cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width, extent.height * extent.depth);
}

/* Freeing waits for the device, as the real one does. */
static cudaError_t release(enum simgpu_memory_kind kind, void *address)
{
    int result = simgpu_capture_forbids();
    if (!result && address) {
        simgpu_synchronize();
        result = simgpu_memory_free(kind, address);
    }
    return (cudaError_t)result;
}

cudaError_t runtime_cudaFree(void *address)
{
    return release(SIMGPU_MEMORY_DEVICE, address);
}

cudaError_t runtime_cudaFreeHost(void *address)
{
    return release(SIMGPU_MEMORY_HOST, address);
}

cudaError_t runtime_cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    if (!free_bytes || !total_bytes)
        return cudaErrorInvalidValue;
    simgpu_memory_info(simgpu_current_device(), free_bytes, total_bytes);
    return cudaSuccess;
}

cudaError_t runtime_cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *address)
{
    struct simgpu_memory memory;
    if (!attributes)
        return cudaErrorInvalidValue;
    memset(attributes, 0, sizeof *attributes);
    if (!simgpu_memory_find(address, &memory)) {
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->device = -2; /* cudaInvalidDeviceId */
        attributes->hostPointer = (void *)address;
        return cudaSuccess;
    }
    bool host = memory.kind == SIMGPU_MEMORY_HOST || memory.kind == SIMGPU_MEMORY_REGISTERED;
    bool managed = memory.kind == SIMGPU_MEMORY_MANAGED;
    attributes->type = host ? cudaMemoryTypeHost : managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
    attributes->device = memory.device;
    attributes->devicePointer = (void *)address;
    attributes->hostPointer = host || managed ? (void *)address : NULL;
    return cudaSuccess;
}

/* ---- page-locked memory ---- */

cudaError_t runtime_cudaHostRegister(void *address, size_t size, unsigned int flags)
{
    return (cudaError_t)simgpu_memory_register(address, size, flags);
}

cudaError_t runtime_cudaHostUnregister(void *address)
{
    return (cudaError_t)simgpu_memory_unregister(address);
}

static bool find_host(const void *address, struct simgpu_memory *memory)
{
    return simgpu_memory_find(address, memory) &&
           (memory->kind == SIMGPU_MEMORY_HOST || memory->kind == SIMGPU_MEMORY_REGISTERED);
}

cudaError_t runtime_cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
    struct simgpu_memory memory;
    if (!device || flags || !find_host(host, &memory))
        return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
}

cudaError_t runtime_cudaHostGetFlags(unsigned int *flags, void *host)
{
    struct simgpu_memory memory;
    if (!flags || !find_host(host, &memory))
        return cudaErrorInvalidValue;
    *flags = memory.flags | cudaHostAllocMapped;
    return cudaSuccess;
}

/* ---- managed memory's hints ---- */

static cudaError_t hint(const void *address)
{
    struct simgpu_memory memory;
    return simgpu_memory_find(address, &memory) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaMemAdvise_v2(const void *address, size_t count, enum cudaMemoryAdvise advice,
                                     struct cudaMemLocation location)
{
    (void)count, (void)advice, (void)location;
    return hint(address);
}

cudaError_t runtime_cudaMemPrefetchAsync_v2(const void *address, size_t count, struct cudaMemLocation location,
                                            unsigned int flags, cudaStream_t stream)
{
    (void)count, (void)location, (void)flags;
    return runtime_stream(stream) ? hint(address) : cudaErrorInvalidResourceHandle;
}

cudaError_t runtime_cudaStreamAttachMemAsync(cudaStream_t stream, void *address, size_t length, unsigned int flags)
{
    (void)length, (void)flags;
    return runtime_stream(stream) ? hint(address) : cudaErrorInvalidResourceHandle;
}

/* ---- stream-ordered memory ---- */

static cudaError_t allocate_ordered(struct simgpu_pool *pool, void **address, size_t size, cudaStream_t stream)
{
    struct simgpu_stream *where = runtime_stream(stream);
    struct simgpu_capture_info capture;
    if (!address)
        return cudaErrorInvalidValue;
    if (!where)
        return cudaErrorInvalidResourceHandle;
    if (!simgpu_capture_query(where, &capture) && capture.status)
        return runtime_missing("cudaMallocAsync in a stream that captures");
    *address = NULL;
    return size ? (cudaError_t)simgpu_pool_allocate(pool, size, address) : cudaSuccess;
}

cudaError_t runtime_cudaMallocAsync(void **address, size_t size, cudaStream_t stream)
{
    struct simgpu_stream *where = runtime_stream(stream);
    if (!where)
        return cudaErrorInvalidResourceHandle;
    int device = simgpu_context_device(simgpu_stream_context(where));
    return allocate_ordered(simgpu_pool_current(device), address, size, stream);
}

cudaError_t runtime_cudaMallocFromPoolAsync(void **address, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return allocate_ordered((struct simgpu_pool *)pool, address, size, stream);
}

cudaError_t runtime_cudaFreeAsync(void *address, cudaStream_t stream)
{
    struct simgpu_stream *where = runtime_stream(stream);
    struct simgpu_capture_info capture;
    if (!where)
        return cudaErrorInvalidResourceHandle;
    if (!simgpu_capture_query(where, &capture) && capture.status)
        return runtime_missing("cudaFreeAsync in a stream that captures");
    if (!address)
        return cudaErrorInvalidValue;
    simgpu_stream_settle(where); /* host functions before it may still read */
    return (cudaError_t)simgpu_memory_free(SIMGPU_MEMORY_DEVICE, address);
}

cudaError_t runtime_cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    if (!pool || !is_device(device))
        return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *pool = (cudaMemPool_t)simgpu_pool_default(device);
    return cudaSuccess;
}

cudaError_t runtime_cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    if (!pool || !is_device(device))
        return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *pool = (cudaMemPool_t)simgpu_pool_current(device);
    return cudaSuccess;
}

cudaError_t runtime_cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    return !is_device(device) ? cudaErrorInvalidDevice
                              : (cudaError_t)simgpu_pool_make_current(device, (struct simgpu_pool *)pool);
}

cudaError_t runtime_cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    if (!pool || !properties || !is_device(properties->location.id))
        return cudaErrorInvalidValue;
    if (properties->handleTypes != cudaMemHandleTypeNone)
        return runtime_missing("cudaMemPoolCreate with a shareable handle");
    *pool = (cudaMemPool_t)simgpu_pool_create(properties->location.id, properties->maxSize);
    return *pool ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t runtime_cudaMemPoolDestroy(cudaMemPool_t pool)
{
    return (cudaError_t)simgpu_pool_destroy((struct simgpu_pool *)pool);
}

cudaError_t runtime_cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    return value ? (cudaError_t)simgpu_pool_get((struct simgpu_pool *)pool, (int)attribute, value)
                 : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    return value ? (cudaError_t)simgpu_pool_set((struct simgpu_pool *)pool, (int)attribute, value)
                 : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
    return (cudaError_t)simgpu_pool_trim((struct simgpu_pool *)pool, keep);
}

cudaError_t runtime_cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_device(list[i].location.id))
            return cudaErrorInvalidDevice;
    return (cudaError_t)simgpu_pool_trim((struct simgpu_pool *)pool, 0);
}

cudaError_t runtime_cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                         struct cudaMemLocation *location)
{
    if (!flags || !location)
        return cudaErrorInvalidValue;
    bool own = location->id == simgpu_pool_device((struct simgpu_pool *)pool);
    *flags = own ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return (cudaError_t)simgpu_pool_trim((struct simgpu_pool *)pool, 0);
}

/* Graphs here own no memory. */
cudaError_t runtime_cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value)
{
    (void)attribute;
    if (!is_device(device) || !value)
        return !is_device(device) ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *(uint64_t *)value = 0;
    return cudaSuccess;
}

cudaError_t runtime_cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value)
{
    (void)attribute;
    return !is_device(device)             ? cudaErrorInvalidDevice
           : value && !*(uint64_t *)value ? cudaSuccess
                                          : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaDeviceGraphMemTrim(int device)
{
    return is_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
}
