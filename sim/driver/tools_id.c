/* SPDX-License-Identifier: Apache-2.0 */
/* The ids of graphs and nodes that CUPTI's records have. New in CUDA 13.1, so in no header that is fetched here: plain
 * symbols, without doors. Drivers before 13.1 are had by SIMGPU_FAULT with CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER (36). */
#include "sim/driver/driver.h"

#include <string.h>

#define OUT __attribute__((visibility("default")))

OUT CUresult cuGraphNodeGetToolsId(CUgraphNode node, unsigned long long *id);
OUT CUresult cuGraphNodeGetLocalId(CUgraphNode node, unsigned int *id);
OUT CUresult cuGraphGetId(CUgraph graph, unsigned int *id);
OUT CUresult cuGraphExecGetId(CUgraphExec exec, unsigned int *id);

/* 0: such a node there is, and WORK tells of it. */
static CUresult known(CUgraphNode node, const char *function)
{
    struct simgpu_work work;
    int fault = simgpu_fault(function);
    return fault ? (CUresult)fault : (CUresult)simgpu_node_work((struct simgpu_node *)node, &work);
}

CUresult cuGraphNodeGetToolsId(CUgraphNode node, unsigned long long *id)
{
    CUresult result = id ? known(node, __func__) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *id = simgpu_node_id((struct simgpu_node *)node);
    return result;
}

CUresult cuGraphNodeGetLocalId(CUgraphNode node, unsigned int *id)
{
    CUresult result = id ? known(node, __func__) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *id = (unsigned int)simgpu_node_id((struct simgpu_node *)node);
    return result;
}

CUresult cuGraphGetId(CUgraph graph, unsigned int *id)
{
    int fault = simgpu_fault(__func__);
    size_t count = 0;
    if (!fault && !id)
        fault = SIMGPU_INVALID_VALUE;
    if (!fault)
        fault = simgpu_graph_list((struct simgpu_graph *)graph, SIMGPU_GRAPH_NODES, NULL, &count);
    if (!fault)
        *id = simgpu_graph_id((struct simgpu_graph *)graph);
    return (CUresult)fault;
}

CUresult cuGraphExecGetId(CUgraphExec exec, unsigned int *id)
{
    int fault = simgpu_fault(__func__);
    if (!fault && (!id || !simgpu_exec_valid((struct simgpu_exec *)exec)))
        fault = SIMGPU_INVALID_VALUE;
    if (!fault)
        *id = simgpu_exec_id((struct simgpu_exec *)exec);
    return (CUresult)fault;
}

void *driver_tools_id(const char *symbol)
{
    static const struct {
        const char *name;
        void *function;
    } rows[] = {{"cuGraphNodeGetToolsId", (void *)cuGraphNodeGetToolsId},
                {"cuGraphNodeGetLocalId", (void *)cuGraphNodeGetLocalId},
                {"cuGraphGetId", (void *)cuGraphGetId},
                {"cuGraphExecGetId", (void *)cuGraphExecGetId}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, symbol))
            return rows[i].function;
    return NULL;
}
