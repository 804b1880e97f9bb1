/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, and capturing a stream. */
#include "sim/cudart/runtime.h"

#include <string.h>

#define WITH_STREAM(where, handle)                                                                                     \
    struct simgpu_stream *where = runtime_stream(handle);                                                              \
    if (!where)                                                                                                        \
    return cudaErrorInvalidResourceHandle

cudaError_t runtime_cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    struct simgpu_stream *created;
    if (!stream)
        return cudaErrorInvalidValue;
    int result = simgpu_stream_create(flags, priority, &created);
    if (!result)
        *stream = (cudaStream_t)created;
    return (cudaError_t)result;
}

cudaError_t runtime_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return runtime_cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t runtime_cudaStreamCreate(cudaStream_t *stream)
{
    return runtime_cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t runtime_cudaStreamDestroy(cudaStream_t stream)
{
    return (cudaError_t)simgpu_stream_destroy((struct simgpu_stream *)stream);
}

cudaError_t runtime_cudaStreamSynchronize(cudaStream_t stream)
{
    WITH_STREAM(where, stream);
    return (cudaError_t)simgpu_stream_synchronize(where);
}

cudaError_t runtime_cudaStreamQuery(cudaStream_t stream)
{
    WITH_STREAM(where, stream);
    return (cudaError_t)simgpu_stream_query(where);
}

cudaError_t runtime_cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    int priority;
    uint32_t id;
    WITH_STREAM(where, stream);
    return flags ? (cudaError_t)simgpu_stream_get(where, flags, &priority, &id) : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    unsigned flags;
    uint32_t id;
    WITH_STREAM(where, stream);
    return priority ? (cudaError_t)simgpu_stream_get(where, &flags, priority, &id) : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    WITH_STREAM(where, stream);
    if (!id)
        return cudaErrorInvalidValue;
    *id = simgpu_stream_id(where);
    return cudaSuccess;
}

#if CUDART_VERSION >= 12080
cudaError_t runtime_cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    WITH_STREAM(where, stream);
    if (!device)
        return cudaErrorInvalidValue;
    *device = simgpu_context_device(simgpu_stream_context(where));
    return cudaSuccess;
}
#endif

cudaError_t runtime_cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    return runtime_stream(to) && runtime_stream(from) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t runtime_cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                           cudaLaunchAttributeValue *value)
{
    WITH_STREAM(where, stream);
    if (!value)
        return cudaErrorInvalidValue;
    memset(value, 0, sizeof *value);
    if (attribute != cudaLaunchAttributePriority)
        return cudaSuccess;
    return runtime_cudaStreamGetPriority(stream, &value->priority);
}

cudaError_t runtime_cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                           const cudaLaunchAttributeValue *value)
{
    (void)attribute; /* all of them are hints */
    WITH_STREAM(where, stream);
    return value ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    WITH_STREAM(where, stream);
    return (cudaError_t)simgpu_stream_wait(where, (struct simgpu_event *)event, flags);
}

/* ---- events ---- */

cudaError_t runtime_cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    struct simgpu_event *created;
    if (!event)
        return cudaErrorInvalidValue;
    int result = simgpu_event_create(flags, &created);
    if (!result)
        *event = (cudaEvent_t)created;
    return (cudaError_t)result;
}

cudaError_t runtime_cudaEventCreate(cudaEvent_t *event)
{
    return runtime_cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t runtime_cudaEventDestroy(cudaEvent_t event)
{
    return (cudaError_t)simgpu_event_destroy((struct simgpu_event *)event);
}

cudaError_t runtime_cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    WITH_STREAM(where, stream);
    return (cudaError_t)simgpu_event_record((struct simgpu_event *)event, where, flags);
}

cudaError_t runtime_cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return runtime_cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t runtime_cudaEventQuery(cudaEvent_t event)
{
    return (cudaError_t)simgpu_event_query((struct simgpu_event *)event);
}

cudaError_t runtime_cudaEventSynchronize(cudaEvent_t event)
{
    return (cudaError_t)simgpu_event_synchronize((struct simgpu_event *)event);
}

cudaError_t runtime_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    if (!ms)
        return cudaErrorInvalidValue;
    return (cudaError_t)simgpu_event_elapsed(ms, (struct simgpu_event *)start, (struct simgpu_event *)end);
}

/* ---- capture ---- */

cudaError_t runtime_cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    WITH_STREAM(where, stream);
    return (cudaError_t)simgpu_capture_begin(where, (int)mode, NULL, NULL, 0);
}

cudaError_t runtime_cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                  const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges,
                                                  size_t count, enum cudaStreamCaptureMode mode)
{
    (void)edges; /* full dependencies only */
    WITH_STREAM(where, stream);
    if (!graph)
        return cudaErrorInvalidValue;
    return (cudaError_t)simgpu_capture_begin(where, (int)mode, (struct simgpu_graph *)graph,
                                             (struct simgpu_node *const *)dependencies, count);
}

cudaError_t runtime_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    struct simgpu_graph *captured = NULL;
    WITH_STREAM(where, stream);
    int result = simgpu_capture_end(where, &captured);
    if (graph)
        *graph = (cudaGraph_t)captured;
    return (cudaError_t)result;
}

cudaError_t runtime_cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    struct simgpu_capture_info info;
    WITH_STREAM(where, stream);
    if (!status)
        return cudaErrorInvalidValue;
    int result = simgpu_capture_query(where, &info);
    *status = (enum cudaStreamCaptureStatus)info.status;
    return (cudaError_t)result;
}

static cudaError_t capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count)
{
    struct simgpu_capture_info info;
    WITH_STREAM(where, stream);
    if (!status)
        return cudaErrorInvalidValue;
    int result = simgpu_capture_query(where, &info);
    *status = (enum cudaStreamCaptureStatus)info.status;
    if (result || !info.status)
        return (cudaError_t)result;
    if (id)
        *id = info.id;
    if (graph)
        *graph = (cudaGraph_t)info.graph;
    if (dependencies)
        *dependencies = (const cudaGraphNode_t *)info.dependencies;
    if (count)
        *count = info.dependency_count;
    return cudaSuccess;
}

cudaError_t runtime_cudaStreamGetCaptureInfo_v3(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                                unsigned long long *id, cudaGraph_t *graph,
                                                const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,
                                                size_t *count)
{
    if (edges)
        *edges = NULL; /* the vendor's word for default edges */
    return capture_info(stream, status, id, graph, dependencies, count);
}

cudaError_t runtime_cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                           const cudaGraphEdgeData *edges, size_t count,
                                                           unsigned int flags)
{
    (void)edges;
    WITH_STREAM(where, stream);
    return (cudaError_t)simgpu_capture_update(where, (struct simgpu_node *const *)dependencies, count,
                                              flags == cudaStreamSetCaptureDependencies);
}

cudaError_t runtime_cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    *mode = (enum cudaStreamCaptureMode)simgpu_capture_exchange_mode((int)*mode);
    return cudaSuccess;
}
