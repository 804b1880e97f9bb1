/* SPDX-License-Identifier: Apache-2.0 */
/* A graph's nodes: adding each kind, asking and changing its parameters, in the template and in the executable. */
#include "sim/cudart/runtime.h"

#include <string.h>

#define GRAPH(handle) ((struct simgpu_graph *)(handle))
#define NODE(handle)  ((struct simgpu_node *)(handle))
#define EXEC(handle)  ((struct simgpu_exec *)(handle))

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                       const struct simgpu_work *work)
{
    struct simgpu_node *added;
    if (!node || (count && !dependencies))
        return cudaErrorInvalidValue;
    int result = simgpu_graph_add(GRAPH(graph), (struct simgpu_node *const *)dependencies, count, work, &added);
    if (!result)
        *node = (cudaGraphNode_t)added;
    return (cudaError_t)result;
}

/* What a node holds, if it is of TYPE. */
static cudaError_t get(cudaGraphNode_t node, enum simgpu_work_type type, struct simgpu_work *work)
{
    int result = simgpu_node_work(NODE(node), work);
    return result ? (cudaError_t)result : work->type == type ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t set(cudaGraphNode_t node, const struct simgpu_work *work)
{
    return (cudaError_t)simgpu_node_change(NODE(node), work);
}

static cudaError_t set_exec(cudaGraphExec_t exec, cudaGraphNode_t node, const struct simgpu_work *work)
{
    return (cudaError_t)simgpu_exec_change(EXEC(exec), NODE(node), work);
}

/* ---- kernels ---- */

/* The `extra` form: pairs of a key and a value, ended by NULL (CU_LAUNCH_PARAM_*). */
static void read_extra(void **extra, struct simgpu_kernel_launch *launch)
{
    for (; extra && extra[0]; extra += 2) {
        if (extra[0] == (void *)1)
            launch->buffer = extra[1];
        else if (extra[0] == (void *)2)
            launch->buffer_size = *(size_t *)extra[1];
    }
}

static cudaError_t kernel_work(const struct cudaKernelNodeParams *params, struct simgpu_work *work)
{
    if (!params)
        return cudaErrorInvalidValue;
    *work =
        (struct simgpu_work){.type = SIMGPU_WORK_KERNEL,
                             .kernel = {.kernel = runtime_kernel(params->func),
                                        .dims = {.grid = {params->gridDim.x, params->gridDim.y, params->gridDim.z},
                                                 .block = {params->blockDim.x, params->blockDim.y, params->blockDim.z},
                                                 .shared_bytes = params->sharedMemBytes},
                                        .args = params->kernelParams}};
    read_extra(params->extra, &work->kernel);
    return work->kernel.kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t runtime_cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t count,
                                           const struct cudaKernelNodeParams *params)
{
    struct simgpu_work work;
    cudaError_t result = kernel_work(params, &work);
    return result != cudaSuccess ? result : add(node, graph, dependencies, count, &work);
}

/* Parameters whose sizes nothing public tells are not kept: kernelParams is then NULL. */
cudaError_t runtime_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    struct simgpu_work work;
    cudaError_t result = params ? get(node, SIMGPU_WORK_KERNEL, &work) : cudaErrorInvalidValue;
    if (result != cudaSuccess)
        return result;
    const struct simgpu_dims *dims = &work.kernel.dims;
    *params = (struct cudaKernelNodeParams){.func = work.kernel.kernel,
                                            .gridDim = {dims->grid[0], dims->grid[1], dims->grid[2]},
                                            .blockDim = {dims->block[0], dims->block[1], dims->block[2]},
                                            .sharedMemBytes = (unsigned)dims->shared_bytes,
                                            .kernelParams = work.kernel.args};
    return cudaSuccess;
}

cudaError_t runtime_cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *params)
{
    struct simgpu_work work;
    cudaError_t result = kernel_work(params, &work);
    return result != cudaSuccess ? result : set(node, &work);
}

cudaError_t runtime_cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const struct cudaKernelNodeParams *params)
{
    struct simgpu_work work;
    cudaError_t result = kernel_work(params, &work);
    return result != cudaSuccess ? result : set_exec(exec, node, &work);
}

cudaError_t runtime_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                                    cudaLaunchAttributeValue *value)
{
    struct simgpu_work work;
    cudaError_t result = value ? get(node, SIMGPU_WORK_KERNEL, &work) : cudaErrorInvalidValue;
    if (result != cudaSuccess)
        return result;
    memset(value, 0, sizeof *value);
    if (attribute == cudaLaunchAttributePriority)
        value->priority = work.kernel.priority;
    else if (attribute == cudaLaunchAttributeCooperative)
        value->cooperative = work.kernel.cooperative;
    else if (attribute == cudaLaunchAttributeClusterDimension) {
        value->clusterDim.x = work.kernel.dims.cluster[0];
        value->clusterDim.y = work.kernel.dims.cluster[1];
        value->clusterDim.z = work.kernel.dims.cluster[2];
    }
    return cudaSuccess;
}

cudaError_t runtime_cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                                    const cudaLaunchAttributeValue *value)
{
    struct simgpu_work work;
    cudaError_t result = value ? get(node, SIMGPU_WORK_KERNEL, &work) : cudaErrorInvalidValue;
    if (result != cudaSuccess)
        return result;
    if (attribute == cudaLaunchAttributePriority)
        work.kernel.priority = value->priority;
    else if (attribute == cudaLaunchAttributeCooperative)
        work.kernel.cooperative = value->cooperative != 0;
    else if (attribute == cudaLaunchAttributeClusterDimension) {
        work.kernel.dims.cluster[0] = value->clusterDim.x;
        work.kernel.dims.cluster[1] = value->clusterDim.y;
        work.kernel.dims.cluster[2] = value->clusterDim.z;
    }
    return set(node, &work);
}

/* ---- copies ---- */

static struct simgpu_work row_work(void *to, const void *from, size_t count, enum cudaMemcpyKind kind)
{
    return (struct simgpu_work){
        .type = SIMGPU_WORK_COPY,
        .copy = {.to = to, .from = from, .width = count, .height = 1, .depth = 1, .kind = (int)kind}};
}

static cudaError_t box_work(const struct cudaMemcpy3DParms *p, struct simgpu_work *work)
{
    if (!p)
        return cudaErrorInvalidValue;
    if (p->srcArray || p->dstArray)
        return runtime_missing("a graph's copy with a CUDA array");
    size_t to_slice = p->dstPtr.pitch * p->dstPtr.ysize, from_slice = p->srcPtr.pitch * p->srcPtr.ysize;
    *work = (struct simgpu_work){
        .type = SIMGPU_WORK_COPY,
        .copy = {.to = (char *)p->dstPtr.ptr + p->dstPos.x + p->dstPos.y * p->dstPtr.pitch + p->dstPos.z * to_slice,
                 .from = (const char *)p->srcPtr.ptr + p->srcPos.x + p->srcPos.y * p->srcPtr.pitch +
                         p->srcPos.z * from_slice,
                 .width = p->extent.width,
                 .height = p->extent.height,
                 .depth = p->extent.depth,
                 .to_pitch = p->dstPtr.pitch,
                 .from_pitch = p->srcPtr.pitch,
                 .to_slice = to_slice,
                 .from_slice = from_slice,
                 .kind = (int)p->kind}};
    return cudaSuccess;
}

cudaError_t runtime_cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t count,
                                           const struct cudaMemcpy3DParms *params)
{
    struct simgpu_work work;
    cudaError_t result = box_work(params, &work);
    return result != cudaSuccess ? result : add(node, graph, dependencies, count, &work);
}

cudaError_t runtime_cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies, size_t count, void *to,
                                             const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    struct simgpu_work work = row_work(to, from, bytes, kind);
    return add(node, graph, dependencies, count, &work);
}

cudaError_t runtime_cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
    struct simgpu_work work;
    cudaError_t result = params ? get(node, SIMGPU_WORK_COPY, &work) : cudaErrorInvalidValue;
    if (result != cudaSuccess)
        return result;
    const struct simgpu_copy *copy = &work.copy;
    *params = (struct cudaMemcpy3DParms){
        .dstPtr = {copy->to, copy->to_pitch, copy->width, copy->to_pitch ? copy->to_slice / copy->to_pitch : 0},
        .srcPtr = {(void *)copy->from, copy->from_pitch, copy->width,
                   copy->from_pitch ? copy->from_slice / copy->from_pitch : 0},
        .extent = {copy->width, copy->height, copy->depth},
        .kind = cudaMemcpyDefault};
    return cudaSuccess;
}

cudaError_t runtime_cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *params)
{
    struct simgpu_work work;
    cudaError_t result = box_work(params, &work);
    return result != cudaSuccess ? result : set(node, &work);
}

cudaError_t runtime_cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                                   enum cudaMemcpyKind kind)
{
    struct simgpu_work work = row_work(to, from, bytes, kind);
    return set(node, &work);
}

cudaError_t runtime_cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const struct cudaMemcpy3DParms *params)
{
    struct simgpu_work work;
    cudaError_t result = box_work(params, &work);
    return result != cudaSuccess ? result : set_exec(exec, node, &work);
}

cudaError_t runtime_cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                       const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    struct simgpu_work work = row_work(to, from, bytes, kind);
    return set_exec(exec, node, &work);
}

/* ---- fills ---- */

static cudaError_t fill_work(const struct cudaMemsetParams *params, struct simgpu_work *work)
{
    if (!params)
        return cudaErrorInvalidValue;
    *work = (struct simgpu_work){.type = SIMGPU_WORK_FILL,
                                 .fill = {.to = params->dst,
                                          .value = params->value,
                                          .element = params->elementSize,
                                          .width = params->width,
                                          .height = params->height,
                                          .pitch = params->pitch}};
    return cudaSuccess;
}

cudaError_t runtime_cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t count,
                                           const struct cudaMemsetParams *params)
{
    struct simgpu_work work;
    cudaError_t result = fill_work(params, &work);
    return result != cudaSuccess ? result : add(node, graph, dependencies, count, &work);
}

cudaError_t runtime_cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *params)
{
    struct simgpu_work work;
    cudaError_t result = params ? get(node, SIMGPU_WORK_FILL, &work) : cudaErrorInvalidValue;
    if (result == cudaSuccess)
        *params = (struct cudaMemsetParams){.dst = work.fill.to,
                                            .pitch = work.fill.pitch,
                                            .value = work.fill.value,
                                            .elementSize = work.fill.element,
                                            .width = work.fill.width,
                                            .height = work.fill.height};
    return result;
}

cudaError_t runtime_cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *params)
{
    struct simgpu_work work;
    cudaError_t result = fill_work(params, &work);
    return result != cudaSuccess ? result : set(node, &work);
}

cudaError_t runtime_cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const struct cudaMemsetParams *params)
{
    struct simgpu_work work;
    cudaError_t result = fill_work(params, &work);
    return result != cudaSuccess ? result : set_exec(exec, node, &work);
}

/* ---- host functions, child graphs, empty nodes, events ---- */

static struct simgpu_work host_work(cudaHostFn_t function, void *data)
{
    return (struct simgpu_work){.type = SIMGPU_WORK_HOST, .host = {.function = function, .data = data}};
}

cudaError_t runtime_cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                         size_t count, const struct cudaHostNodeParams *params)
{
    if (!params)
        return cudaErrorInvalidValue;
    struct simgpu_work work = host_work(params->fn, params->userData);
    return add(node, graph, dependencies, count, &work);
}

cudaError_t runtime_cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *params)
{
    struct simgpu_work work;
    cudaError_t result = params ? get(node, SIMGPU_WORK_HOST, &work) : cudaErrorInvalidValue;
    if (result == cudaSuccess) {
        params->fn = work.host.function;
        params->userData = work.host.data;
    }
    return result;
}

cudaError_t runtime_cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *params)
{
    if (!params)
        return cudaErrorInvalidValue;
    struct simgpu_work work = host_work(params->fn, params->userData);
    return set(node, &work);
}

cudaError_t runtime_cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                   const struct cudaHostNodeParams *params)
{
    if (!params)
        return cudaErrorInvalidValue;
    struct simgpu_work work = host_work(params->fn, params->userData);
    return set_exec(exec, node, &work);
}

cudaError_t runtime_cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *dependencies, size_t count, cudaGraph_t child)
{
    struct simgpu_work work = {.type = SIMGPU_WORK_GRAPH, .graph = GRAPH(child)};
    return add(node, graph, dependencies, count, &work);
}

cudaError_t runtime_cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    struct simgpu_work work;
    cudaError_t result = graph ? get(node, SIMGPU_WORK_GRAPH, &work) : cudaErrorInvalidValue;
    if (result == cudaSuccess)
        *graph = (cudaGraph_t)work.graph;
    return result;
}

cudaError_t runtime_cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child)
{
    struct simgpu_work work = {.type = SIMGPU_WORK_GRAPH, .graph = GRAPH(child)};
    return set_exec(exec, node, &work);
}

cudaError_t runtime_cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                          size_t count)
{
    struct simgpu_work work = {.type = SIMGPU_WORK_EMPTY};
    return add(node, graph, dependencies, count, &work);
}

static struct simgpu_work event_work(enum simgpu_work_type type, cudaEvent_t event)
{
    return (struct simgpu_work){.type = type, .event = (struct simgpu_event *)event};
}

cudaError_t runtime_cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                const cudaGraphNode_t *dependencies, size_t count, cudaEvent_t event)
{
    struct simgpu_work work = event_work(SIMGPU_WORK_RECORD_EVENT, event);
    return add(node, graph, dependencies, count, &work);
}

cudaError_t runtime_cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *dependencies, size_t count, cudaEvent_t event)
{
    struct simgpu_work work = event_work(SIMGPU_WORK_WAIT_EVENT, event);
    return add(node, graph, dependencies, count, &work);
}

static cudaError_t get_event(cudaGraphNode_t node, enum simgpu_work_type type, cudaEvent_t *event)
{
    struct simgpu_work work;
    cudaError_t result = event ? get(node, type, &work) : cudaErrorInvalidValue;
    if (result == cudaSuccess)
        *event = (cudaEvent_t)work.event;
    return result;
}

cudaError_t runtime_cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return get_event(node, SIMGPU_WORK_RECORD_EVENT, event);
}

cudaError_t runtime_cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return get_event(node, SIMGPU_WORK_WAIT_EVENT, event);
}

/* ---- the form for any kind ---- */

static cudaError_t any_work(const struct cudaGraphNodeParams *params, struct simgpu_work *work)
{
    switch (params->type) {
    case cudaGraphNodeTypeKernel: {
        const struct cudaKernelNodeParamsV2 *kernel = &params->kernel;
        struct cudaKernelNodeParams plain = {.func = kernel->func,
                                             .gridDim = {kernel->gridDim.x, kernel->gridDim.y, kernel->gridDim.z},
                                             .blockDim = {kernel->blockDim.x, kernel->blockDim.y, kernel->blockDim.z},
                                             .sharedMemBytes = kernel->sharedMemBytes,
                                             .kernelParams = kernel->kernelParams,
                                             .extra = kernel->extra};
        return kernel_work(&plain, work);
    }
    case cudaGraphNodeTypeMemcpy:
        return box_work(&params->memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset: {
        const struct cudaMemsetParamsV2 *fill = &params->memset;
        struct cudaMemsetParams plain = {.dst = fill->dst,
                                         .pitch = fill->pitch,
                                         .value = fill->value,
                                         .elementSize = fill->elementSize,
                                         .width = fill->width,
                                         .height = fill->height};
        return fill_work(&plain, work);
    }
    case cudaGraphNodeTypeHost:
        *work = host_work(params->host.fn, params->host.userData);
        return cudaSuccess;
    case cudaGraphNodeTypeGraph:
        *work = (struct simgpu_work){.type = SIMGPU_WORK_GRAPH, .graph = GRAPH(params->graph.graph)};
        return cudaSuccess;
    case cudaGraphNodeTypeEmpty:
        *work = (struct simgpu_work){.type = SIMGPU_WORK_EMPTY};
        return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
        *work = event_work(SIMGPU_WORK_WAIT_EVENT, params->eventWait.event);
        return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
        *work = event_work(SIMGPU_WORK_RECORD_EVENT, params->eventRecord.event);
        return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        *work = (struct simgpu_work){.type = SIMGPU_WORK_CONDITIONAL,
                                     .conditional = {.handle = params->conditional.handle,
                                                     .kind = (enum simgpu_conditional_kind)params->conditional.type,
                                                     .count = params->conditional.size}};
        return cudaSuccess;
    default:
        return runtime_missing("a graph node that allocates or signals");
    }
}

cudaError_t runtime_cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                        const cudaGraphEdgeData *edges, size_t count,
                                        struct cudaGraphNodeParams *params)
{
    (void)edges;
    struct simgpu_work work;
    cudaError_t result = params ? any_work(params, &work) : cudaErrorInvalidValue;
    if (result == cudaSuccess)
        result = add(node, graph, dependencies, count, &work);
    if (result == cudaSuccess && work.type == SIMGPU_WORK_CONDITIONAL) {
        result = get(*node, SIMGPU_WORK_CONDITIONAL, &work);
        params->conditional.phGraph_out = (cudaGraph_t *)work.conditional.bodies;
    }
    return result;
}

cudaError_t runtime_cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                                     unsigned int default_value, unsigned int flags)
{
    uint64_t number = 0;
    if (!handle || flags & ~(unsigned)cudaGraphCondAssignDefault)
        return cudaErrorInvalidValue;
    int result = simgpu_conditional_create(GRAPH(graph), default_value, flags, &number);
    *handle = number;
    return (cudaError_t)result;
}

/* Conditional nodes have none that could be set anew. */
static bool has_params(const struct cudaGraphNodeParams *params)
{
    return params && params->type != cudaGraphNodeTypeConditional;
}

cudaError_t runtime_cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
    struct simgpu_work work;
    cudaError_t result = has_params(params) ? any_work(params, &work) : cudaErrorInvalidValue;
    return result != cudaSuccess ? result : set(node, &work);
}

cudaError_t runtime_cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               struct cudaGraphNodeParams *params)
{
    struct simgpu_work work;
    cudaError_t result = has_params(params) ? any_work(params, &work) : cudaErrorInvalidValue;
    return result != cudaSuccess ? result : set_exec(exec, node, &work);
}
