/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: allocations, page-locked memory, address ranges, pools, and what can be asked of a pointer. */
#include "sim/driver/driver.h"

#include <string.h>

static void *pointer(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

static CUresult allocate(enum simgpu_memory_kind kind, void **address, size_t size, unsigned flags)
{
    if (!address || !size)
        return CUDA_ERROR_INVALID_VALUE;
    int result = simgpu_capture_forbids();
    return (CUresult)(result ? result : simgpu_memory_allocate(kind, size, flags, NULL, address));
}

CUresult driver_cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
    return allocate(SIMGPU_MEMORY_DEVICE, (void **)address, size, 0);
}

CUresult driver_cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned int flags)
{
    return allocate(SIMGPU_MEMORY_MANAGED, (void **)address, size, flags);
}

CUresult driver_cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                                   unsigned int element)
{
    if (!pitch || (element != 4 && element != 8 && element != 16))
        return CUDA_ERROR_INVALID_VALUE;
    *pitch = (width + 511) / 512 * 512;
    return allocate(SIMGPU_MEMORY_DEVICE, (void **)address, *pitch * height, 0);
}

CUresult driver_cuMemHostAlloc(void **address, size_t size, unsigned int flags)
{
    return allocate(SIMGPU_MEMORY_HOST, address, size, flags);
}

CUresult driver_cuMemAllocHost_v2(void **address, size_t size)
{
    return allocate(SIMGPU_MEMORY_HOST, address, size, 0);
}

static CUresult release(enum simgpu_memory_kind kind, void *address)
{
    int result = simgpu_capture_forbids();
    if (result || !address)
        return (CUresult)result;
    simgpu_synchronize();
    return (CUresult)simgpu_memory_free(kind, address);
}

CUresult driver_cuMemFree_v2(CUdeviceptr address)
{
    return release(SIMGPU_MEMORY_DEVICE, pointer(address));
}

CUresult driver_cuMemFreeHost(void *address)
{
    return release(SIMGPU_MEMORY_HOST, address);
}

CUresult driver_cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    if (!free_bytes || !total_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    simgpu_memory_info(simgpu_current_device(), free_bytes, total_bytes);
    return CUDA_SUCCESS;
}

CUresult driver_cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    struct simgpu_memory memory;
    if (!simgpu_memory_find(pointer(address), &memory))
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = (CUdeviceptr)(uintptr_t)memory.base;
    if (size)
        *size = memory.size;
    return CUDA_SUCCESS;
}

/* ---- page-locked memory ---- */

CUresult driver_cuMemHostRegister_v2(void *address, size_t size, unsigned int flags)
{
    return (CUresult)simgpu_memory_register(address, size, flags);
}

CUresult driver_cuMemHostUnregister(void *address)
{
    return (CUresult)simgpu_memory_unregister(address);
}

static bool find_host(const void *address, struct simgpu_memory *memory)
{
    return simgpu_memory_find(address, memory) &&
           (memory->kind == SIMGPU_MEMORY_HOST || memory->kind == SIMGPU_MEMORY_REGISTERED);
}

CUresult driver_cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned int flags)
{
    struct simgpu_memory memory;
    if (!device || flags || !find_host(host, &memory))
        return CUDA_ERROR_INVALID_VALUE;
    *device = (CUdeviceptr)(uintptr_t)host;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemHostGetFlags(unsigned int *flags, void *host)
{
    struct simgpu_memory memory;
    if (!flags || !find_host(host, &memory))
        return CUDA_ERROR_INVALID_VALUE;
    *flags = memory.flags;
    return CUDA_SUCCESS;
}

/* ---- address ranges ---- */

CUresult driver_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *properties,
                                              CUmemAllocationGranularity_flags option)
{
    (void)option;
    if (!granularity || !properties)
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = SIMGPU_GRANULARITY;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment, CUdeviceptr wanted,
                                    unsigned long long flags)
{
    if (!address || flags)
        return CUDA_ERROR_INVALID_VALUE;
    return (CUresult)simgpu_range_reserve(size, alignment, pointer(wanted), (void **)address);
}

CUresult driver_cuMemAddressFree(CUdeviceptr address, size_t size)
{
    return (CUresult)simgpu_range_free(pointer(address), size);
}

CUresult driver_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *properties,
                            unsigned long long flags)
{
    if (!handle || !properties || flags || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return driver_missing("cuMemCreate with a shareable handle");
    bool on_device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    int device = on_device ? properties->location.id : 0;
    if (simgpu_device_board(device) < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    return (CUresult)simgpu_physical_create(device, size, handle);
}

CUresult driver_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    return (CUresult)simgpu_physical_release(handle);
}

CUresult driver_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    return handle ? (CUresult)simgpu_physical_retain(address, handle) : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                         unsigned long long flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : (CUresult)simgpu_range_map(pointer(address), size, offset, handle);
}

CUresult driver_cuMemUnmap(CUdeviceptr address, size_t size)
{
    return (CUresult)simgpu_range_unmap(pointer(address), size);
}

CUresult driver_cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count)
{
    return access && count ? (CUresult)simgpu_range_access(pointer(address), size) : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
    if (!flags || !location)
        return CUDA_ERROR_INVALID_VALUE;
    struct simgpu_memory memory;
    CUresult result = (CUresult)simgpu_range_access(pointer(address), 1);
    if (result != CUDA_SUCCESS || !simgpu_memory_find(pointer(address), &memory))
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    *flags = location->id == memory.device ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

/* ---- stream-ordered memory ---- */

static bool captures(struct simgpu_stream *stream)
{
    struct simgpu_capture_info info;
    return !simgpu_capture_query(stream, &info) && info.status;
}

CUresult driver_cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool pool, CUstream stream)
{
    DRIVER_STREAM(where, stream);
    if (!address || !size)
        return CUDA_ERROR_INVALID_VALUE;
    if (captures(where))
        return driver_missing("cuMemAllocAsync in a stream that captures");
    return (CUresult)simgpu_pool_allocate((struct simgpu_pool *)pool, size, (void **)address);
}

CUresult driver_cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream)
{
    DRIVER_STREAM(where, stream);
    int device = simgpu_context_device(simgpu_stream_context(where));
    return driver_cuMemAllocFromPoolAsync(address, size, (CUmemoryPool)simgpu_pool_current(device), stream);
}

CUresult driver_cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    DRIVER_STREAM(where, stream);
    if (captures(where))
        return driver_missing("cuMemFreeAsync in a stream that captures");
    simgpu_stream_settle(where); /* host functions before it may still read */
    return (CUresult)simgpu_memory_free(SIMGPU_MEMORY_DEVICE, pointer(address));
}

CUresult driver_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    if (!pool || !properties || simgpu_device_board(properties->location.id) < 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return driver_missing("cuMemPoolCreate with a shareable handle");
    *pool = (CUmemoryPool)simgpu_pool_create(properties->location.id, properties->maxSize);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult driver_cuMemPoolDestroy(CUmemoryPool pool)
{
    return (CUresult)simgpu_pool_destroy((struct simgpu_pool *)pool);
}

CUresult driver_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return value ? (CUresult)simgpu_pool_get((struct simgpu_pool *)pool, (int)attribute, value)
                 : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return value ? (CUresult)simgpu_pool_set((struct simgpu_pool *)pool, (int)attribute, value)
                 : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    return (CUresult)simgpu_pool_trim((struct simgpu_pool *)pool, keep);
}

CUresult driver_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (simgpu_device_board(list[i].location.id) < 0)
            return CUDA_ERROR_INVALID_DEVICE;
    return (CUresult)simgpu_pool_trim((struct simgpu_pool *)pool, 0);
}

/* ---- pointers ---- */

/* False: an attribute that is not known here. */
static bool attribute_of(CUpointer_attribute attribute, const struct simgpu_memory *memory, CUdeviceptr address,
                         void *data)
{
    bool host = memory->kind == SIMGPU_MEMORY_HOST || memory->kind == SIMGPU_MEMORY_REGISTERED;
    bool managed = memory->kind == SIMGPU_MEMORY_MANAGED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = (CUcontext)simgpu_context_primary(memory->device);
        return true;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = address;
        return true;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)data = host || managed ? pointer(address) : NULL;
        return true;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)data = managed;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = memory->device;
        return true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)data = memory->id;
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = (CUdeviceptr)(uintptr_t)memory->base;
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = memory->size;
        return true;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned *)data = 1;
        return true;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(unsigned *)data = 0;
        return true;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(unsigned long long *)data = 0;
        return true;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)data = (CUmemoryPool)memory->pool;
        return true;
    default:
        return false;
    }
}

CUresult driver_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct simgpu_memory memory;
    if (!data || !simgpu_memory_find(pointer(address), &memory))
        return CUDA_ERROR_INVALID_VALUE;
    return attribute_of(attribute, &memory, address, data) ? CUDA_SUCCESS
                                                           : driver_missing("cuPointerGetAttribute's attribute");
}

CUresult driver_cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                       CUdeviceptr address)
{
    struct simgpu_memory memory;
    if (!attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    bool known = simgpu_memory_find(pointer(address), &memory);
    for (unsigned i = 0; i < count; i++) {
        bool wide = attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT ||
                    attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                    attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER;
        if (known && attribute_of(attributes[i], &memory, address, data[i]))
            continue;
        memset(data[i], 0, wide ? 8 : 4); /* what the vendor gives for pageable memory */
    }
    return CUDA_SUCCESS;
}

CUresult driver_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct simgpu_memory memory;
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !simgpu_memory_find(pointer(address), &memory))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
