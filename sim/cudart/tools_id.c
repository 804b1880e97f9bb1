/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's forms of driver/tools_id.c: the ids of graphs and nodes that CUPTI's records have. New in CUDA 13.1, so in no header that is fetched here: plain
 * symbols, without doors. Drivers before 13.1 are had by SIMGPU_FAULT with cudaErrorCallRequiresNewerDriver (36). */
#include "sim/cudart/runtime.h"

#define OUT __attribute__((visibility("default")))

OUT cudaError_t cudaGraphNodeGetToolsId(cudaGraphNode_t node, unsigned long long *id);
OUT cudaError_t cudaGraphNodeGetLocalId(cudaGraphNode_t node, unsigned int *id);
OUT cudaError_t cudaGraphGetId(cudaGraph_t graph, unsigned int *id);
OUT cudaError_t cudaGraphExecGetId(cudaGraphExec_t exec, unsigned int *id);

/* 0: such a node there is, and WORK tells of it. */
static cudaError_t known(cudaGraphNode_t node, const char *function)
{
    struct simgpu_work work;
    int fault = simgpu_fault(function);
    return fault ? (cudaError_t)fault : (cudaError_t)simgpu_node_work((struct simgpu_node *)node, &work);
}

cudaError_t cudaGraphNodeGetToolsId(cudaGraphNode_t node, unsigned long long *id)
{
    cudaError_t result = id ? known(node, __func__) : cudaErrorInvalidValue;
    if (result == cudaSuccess)
        *id = simgpu_node_id((struct simgpu_node *)node);
    return result;
}

cudaError_t cudaGraphNodeGetLocalId(cudaGraphNode_t node, unsigned int *id)
{
    cudaError_t result = id ? known(node, __func__) : cudaErrorInvalidValue;
    if (result == cudaSuccess)
        *id = (unsigned int)simgpu_node_id((struct simgpu_node *)node);
    return result;
}

cudaError_t cudaGraphGetId(cudaGraph_t graph, unsigned int *id)
{
    int fault = simgpu_fault(__func__);
    size_t count = 0;
    if (!fault && !id)
        fault = SIMGPU_INVALID_VALUE;
    if (!fault)
        fault = simgpu_graph_list((struct simgpu_graph *)graph, SIMGPU_GRAPH_NODES, NULL, &count);
    if (!fault)
        *id = simgpu_graph_id((struct simgpu_graph *)graph);
    return (cudaError_t)fault;
}

cudaError_t cudaGraphExecGetId(cudaGraphExec_t exec, unsigned int *id)
{
    int fault = simgpu_fault(__func__);
    if (!fault && (!id || !simgpu_exec_valid((struct simgpu_exec *)exec)))
        fault = SIMGPU_INVALID_VALUE;
    if (!fault)
        *id = simgpu_exec_id((struct simgpu_exec *)exec);
    return (cudaError_t)fault;
}
