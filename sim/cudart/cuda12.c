/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA 12's runtime has besides CUDA 13's: forms without edge data and with a device's number in place of a location,
 * and the old names of what is the device's. Nothing in it is built for CUDA 13. */
#include "sim/cudart/runtime.h"

#if CUDART_VERSION < 13000

/* ---- graphs without edge data ---- */

cudaError_t runtime_cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, struct cudaGraphNodeParams *params)
{
    return runtime_cudaGraphAddNode_v2(node, graph, dependencies, NULL, count, params);
}

cudaError_t runtime_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    return runtime_cudaGraphGetEdges_v2(graph, from, to, NULL, count);
}

cudaError_t runtime_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    return runtime_cudaGraphNodeGetDependencies_v2(node, nodes, NULL, count);
}

cudaError_t runtime_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    return runtime_cudaGraphNodeGetDependentNodes_v2(node, nodes, NULL, count);
}

cudaError_t runtime_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                             size_t count)
{
    return runtime_cudaGraphAddDependencies_v2(graph, from, to, NULL, count);
}

cudaError_t runtime_cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                const cudaGraphNode_t *to, size_t count)
{
    return runtime_cudaGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

cudaError_t runtime_cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                                unsigned long long *id, cudaGraph_t *graph,
                                                const cudaGraphNode_t **dependencies, size_t *count)
{
    return runtime_cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, NULL, count);
}

cudaError_t runtime_cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                        size_t count, unsigned int flags)
{
    return runtime_cudaStreamUpdateCaptureDependencies_v2(stream, dependencies, NULL, count, flags);
}

/* ---- memory ---- */

static bool is_place(int device)
{
    return device == 0 || device == cudaCpuDeviceId;
}

cudaError_t runtime_cudaMemAdvise(const void *address, size_t count, enum cudaMemoryAdvise advice, int device)
{
    bool placed = advice != cudaMemAdviseSetReadMostly && advice != cudaMemAdviseUnsetReadMostly &&
                  advice != cudaMemAdviseUnsetPreferredLocation; /* these three ignore the device */
    if (placed && !is_place(device))
        return cudaErrorInvalidDevice;
    return runtime_cudaMemAdvise_v2(address, count, advice,
                                    (struct cudaMemLocation){.type = cudaMemLocationTypeDevice});
}

cudaError_t runtime_cudaMemPrefetchAsync(const void *address, size_t count, int device, cudaStream_t stream)
{
    if (!is_place(device))
        return cudaErrorInvalidDevice;
    return runtime_cudaMemPrefetchAsync_v2(address, count, (struct cudaMemLocation){.type = cudaMemLocationTypeDevice},
                                           0, stream);
}

cudaError_t runtime_cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t count,
                                         struct cudaMemcpyAttributes *attributes, size_t *indices,
                                         size_t attribute_count, size_t *failed, cudaStream_t stream)
{
    (void)attributes, (void)indices, (void)attribute_count;
    if (!to || !from || !sizes) {
        if (failed)
            *failed = SIZE_MAX; /* no single copy is to blame */
        return cudaErrorInvalidValue;
    }
    for (size_t i = 0; i < count; i++) {
        cudaError_t result = runtime_cudaMemcpyAsync(to[i], from[i], sizes[i], cudaMemcpyDefault, stream);
        if (result != cudaSuccess && failed)
            *failed = i;
        if (result != cudaSuccess)
            return result;
    }
    return cudaSuccess;
}

/* ---- old names ---- */

cudaError_t runtime_cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return runtime_cudaEventElapsedTime(ms, start, end);
}

cudaError_t runtime_cudaThreadSynchronize(void)
{
    return runtime_cudaDeviceSynchronize();
}

cudaError_t runtime_cudaThreadExit(void)
{
    return runtime_cudaDeviceReset();
}

cudaError_t runtime_cudaThreadGetLimit(size_t *value, enum cudaLimit limit)
{
    return runtime_cudaDeviceGetLimit(value, limit);
}

cudaError_t runtime_cudaThreadSetLimit(enum cudaLimit limit, size_t value)
{
    return runtime_cudaDeviceSetLimit(limit, value);
}

cudaError_t runtime_cudaThreadGetCacheConfig(enum cudaFuncCache *config)
{
    return runtime_cudaDeviceGetCacheConfig(config);
}

cudaError_t runtime_cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
    return runtime_cudaDeviceSetCacheConfig(config);
}

#endif
