/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills without CUDA arrays. */
#include "sim/driver/driver.h"

enum direction { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, ANY }; /* as the core takes them */

static CUresult enqueue(const struct simgpu_work *work, CUstream stream, bool wait)
{
    DRIVER_STREAM(where, stream);
    int result = wait ? simgpu_capture_forbids() : SIMGPU_SUCCESS;
    if (!result)
        result = simgpu_enqueue(where, work);
    if (!result && wait)
        result = simgpu_stream_synchronize(where);
    return (CUresult)result;
}

static CUresult row(CUdeviceptr to, CUdeviceptr from, size_t count, enum direction direction, CUstream stream,
                    bool wait)
{
    struct simgpu_work work = {.type = SIMGPU_WORK_COPY,
                               .copy = {.to = (void *)(uintptr_t)to,
                                        .from = (const void *)(uintptr_t)from,
                                        .width = count,
                                        .height = 1,
                                        .depth = 1,
                                        .kind = (int)direction}};
    return enqueue(&work, stream, wait);
}

#define ADDRESS(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

CUresult driver_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t count)
{
    return row(to, from, count, ANY, NULL, true);
}

CUresult driver_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t count, CUstream stream)
{
    return row(to, from, count, ANY, stream, false);
}

CUresult driver_cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t count)
{
    return row(to, ADDRESS(from), count, HOST_TO_DEVICE, NULL, true);
}

CUresult driver_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t count, CUstream stream)
{
    return row(to, ADDRESS(from), count, HOST_TO_DEVICE, stream, false);
}

CUresult driver_cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t count)
{
    return row(ADDRESS(to), from, count, DEVICE_TO_HOST, NULL, true);
}

CUresult driver_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t count, CUstream stream)
{
    return row(ADDRESS(to), from, count, DEVICE_TO_HOST, stream, false);
}

CUresult driver_cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t count)
{
    return row(to, from, count, DEVICE_TO_DEVICE, NULL, true);
}

CUresult driver_cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t count, CUstream stream)
{
    return row(to, from, count, DEVICE_TO_DEVICE, stream, false);
}

CUresult driver_cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                             size_t count)
{
    if (!simgpu_context_valid(to_context) || !simgpu_context_valid(from_context))
        return CUDA_ERROR_INVALID_CONTEXT;
    return row(to, from, count, DEVICE_TO_DEVICE, NULL, true);
}

CUresult driver_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                  size_t count, CUstream stream)
{
    if (!simgpu_context_valid(to_context) || !simgpu_context_valid(from_context))
        return CUDA_ERROR_INVALID_CONTEXT;
    return row(to, from, count, DEVICE_TO_DEVICE, stream, false);
}

static CUresult plane(const CUDA_MEMCPY2D *asked, CUstream stream, bool wait)
{
    if (!asked)
        return CUDA_ERROR_INVALID_VALUE;
    if (asked->srcMemoryType == CU_MEMORYTYPE_ARRAY || asked->dstMemoryType == CU_MEMORYTYPE_ARRAY)
        return driver_missing("cuMemcpy2D with a CUDA array");
    const char *from =
        asked->srcMemoryType == CU_MEMORYTYPE_HOST ? asked->srcHost : (const char *)(uintptr_t)asked->srcDevice;
    char *to = asked->dstMemoryType == CU_MEMORYTYPE_HOST ? asked->dstHost : (char *)(uintptr_t)asked->dstDevice;
    struct simgpu_work work = {.type = SIMGPU_WORK_COPY,
                               .copy = {.to = to + asked->dstXInBytes + asked->dstY * asked->dstPitch,
                                        .from = from + asked->srcXInBytes + asked->srcY * asked->srcPitch,
                                        .width = asked->WidthInBytes,
                                        .height = asked->Height,
                                        .depth = 1,
                                        .to_pitch = asked->dstPitch ? asked->dstPitch : asked->WidthInBytes,
                                        .from_pitch = asked->srcPitch ? asked->srcPitch : asked->WidthInBytes,
                                        .kind = ANY}};
    return enqueue(&work, stream, wait);
}

CUresult driver_cuMemcpy2D_v2(const CUDA_MEMCPY2D *asked)
{
    return plane(asked, NULL, true);
}

CUresult driver_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *asked)
{
    return plane(asked, NULL, true);
}

CUresult driver_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *asked, CUstream stream)
{
    return plane(asked, stream, false);
}

/* ---- fills ---- */

static CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
                     CUstream stream)
{
    struct simgpu_work work = {.type = SIMGPU_WORK_FILL,
                               .fill = {.to = (void *)(uintptr_t)to,
                                        .value = value,
                                        .element = element,
                                        .width = width,
                                        .height = height,
                                        .pitch = pitch}};
    return to % element ? CUDA_ERROR_INVALID_VALUE : enqueue(&work, stream, false);
}

CUresult driver_cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count)
{
    return fill(to, count, value, 1, count, 1, NULL);
}

CUresult driver_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    return fill(to, count, value, 1, count, 1, stream);
}

CUresult driver_cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count)
{
    return fill(to, 2 * count, value, 2, count, 1, NULL);
}

CUresult driver_cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    return fill(to, 2 * count, value, 2, count, 1, stream);
}

CUresult driver_cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count)
{
    return fill(to, 4 * count, value, 4, count, 1, NULL);
}

CUresult driver_cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream)
{
    return fill(to, 4 * count, value, 4, count, 1, stream);
}

CUresult driver_cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height)
{
    return fill(to, pitch, value, 1, width, height, NULL);
}

CUresult driver_cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                                  CUstream stream)
{
    return fill(to, pitch, value, 1, width, height, stream);
}

CUresult driver_cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height)
{
    return fill(to, pitch, value, 4, width, height, NULL);
}

CUresult driver_cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height,
                                   CUstream stream)
{
    return fill(to, pitch, value, 4, width, height, stream);
}
