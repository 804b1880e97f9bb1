/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: made from a template, launched, updated. Parallel branches overlap on the timeline. */
#include "sim/core/driver_calls.h"
#include "sim/core/graph.h"
#include "sim/core/state.h"

#include <stdlib.h>

struct object_pool core_execs = OBJECT_POOL(simgpu_exec);

enum { /* CUgraphExecUpdateResult's numbers */
       UPDATE_SUCCESS = 0,
       UPDATE_TOPOLOGY_CHANGED = 2,
       UPDATE_TYPE_CHANGED = 3,
};

static bool exec_known(const struct simgpu_exec *exec)
{
    return object_valid(&core_execs, exec);
}

uint32_t simgpu_exec_id(const struct simgpu_exec *exec)
{
    return exec->graph->id;
}

bool simgpu_exec_valid(struct simgpu_exec *exec)
{
    core_lock();
    bool known = exec_known(exec);
    core_unlock();
    return known;
}

uint64_t simgpu_exec_flags(const struct simgpu_exec *exec)
{
    return exec->flags;
}

static int create(struct simgpu_graph *graph, uint64_t flags, struct simgpu_exec **made)
{
    struct simgpu_node **order = graph_order(graph);
    if (!order)
        return SIMGPU_INVALID_VALUE; /* a cycle */
    free(order);
    struct simgpu_exec *exec = object_new(&core_execs);
    if (!exec)
        return SIMGPU_OUT_OF_MEMORY;
    exec->graph = graph_clone(graph, true);
    exec->order = exec->graph ? graph_order(exec->graph) : NULL;
    exec->flags = flags;
    if (!exec->order) {
        if (exec->graph)
            graph_free(exec->graph);
        object_free(&core_execs, exec);
        return SIMGPU_OUT_OF_MEMORY;
    }
    notice(SIMGPU_EXEC_CREATED, graph, NULL, NULL, NULL, exec);
    *made = exec;
    return SIMGPU_SUCCESS;
}

int simgpu_exec_create(struct simgpu_graph *graph, uint64_t flags, struct simgpu_exec **exec)
{
    core_lock();
    int result =
        object_valid(&core_graphs, graph) && !graph->of_exec ? create(graph, flags, exec) : SIMGPU_INVALID_VALUE;
    core_unlock();
    return result;
}

int simgpu_exec_destroy(struct simgpu_exec *exec)
{
    core_lock();
    bool known = exec_known(exec);
    if (known) {
        notice(SIMGPU_EXEC_DESTROYED, NULL, NULL, NULL, NULL, exec);
        graph_free(exec->graph);
        free(exec->order);
        object_free(&core_execs, exec);
    }
    core_unlock();
    return known ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

/* ---- launch ---- */

struct run {
    struct simgpu_stream *stream;
    uint32_t graph_id;
    uint64_t last_ns;
};

static int run_graph(struct run *run, struct simgpu_node *const *order, uint64_t ready_ns);

static int run_child(struct run *run, struct simgpu_node *node, uint64_t start_ns)
{
    struct simgpu_node **order = graph_order(node->work.graph);
    if (!order)
        return SIMGPU_OUT_OF_MEMORY;
    uint64_t outer_last = run->last_ns;
    run->last_ns = start_ns;
    int result = run_graph(run, order, start_ns);
    node->end_ns = run->last_ns;
    if (outer_last > run->last_ns)
        run->last_ns = outer_last;
    free(order);
    return result;
}

static int run_node(struct run *run, struct simgpu_node *node, uint64_t start_ns)
{
    node->end_ns = start_ns;
    if (node->disabled)
        return SIMGPU_SUCCESS;
    if (node->work.type == SIMGPU_WORK_GRAPH)
        return run_child(run, node, start_ns);
    node->end_ns = start_ns + work_duration(&node->work);
    struct work_place place = {
        .stream = run->stream, .node = node, .graph_id = run->graph_id, .start_ns = start_ns, .end_ns = node->end_ns};
    return work_run(&node->work, &place);
}

static int run_graph(struct run *run, struct simgpu_node *const *order, uint64_t ready_ns)
{
    for (; *order; order++) {
        struct simgpu_node *node = *order;
        uint64_t start = ready_ns;
        for (unsigned i = 0; i < node->dependencies.count; i++)
            if (node->dependencies.items[i]->end_ns > start)
                start = node->dependencies.items[i]->end_ns;
        int result = run_node(run, node, start);
        if (result)
            return result;
        if (node->end_ns > run->last_ns)
            run->last_ns = node->end_ns;
    }
    return SIMGPU_SUCCESS;
}

static int launch(struct simgpu_exec *exec, struct simgpu_stream *stream)
{
    if (!exec_known(exec))
        return SIMGPU_INVALID_VALUE;
    if (!object_valid(&core_streams, stream))
        return SIMGPU_INVALID_HANDLE;
    if (stream->capture) {
        struct simgpu_work work = {.type = SIMGPU_WORK_GRAPH, .graph = exec->graph};
        return capture_add(stream, &work, NULL);
    }
    int result = capture_implicit(stream, true);
    if (result)
        return result;
    uint64_t ready = timeline_ready(stream);
    struct run run = {.stream = stream, .graph_id = exec->graph->id, .last_ns = ready};
    result = run_graph(&run, exec->order, ready);
    timeline_occupy(stream, run.last_ns);
    return result;
}

int simgpu_exec_launch(struct simgpu_exec *exec, struct simgpu_stream *stream, uint32_t driver_cbid)
{
    struct driver_graph_launch_params params = {.exec = exec, .stream = stream};
    struct simgpu_api_call call = {
        .domain = SIMGPU_DRIVER_API, .cbid = driver_cbid, .function = driver_call_name(driver_cbid), .params = &params};
    if (driver_cbid)
        simgpu_api_enter(&call);
    core_lock();
    int result = launch(exec, stream);
    core_unlock();
    if (driver_cbid)
        simgpu_api_exit(&call, &result);
    return result;
}

/* ---- update ---- */

static int differs(const struct simgpu_node *ours, const struct simgpu_node *theirs)
{
    if (ours->work.type != theirs->work.type)
        return UPDATE_TYPE_CHANGED;
    if (ours->dependencies.count != theirs->dependencies.count)
        return UPDATE_TOPOLOGY_CHANGED;
    for (unsigned i = 0; i < ours->dependencies.count; i++)
        if (ours->dependencies.items[i]->mirror != theirs->dependencies.items[i])
            return UPDATE_TOPOLOGY_CHANGED;
    return UPDATE_SUCCESS;
}

static int update(struct simgpu_exec *exec, struct simgpu_graph *graph, struct simgpu_node **stopped)
{
    struct node_set *ours = &exec->graph->nodes, *theirs = &graph->nodes;
    int reason = ours->count == theirs->count ? UPDATE_SUCCESS : UPDATE_TOPOLOGY_CHANGED;
    for (unsigned i = 0; i < ours->count && !reason; i++)
        ours->items[i]->mirror = theirs->items[i];
    for (unsigned i = 0; i < ours->count && !reason; i++)
        if ((reason = differs(ours->items[i], theirs->items[i])))
            *stopped = theirs->items[i];
    for (unsigned i = 0; i < ours->count; i++)
        ours->items[i]->mirror = NULL;
    for (unsigned i = 0; i < ours->count && !reason; i++) {
        struct simgpu_work copy;
        if (work_copy(&copy, &theirs->items[i]->work))
            return 1; /* the vendor's "failed for an unexpected reason" */
        work_release(&ours->items[i]->work);
        ours->items[i]->work = copy;
        notice(SIMGPU_NODE_UPDATED, exec->graph, graph, ours->items[i], theirs->items[i], exec);
    }
    return reason;
}

int simgpu_exec_update(struct simgpu_exec *exec, struct simgpu_graph *graph, struct simgpu_node **node, int *reason)
{
    core_lock();
    int result = SIMGPU_INVALID_VALUE;
    *node = NULL;
    *reason = 1;
    if (exec_known(exec) && object_valid(&core_graphs, graph)) {
        *reason = update(exec, graph, node);
        result = *reason ? SIMGPU_GRAPH_EXEC_UPDATE_FAILURE : SIMGPU_SUCCESS;
    }
    core_unlock();
    return result;
}

static struct simgpu_node *own_node(struct simgpu_exec *exec, const struct simgpu_node *node)
{
    if (!exec_known(exec) || !object_valid(&core_nodes, node))
        return NULL;
    for (unsigned i = 0; i < exec->graph->nodes.count; i++)
        if (exec->graph->nodes.items[i]->local_id == node->local_id)
            return exec->graph->nodes.items[i];
    return NULL;
}

int simgpu_exec_change(struct simgpu_exec *exec, struct simgpu_node *node, const struct simgpu_work *work)
{
    core_lock();
    struct simgpu_node *own = own_node(exec, node);
    core_unlock();
    int result = own ? simgpu_node_change(own, work) : SIMGPU_INVALID_VALUE;
    core_lock();
    if (!result)
        notice(SIMGPU_NODE_SET_PARAMS, exec->graph, NULL, own, NULL, exec);
    core_unlock();
    return result;
}

int simgpu_exec_enable(struct simgpu_exec *exec, struct simgpu_node *node, const bool *enable, bool *enabled)
{
    core_lock();
    struct simgpu_node *own = own_node(exec, node);
    bool allowed = own && own->work.type <= SIMGPU_WORK_FILL; /* kernels, copies, fills */
    if (allowed && enable)
        own->disabled = !*enable;
    if (allowed && enabled)
        *enabled = !own->disabled;
    core_unlock();
    return allowed ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}
