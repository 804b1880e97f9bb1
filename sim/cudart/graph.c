/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as a whole: making, walking, instantiating, launching, updating. */
#include "sim/cudart/runtime.h"

#include <string.h>

#define GRAPH(handle) ((struct simgpu_graph *)(handle))
#define NODE(handle)  ((struct simgpu_node *)(handle))
#define NODES(array)  ((struct simgpu_node **)(array))
#define EXEC(handle)  ((struct simgpu_exec *)(handle))

enum { GRAPH_LAUNCH = 514, GRAPH_LAUNCH_PTSZ = 515 };

cudaError_t runtime_cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
    if (!graph || flags)
        return cudaErrorInvalidValue;
    return (cudaError_t)simgpu_graph_create((struct simgpu_graph **)graph);
}

cudaError_t runtime_cudaGraphDestroy(cudaGraph_t graph)
{
    return (cudaError_t)simgpu_graph_destroy(GRAPH(graph));
}

cudaError_t runtime_cudaGraphClone(cudaGraph_t *clone, cudaGraph_t original)
{
    return clone ? (cudaError_t)simgpu_graph_copy(GRAPH(original), (struct simgpu_graph **)clone)
                 : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return (cudaError_t)simgpu_graph_list(GRAPH(graph), SIMGPU_GRAPH_NODES, NODES(nodes), count);
}

cudaError_t runtime_cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return (cudaError_t)simgpu_graph_list(GRAPH(graph), SIMGPU_GRAPH_ROOTS, NODES(nodes), count);
}

static void default_edges(cudaGraphEdgeData *edges, size_t count)
{
    if (edges)
        memset(edges, 0, count * sizeof *edges);
}

cudaError_t runtime_cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                         cudaGraphEdgeData *edges, size_t *count)
{
    int result = simgpu_graph_edges(GRAPH(graph), NODES(from), NODES(to), count);
    if (!result)
        default_edges(edges, *count);
    return (cudaError_t)result;
}

cudaError_t runtime_cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                    cudaGraphEdgeData *edges, size_t *count)
{
    int result = simgpu_node_dependencies(NODE(node), NODES(nodes), count);
    if (!result)
        default_edges(edges, *count);
    return (cudaError_t)result;
}

cudaError_t runtime_cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                      cudaGraphEdgeData *edges, size_t *count)
{
    int result = simgpu_node_dependents(NODE(node), NODES(nodes), count);
    if (!result)
        default_edges(edges, *count);
    return (cudaError_t)result;
}

cudaError_t runtime_cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t count)
{
    (void)edges;
    return (cudaError_t)simgpu_graph_connect(GRAPH(graph), NODES(from), NODES(to), count, false);
}

cudaError_t runtime_cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                                   size_t count)
{
    (void)edges;
    return (cudaError_t)simgpu_graph_connect(GRAPH(graph), NODES(from), NODES(to), count, true);
}

cudaError_t runtime_cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t original, cudaGraph_t clone)
{
    return found ? (cudaError_t)simgpu_node_find_in_copy(NODE(original), GRAPH(clone), (struct simgpu_node **)found)
                 : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    struct simgpu_work work;
    int result = simgpu_node_work(NODE(node), &work);
    if (!result)
        *type = (enum cudaGraphNodeType)work.type;
    return (cudaError_t)result;
}

cudaError_t runtime_cudaGraphDestroyNode(cudaGraphNode_t node)
{
    return (cudaError_t)simgpu_node_destroy(NODE(node));
}

/* ---- executables ---- */

cudaError_t runtime_cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    struct simgpu_exec *created = NULL;
    if (!exec)
        return cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
        return runtime_missing("cudaGraphInstantiate for launches from the device");
    int result = simgpu_exec_create(GRAPH(graph), flags, &created);
    *exec = (cudaGraphExec_t)created;
    return (cudaError_t)result;
}

cudaError_t runtime_cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return runtime_cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t runtime_cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                   cudaGraphInstantiateParams *params)
{
    if (!params)
        return cudaErrorInvalidValue;
    cudaError_t result = runtime_cudaGraphInstantiateWithFlags(exec, graph, params->flags);
    params->result_out = result == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    params->errNode_out = NULL;
    return result;
}

cudaError_t runtime_cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return (cudaError_t)simgpu_exec_destroy(EXEC(exec));
}

cudaError_t runtime_cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    if (!flags || !simgpu_exec_valid(EXEC(exec)))
        return cudaErrorInvalidValue;
    *flags = simgpu_exec_flags(EXEC(exec));
    return cudaSuccess;
}

cudaError_t runtime_cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    struct simgpu_stream *where = runtime_stream(stream);
    if (!where)
        return cudaErrorInvalidResourceHandle;
    return (cudaError_t)simgpu_exec_launch(EXEC(exec), where, runtime_per_thread() ? GRAPH_LAUNCH_PTSZ : GRAPH_LAUNCH);
}

cudaError_t runtime_cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (!runtime_stream(stream))
        return cudaErrorInvalidResourceHandle;
    return simgpu_exec_valid(EXEC(exec)) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    struct simgpu_node *node;
    int reason;
    if (!info)
        return cudaErrorInvalidValue;
    int result = simgpu_exec_update(EXEC(exec), GRAPH(graph), &node, &reason);
    info->result = (enum cudaGraphExecUpdateResult)reason;
    info->errorNode = (cudaGraphNode_t)node;
    info->errorFromNode = NULL;
    return (cudaError_t)result;
}

cudaError_t runtime_cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled)
{
    bool enable = enabled != 0;
    return (cudaError_t)simgpu_exec_enable(EXEC(exec), NODE(node), &enable, NULL);
}

cudaError_t runtime_cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *enabled)
{
    bool is_enabled = false;
    int result = simgpu_exec_enable(EXEC(exec), NODE(node), NULL, &is_enabled);
    if (!result && enabled)
        *enabled = is_enabled;
    return (cudaError_t)result;
}

/* ---- user objects ---- */

cudaError_t runtime_cudaUserObjectCreate(cudaUserObject_t *object, void *data, cudaHostFn_t destroy, unsigned int count,
                                         unsigned int flags)
{
    if (!object || flags != cudaUserObjectNoDestructorSync)
        return cudaErrorInvalidValue;
    return (cudaError_t)simgpu_user_object_create(data, destroy, count, (struct user_object **)object);
}

cudaError_t runtime_cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    return (cudaError_t)simgpu_user_object_count((struct user_object *)object, (int)count);
}

cudaError_t runtime_cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    return (cudaError_t)simgpu_user_object_count((struct user_object *)object, -(int)count);
}

cudaError_t runtime_cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
                                              unsigned int flags)
{
    return (cudaError_t)simgpu_graph_hold(GRAPH(graph), (struct user_object *)object, count,
                                          flags == cudaGraphUserObjectMove);
}

cudaError_t runtime_cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count)
{
    return (cudaError_t)simgpu_graph_let_go(GRAPH(graph), (struct user_object *)object, count);
}
