/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, and capturing a stream. */
#include "sim/driver/driver.h"

#define EVENT(handle) ((struct simgpu_event *)(handle))
#define NODES(array)  ((struct simgpu_node *const *)(array))

CUresult driver_cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    return stream ? (CUresult)simgpu_stream_create(flags, priority, (struct simgpu_stream **)stream)
                  : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return driver_cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult driver_cuStreamDestroy_v2(CUstream stream)
{
    return (CUresult)simgpu_stream_destroy((struct simgpu_stream *)stream);
}

CUresult driver_cuStreamSynchronize(CUstream stream)
{
    DRIVER_STREAM(where, stream);
    return (CUresult)simgpu_stream_synchronize(where);
}

CUresult driver_cuStreamQuery(CUstream stream)
{
    DRIVER_STREAM(where, stream);
    return (CUresult)simgpu_stream_query(where);
}

CUresult driver_cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
    int priority;
    uint32_t id;
    DRIVER_STREAM(where, stream);
    return flags ? (CUresult)simgpu_stream_get(where, flags, &priority, &id) : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuStreamGetPriority(CUstream stream, int *priority)
{
    unsigned flags;
    uint32_t id;
    DRIVER_STREAM(where, stream);
    return priority ? (CUresult)simgpu_stream_get(where, &flags, priority, &id) : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuStreamGetId(CUstream stream, unsigned long long *id)
{
    DRIVER_STREAM(where, stream);
    if (!id)
        return CUDA_ERROR_INVALID_VALUE;
    *id = simgpu_stream_id(where);
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    DRIVER_STREAM(where, stream);
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = (CUcontext)simgpu_stream_context(where);
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamGetDevice(CUstream stream, CUdevice *device)
{
    DRIVER_STREAM(where, stream);
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = simgpu_context_device(simgpu_stream_context(where));
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    DRIVER_STREAM(where, stream);
    return (CUresult)simgpu_stream_wait(where, EVENT(event), flags);
}

CUresult driver_cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned int flags)
{
    DRIVER_STREAM(where, stream);
    struct simgpu_work work = {.type = SIMGPU_WORK_HOST, .host = {.stream = stream, .data = data}};
    work.host.stream_function = (void (*)(void *, int, void *))callback;
    return flags ? CUDA_ERROR_INVALID_VALUE : (CUresult)simgpu_enqueue(where, &work);
}

/* ---- events ---- */

CUresult driver_cuEventCreate(CUevent *event, unsigned int flags)
{
    return event ? (CUresult)simgpu_event_create(flags, (struct simgpu_event **)event) : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuEventDestroy_v2(CUevent event)
{
    return (CUresult)simgpu_event_destroy(EVENT(event));
}

CUresult driver_cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
    DRIVER_STREAM(where, stream);
    return (CUresult)simgpu_event_record(EVENT(event), where, flags);
}

CUresult driver_cuEventRecord(CUevent event, CUstream stream)
{
    return driver_cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult driver_cuEventQuery(CUevent event)
{
    return (CUresult)simgpu_event_query(EVENT(event));
}

CUresult driver_cuEventSynchronize(CUevent event)
{
    return (CUresult)simgpu_event_synchronize(EVENT(event));
}

CUresult driver_cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    return ms ? (CUresult)simgpu_event_elapsed(ms, EVENT(start), EVENT(end)) : CUDA_ERROR_INVALID_VALUE;
}

#if CUDA_VERSION >= 12080
CUresult driver_cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
    return driver_cuEventElapsedTime(ms, start, end);
}
#endif

/* ---- capture ---- */

CUresult driver_cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    DRIVER_STREAM(where, stream);
    return (CUresult)simgpu_capture_begin(where, (int)mode, NULL, NULL, 0);
}

CUresult driver_cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                                            const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode)
{
    (void)edges;
    DRIVER_STREAM(where, stream);
    return graph ? (CUresult)simgpu_capture_begin(where, (int)mode, (struct simgpu_graph *)graph, NODES(dependencies),
                                                  count)
                 : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    struct simgpu_graph *captured = NULL;
    DRIVER_STREAM(where, stream);
    int result = simgpu_capture_end(where, &captured);
    if (graph)
        *graph = (CUgraph)captured;
    return (CUresult)result;
}

CUresult driver_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    struct simgpu_capture_info info;
    DRIVER_STREAM(where, stream);
    if (!status)
        return CUDA_ERROR_INVALID_VALUE;
    int result = simgpu_capture_query(where, &info);
    *status = (CUstreamCaptureStatus)info.status;
    return (CUresult)result;
}

CUresult driver_cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                          CUgraph *graph, const CUgraphNode **dependencies, size_t *count)
{
    struct simgpu_capture_info info;
    DRIVER_STREAM(where, stream);
    if (!status)
        return CUDA_ERROR_INVALID_VALUE;
    int result = simgpu_capture_query(where, &info);
    *status = (CUstreamCaptureStatus)info.status;
    if (result || !info.status)
        return (CUresult)result;
    if (id)
        *id = info.id;
    if (graph)
        *graph = (CUgraph)info.graph;
    if (dependencies)
        *dependencies = (const CUgraphNode *)info.dependencies;
    if (count)
        *count = info.dependency_count;
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    return driver_cuStreamGetCaptureInfo_v2(stream, status, id, NULL, NULL, NULL);
}

CUresult driver_cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                          CUgraph *graph, const CUgraphNode **dependencies,
                                          const CUgraphEdgeData **edges, size_t *count)
{
    if (edges)
        *edges = NULL; /* the vendor's word for default edges */
    return driver_cuStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}

CUresult driver_cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies, size_t count,
                                                  unsigned int flags)
{
    DRIVER_STREAM(where, stream);
    return (CUresult)simgpu_capture_update(where, NODES(dependencies), count,
                                           flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

CUresult driver_cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *dependencies,
                                                     const CUgraphEdgeData *edges, size_t count, unsigned int flags)
{
    (void)edges;
    return driver_cuStreamUpdateCaptureDependencies(stream, dependencies, count, flags);
}

CUresult driver_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = (CUstreamCaptureMode)simgpu_capture_exchange_mode((int)*mode);
    return CUDA_SUCCESS;
}
