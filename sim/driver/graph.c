/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: what programs of the driver's API do with captured ones, and building them of kernels, host functions,
 * child graphs, events and empty nodes. */
#include "sim/driver/driver.h"

#include <string.h>

#define GRAPH(handle) ((struct simgpu_graph *)(handle))
#define NODE(handle)  ((struct simgpu_node *)(handle))
#define NODES(array)  ((struct simgpu_node **)(array))
#define EXEC(handle)  ((struct simgpu_exec *)(handle))

CUresult driver_cuGraphCreate(CUgraph *graph, unsigned int flags)
{
    return graph && !flags ? (CUresult)simgpu_graph_create((struct simgpu_graph **)graph) : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuGraphDestroy(CUgraph graph)
{
    return (CUresult)simgpu_graph_destroy(GRAPH(graph));
}

CUresult driver_cuGraphClone(CUgraph *clone, CUgraph original)
{
    return clone ? (CUresult)simgpu_graph_copy(GRAPH(original), (struct simgpu_graph **)clone)
                 : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return (CUresult)simgpu_graph_list(GRAPH(graph), SIMGPU_GRAPH_NODES, NODES(nodes), count);
}

CUresult driver_cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return (CUresult)simgpu_graph_list(GRAPH(graph), SIMGPU_GRAPH_ROOTS, NODES(nodes), count);
}

CUresult driver_cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return (CUresult)simgpu_graph_edges(GRAPH(graph), NODES(from), NODES(to), count);
}

static void default_edges(CUgraphEdgeData *edges, const size_t *count, CUresult result)
{
    if (result == CUDA_SUCCESS && edges)
        memset(edges, 0, *count * sizeof *edges);
}

CUresult driver_cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
                                   size_t *count)
{
    CUresult result = driver_cuGraphGetEdges(graph, from, to, count);
    default_edges(edges, count, result);
    return result;
}

CUresult driver_cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return (CUresult)simgpu_node_dependencies(NODE(node), NODES(nodes), count);
}

CUresult driver_cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                              size_t *count)
{
    CUresult result = driver_cuGraphNodeGetDependencies(node, nodes, count);
    default_edges(edges, count, result);
    return result;
}

CUresult driver_cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return (CUresult)simgpu_node_dependents(NODE(node), NODES(nodes), count);
}

CUresult driver_cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                                size_t *count)
{
    CUresult result = driver_cuGraphNodeGetDependentNodes(node, nodes, count);
    default_edges(edges, count, result);
    return result;
}

CUresult driver_cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return (CUresult)simgpu_graph_connect(GRAPH(graph), NODES(from), NODES(to), count, false);
}

CUresult driver_cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                          const CUgraphEdgeData *edges, size_t count)
{
    (void)edges;
    return driver_cuGraphAddDependencies(graph, from, to, count);
}

CUresult driver_cuGraphNodeFindInClone(CUgraphNode *found, CUgraphNode original, CUgraph clone)
{
    return found ? (CUresult)simgpu_node_find_in_copy(NODE(original), GRAPH(clone), (struct simgpu_node **)found)
                 : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    struct simgpu_work work;
    int result = type ? simgpu_node_work(NODE(node), &work) : SIMGPU_INVALID_VALUE;
    if (!result)
        *type = (CUgraphNodeType)work.type;
    return (CUresult)result;
}

CUresult driver_cuGraphDestroyNode(CUgraphNode node)
{
    return (CUresult)simgpu_node_destroy(NODE(node));
}

/* ---- nodes ---- */

static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                    const struct simgpu_work *work)
{
    return node ? driver_result(
                      simgpu_graph_add(GRAPH(graph), NODES(dependencies), count, work, (struct simgpu_node **)node))
                : CUDA_ERROR_INVALID_VALUE;
}

static struct simgpu_work kernel_work(const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct simgpu_work work = {
        .type = SIMGPU_WORK_KERNEL,
        .kernel = {.kernel = (struct simgpu_kernel *)(params->func ? (void *)params->func : (void *)params->kern),
                   .dims = {.grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
                            .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
                            .shared_bytes = params->sharedMemBytes},
                   .args = params->kernelParams}};
    for (void **extra = params->extra; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            work.kernel.buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            work.kernel.buffer_size = *(size_t *)extra[1];
    }
    return work;
}

CUresult driver_cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                        const CUDA_KERNEL_NODE_PARAMS *params)
{
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    struct simgpu_work work = kernel_work(params);
    return add(node, graph, dependencies, count, &work);
}

/* Parameters whose sizes nothing public tells are not kept: kernelParams is then NULL. */
CUresult driver_cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
    struct simgpu_work work;
    int result = params ? simgpu_node_work(NODE(node), &work) : SIMGPU_INVALID_VALUE;
    if (result || work.type != SIMGPU_WORK_KERNEL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct simgpu_dims *dims = &work.kernel.dims;
    *params = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)work.kernel.kernel,
                                        .gridDimX = dims->grid[0],
                                        .gridDimY = dims->grid[1],
                                        .gridDimZ = dims->grid[2],
                                        .blockDimX = dims->block[0],
                                        .blockDimY = dims->block[1],
                                        .blockDimZ = dims->block[2],
                                        .sharedMemBytes = (unsigned)dims->shared_bytes,
                                        .kernelParams = work.kernel.args};
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    struct simgpu_work work = kernel_work(params);
    return driver_result(simgpu_node_change(NODE(node), &work));
}

CUresult driver_cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS *params)
{
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    struct simgpu_work work = kernel_work(params);
    return driver_result(simgpu_exec_change(EXEC(exec), NODE(node), &work));
}

CUresult driver_cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                   const CUDA_HOST_NODE_PARAMS *params)
{
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    struct simgpu_work work = {.type = SIMGPU_WORK_HOST, .host = {.function = params->fn, .data = params->userData}};
    return add(node, graph, dependencies, count, &work);
}

CUresult driver_cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                         size_t count, CUgraph child)
{
    struct simgpu_work work = {.type = SIMGPU_WORK_GRAPH, .graph = GRAPH(child)};
    return add(node, graph, dependencies, count, &work);
}

CUresult driver_cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
    struct simgpu_work work;
    int result = graph ? simgpu_node_work(NODE(node), &work) : SIMGPU_INVALID_VALUE;
    if (result || work.type != SIMGPU_WORK_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = (CUgraph)work.graph;
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count)
{
    struct simgpu_work work = {.type = SIMGPU_WORK_EMPTY};
    return add(node, graph, dependencies, count, &work);
}

CUresult driver_cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                          size_t count, CUevent event)
{
    struct simgpu_work work = {.type = SIMGPU_WORK_RECORD_EVENT, .event = (struct simgpu_event *)event};
    return add(node, graph, dependencies, count, &work);
}

CUresult driver_cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                        CUevent event)
{
    struct simgpu_work work = {.type = SIMGPU_WORK_WAIT_EVENT, .event = (struct simgpu_event *)event};
    return add(node, graph, dependencies, count, &work);
}

/* ---- the form for any kind: kernels, child graphs and conditionals, which have no other ---- */

static CUresult any_work(const CUgraphNodeParams *params, struct simgpu_work *work)
{
    const CUDA_KERNEL_NODE_PARAMS_v3 *kernel = &params->kernel;
    CUDA_KERNEL_NODE_PARAMS plain = {.func = kernel->func,
                                     .kern = kernel->kern,
                                     .gridDimX = kernel->gridDimX,
                                     .gridDimY = kernel->gridDimY,
                                     .gridDimZ = kernel->gridDimZ,
                                     .blockDimX = kernel->blockDimX,
                                     .blockDimY = kernel->blockDimY,
                                     .blockDimZ = kernel->blockDimZ,
                                     .sharedMemBytes = kernel->sharedMemBytes,
                                     .kernelParams = kernel->kernelParams,
                                     .extra = kernel->extra};
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        *work = kernel_work(&plain);
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        *work = (struct simgpu_work){.type = SIMGPU_WORK_GRAPH, .graph = GRAPH(params->graph.graph)};
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EMPTY:
        *work = (struct simgpu_work){.type = SIMGPU_WORK_EMPTY};
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        *work = (struct simgpu_work){.type = SIMGPU_WORK_CONDITIONAL,
                                     .conditional = {.handle = params->conditional.handle,
                                                     .kind = (enum simgpu_conditional_kind)params->conditional.type,
                                                     .count = params->conditional.size}};
        return CUDA_SUCCESS;
    default:
        return driver_missing("cuGraphAddNode of this type");
    }
}

CUresult driver_cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params)
{
    (void)edges;
    struct simgpu_work work;
    CUresult result = params ? any_work(params, &work) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = add(node, graph, dependencies, count, &work);
    if (result == CUDA_SUCCESS && work.type == SIMGPU_WORK_CONDITIONAL) {
        result = (CUresult)simgpu_node_work(NODE(*node), &work);
        params->conditional.phGraph_out = (CUgraph *)work.conditional.bodies;
    }
    return result;
}

CUresult driver_cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                               CUgraphNodeParams *params)
{
    return driver_cuGraphAddNode_v2(node, graph, dependencies, NULL, count, params);
}

CUresult driver_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph, CUcontext context,
                                               unsigned int default_value, unsigned int flags)
{
    (void)context;
    uint64_t number = 0;
    if (!handle || flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT)
        return CUDA_ERROR_INVALID_VALUE;
    int result = simgpu_conditional_create(GRAPH(graph), default_value, flags, &number);
    *handle = number;
    return (CUresult)result;
}

/* ---- executables ---- */

CUresult driver_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return driver_missing("cuGraphInstantiate for launches from the device");
    return exec ? (CUresult)simgpu_exec_create(GRAPH(graph), flags, (struct simgpu_exec **)exec)
                : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log, size_t size)
{
    if (error_node)
        *error_node = NULL;
    if (log && size)
        *log = 0;
    return driver_cuGraphInstantiateWithFlags(exec, graph, 0);
}

CUresult driver_cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = driver_cuGraphInstantiateWithFlags(exec, graph, params->flags);
    params->hErrNode_out = NULL;
    params->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult driver_cuGraphExecDestroy(CUgraphExec exec)
{
    return (CUresult)simgpu_exec_destroy(EXEC(exec));
}

CUresult driver_cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    if (!flags || !simgpu_exec_valid(EXEC(exec)))
        return CUDA_ERROR_INVALID_VALUE;
    *flags = simgpu_exec_flags(EXEC(exec));
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    DRIVER_STREAM(where, stream);
    return simgpu_exec_valid(EXEC(exec)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    DRIVER_STREAM(where, stream);
    return (CUresult)simgpu_exec_launch(EXEC(exec), where, 0);
}

CUresult driver_cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    struct simgpu_node *node;
    int reason;
    if (!info)
        return CUDA_ERROR_INVALID_VALUE;
    int result = simgpu_exec_update(EXEC(exec), GRAPH(graph), &node, &reason);
    info->result = (CUgraphExecUpdateResult)reason;
    info->errorNode = (CUgraphNode)node;
    info->errorFromNode = NULL;
    return (CUresult)result;
}

CUresult driver_cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled)
{
    bool enable = enabled != 0;
    return (CUresult)simgpu_exec_enable(EXEC(exec), NODE(node), &enable, NULL);
}

CUresult driver_cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int *enabled)
{
    bool is_enabled = false;
    int result = simgpu_exec_enable(EXEC(exec), NODE(node), NULL, &is_enabled);
    if (!result && enabled)
        *enabled = is_enabled;
    return (CUresult)result;
}
