/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills: all forms without CUDA arrays. */
#include "sim/cudart/runtime.h"

static cudaError_t enqueue(const struct simgpu_work *work, cudaStream_t stream, bool wait)
{
    struct simgpu_stream *where = runtime_stream(stream);
    if (!where)
        return cudaErrorInvalidResourceHandle;
    int result = wait ? simgpu_capture_forbids() : SIMGPU_SUCCESS;
    if (!result)
        result = simgpu_enqueue(where, work);
    if (!result && wait)
        result = simgpu_stream_synchronize(where);
    return (cudaError_t)result;
}

cudaError_t runtime_copy(const struct simgpu_copy *copy, cudaStream_t stream, bool wait)
{
    struct simgpu_work work = {.type = SIMGPU_WORK_COPY, .copy = *copy};
    return enqueue(&work, stream, wait);
}

static struct simgpu_copy row(void *to, const void *from, size_t count, enum cudaMemcpyKind kind)
{
    return (struct simgpu_copy){.to = to, .from = from, .width = count, .height = 1, .depth = 1, .kind = (int)kind};
}

cudaError_t runtime_cudaMemcpy(void *to, const void *from, size_t count, enum cudaMemcpyKind kind)
{
    struct simgpu_copy copy = row(to, from, count, kind);
    return runtime_copy(&copy, NULL, true);
}

cudaError_t runtime_cudaMemcpyAsync(void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                                    cudaStream_t stream)
{
    struct simgpu_copy copy = row(to, from, count, kind);
    return runtime_copy(&copy, stream, false);
}

static struct simgpu_copy plane(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind)
{
    return (struct simgpu_copy){.to = to,
                                .from = from,
                                .width = width,
                                .height = height,
                                .depth = 1,
                                .to_pitch = to_pitch,
                                .from_pitch = from_pitch,
                                .kind = (int)kind};
}

cudaError_t runtime_cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                 size_t height, enum cudaMemcpyKind kind)
{
    struct simgpu_copy copy = plane(to, to_pitch, from, from_pitch, width, height, kind);
    return width > to_pitch || width > from_pitch ? cudaErrorInvalidPitchValue : runtime_copy(&copy, NULL, true);
}

cudaError_t runtime_cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                      size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct simgpu_copy copy = plane(to, to_pitch, from, from_pitch, width, height, kind);
    return width > to_pitch || width > from_pitch ? cudaErrorInvalidPitchValue : runtime_copy(&copy, stream, false);
}

/* False: between CUDA arrays. */
static bool box(const struct cudaMemcpy3DParms *asked, struct simgpu_copy *copy)
{
    const struct cudaPitchedPtr *to = &asked->dstPtr, *from = &asked->srcPtr;
    if (asked->srcArray || asked->dstArray)
        return false;
    *copy = (struct simgpu_copy){.to_pitch = to->pitch,
                                 .from_pitch = from->pitch,
                                 .to_slice = to->pitch * to->ysize,
                                 .from_slice = from->pitch * from->ysize,
                                 .width = asked->extent.width,
                                 .height = asked->extent.height,
                                 .depth = asked->extent.depth,
                                 .kind = (int)asked->kind};
    copy->to = (char *)to->ptr + asked->dstPos.x + asked->dstPos.y * to->pitch + asked->dstPos.z * copy->to_slice;
    copy->from =
        (const char *)from->ptr + asked->srcPos.x + asked->srcPos.y * from->pitch + asked->srcPos.z * copy->from_slice;
    return true;
}

cudaError_t runtime_cudaMemcpy3D(const struct cudaMemcpy3DParms *asked)
{
    struct simgpu_copy copy;
    if (!asked)
        return cudaErrorInvalidValue;
    return box(asked, &copy) ? runtime_copy(&copy, NULL, true) : runtime_missing("cudaMemcpy3D with a CUDA array");
}

cudaError_t runtime_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *asked, cudaStream_t stream)
{
    struct simgpu_copy copy;
    if (!asked)
        return cudaErrorInvalidValue;
    return box(asked, &copy) ? runtime_copy(&copy, stream, false)
                             : runtime_missing("cudaMemcpy3DAsync with a CUDA array");
}

cudaError_t runtime_cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t count)
{
    if (simgpu_device_board(to_device) < 0 || simgpu_device_board(from_device) < 0)
        return cudaErrorInvalidDevice;
    return runtime_cudaMemcpy(to, from, count, cudaMemcpyDeviceToDevice);
}

cudaError_t runtime_cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t count,
                                        cudaStream_t stream)
{
    if (simgpu_device_board(to_device) < 0 || simgpu_device_board(from_device) < 0)
        return cudaErrorInvalidDevice;
    return runtime_cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToDevice, stream);
}

#if CUDART_VERSION >= 13000
cudaError_t runtime_cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                                         struct cudaMemcpyAttributes *attributes, size_t *indices,
                                         size_t attribute_count, cudaStream_t stream)
{
    (void)attributes, (void)indices, (void)attribute_count;
    cudaError_t result = to && from && sizes ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < count && result == cudaSuccess; i++)
        result = runtime_cudaMemcpyAsync(to[i], from[i], sizes[i], cudaMemcpyDefault, stream);
    return result;
}
#endif

/* ---- to and from symbols ---- */

static cudaError_t symbol_place(const void *symbol, size_t offset, size_t count, void **place)
{
    size_t size;
    if (!runtime_variable(symbol, place, &size))
        return cudaErrorInvalidSymbol;
    if (offset > size || count > size - offset)
        return cudaErrorInvalidValue;
    *place = (char *)*place + offset;
    return cudaSuccess;
}

cudaError_t runtime_cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t count, size_t offset,
                                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *place;
    cudaError_t result = symbol_place(symbol, offset, count, &place);
    return result != cudaSuccess ? result : runtime_cudaMemcpyAsync(place, from, count, kind, stream);
}

cudaError_t runtime_cudaMemcpyToSymbol(const void *symbol, const void *from, size_t count, size_t offset,
                                       enum cudaMemcpyKind kind)
{
    void *place;
    cudaError_t result = symbol_place(symbol, offset, count, &place);
    return result != cudaSuccess ? result : runtime_cudaMemcpy(place, from, count, kind);
}

cudaError_t runtime_cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t count, size_t offset,
                                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *place;
    cudaError_t result = symbol_place(symbol, offset, count, &place);
    return result != cudaSuccess ? result : runtime_cudaMemcpyAsync(to, place, count, kind, stream);
}

cudaError_t runtime_cudaMemcpyFromSymbol(void *to, const void *symbol, size_t count, size_t offset,
                                         enum cudaMemcpyKind kind)
{
    void *place;
    cudaError_t result = symbol_place(symbol, offset, count, &place);
    return result != cudaSuccess ? result : runtime_cudaMemcpy(to, place, count, kind);
}

/* ---- fills ---- */

static cudaError_t fill(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream, bool wait)
{
    struct simgpu_work work = {
        .type = SIMGPU_WORK_FILL,
        .fill = {
            .to = to, .value = (unsigned)value & 0xff, .element = 1, .width = width, .height = height, .pitch = pitch}};
    return enqueue(&work, stream, wait);
}

/* The real ones don't wait either, for device memory. */
cudaError_t runtime_cudaMemset(void *to, int value, size_t count)
{
    return fill(to, count, value, count, 1, NULL, false);
}

cudaError_t runtime_cudaMemsetAsync(void *to, int value, size_t count, cudaStream_t stream)
{
    return fill(to, count, value, count, 1, stream, false);
}

cudaError_t runtime_cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return fill(to, pitch, value, width, height, NULL, false);
}

cudaError_t runtime_cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                      cudaStream_t stream)
{
    return fill(to, pitch, value, width, height, stream, false);
}

cudaError_t runtime_cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                                      cudaStream_t stream)
{
    cudaError_t result = cudaSuccess;
    for (size_t z = 0; z < extent.depth && result == cudaSuccess; z++)
        result =
            fill((char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value, extent.width, extent.height, stream, false);
    return result;
}

cudaError_t runtime_cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    return runtime_cudaMemset3DAsync(to, value, extent, NULL);
}
