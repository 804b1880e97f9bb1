/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: made from a template, launched, updated. Parallel branches overlap on the timeline. */
#include "sim/core/device.h"
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
    exec->graph = graph_instantiate(graph);
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
    uint32_t graph_id, iteration;
    uint64_t last_ns;
};

static int run_graph(struct run *run, struct simgpu_node *const *order, uint64_t ready_ns);

/* A graph inside of NODE, which is over when all of it is. */
static int run_nested(struct run *run, struct simgpu_node *node, const struct simgpu_graph *graph)
{
    struct simgpu_node **order = graph_order(graph);
    if (!order)
        return SIMGPU_OUT_OF_MEMORY;
    uint64_t outer_last = run->last_ns;
    run->last_ns = node->end_ns;
    int result = run_graph(run, order, node->end_ns);
    node->end_ns = run->last_ns;
    if (outer_last > run->last_ns)
        run->last_ns = outer_last;
    free(order);
    return result;
}

static int run_conditional(struct run *run, struct simgpu_node *node)
{
    const struct simgpu_conditional *conditional = &node->work.conditional;
    unsigned body = conditional->kind == SIMGPU_IF       ? !conditional->value
                    : conditional->kind == SIMGPU_SWITCH ? conditional->value
                                                         : 0;
    unsigned times = conditional->kind != SIMGPU_WHILE ? 1 : conditional->value ? simgpu_device()->graph_iterations : 0;
    uint32_t outer = run->iteration;
    int result = SIMGPU_SUCCESS;
    for (unsigned i = 0; i < times && body < conditional->count && !result; i++) {
        if (conditional->kind == SIMGPU_WHILE)
            run->iteration = i;
        result = run_nested(run, node, conditional->bodies[body]);
    }
    run->iteration = outer;
    return result;
}

static int run_node(struct run *run, struct simgpu_node *node, uint64_t start_ns)
{
    node->start_ns = node->end_ns = start_ns;
    if (node->disabled)
        return SIMGPU_SUCCESS;
    if (node->work.type == SIMGPU_WORK_GRAPH)
        return run_nested(run, node, node->work.graph);
    if (node->work.type == SIMGPU_WORK_CONDITIONAL)
        return run_conditional(run, node);
    const struct simgpu_node *before = node->dependencies.count == 1 ? node->dependencies.items[0] : NULL;
    bool after_kernel = before && before->work.type == SIMGPU_WORK_KERNEL && !before->disabled;
    work_span(&node->work, after_kernel ? before->start_ns : 0, start_ns, &node->start_ns, &node->end_ns);
    struct work_place place = {.stream = run->stream,
                               .node = node,
                               .graph_id = run->graph_id,
                               .iteration = run->iteration,
                               .start_ns = node->start_ns,
                               .end_ns = node->end_ns};
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
    stream->tail_kernel_ns = 0;
    work_tell_graph(stream, run.graph_id, ready, run.last_ns);
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

/* REASON: CUgraphExecUpdateResult, of OURS and all that is inside of its nodes. */
static int compare(const struct simgpu_graph *ours, const struct simgpu_graph *theirs, struct simgpu_node **stopped)
{
    const struct node_set *own = &ours->nodes, *other = &theirs->nodes;
    int reason = own->count == other->count ? UPDATE_SUCCESS : UPDATE_TOPOLOGY_CHANGED;
    for (unsigned i = 0; i < own->count && !reason; i++)
        own->items[i]->mirror = other->items[i];
    for (unsigned i = 0; i < own->count && !reason; i++)
        if ((reason = differs(own->items[i], other->items[i])))
            *stopped = other->items[i];
    for (unsigned i = 0; i < own->count; i++)
        own->items[i]->mirror = NULL;
    for (unsigned i = 0; i < own->count && !reason; i++) {
        const struct simgpu_work *work = &own->items[i]->work, *with = &other->items[i]->work;
        if (work_nested_count(work) != work_nested_count(with))
            reason = UPDATE_TOPOLOGY_CHANGED;
        for (unsigned k = 0; k < work_nested_count(work) && !reason; k++)
            reason = compare(work_nested(work, k), work_nested(with, k), stopped);
    }
    return reason;
}

static int take_over(struct simgpu_exec *exec, struct simgpu_graph *ours, struct simgpu_graph *theirs);

/* What is inside keeps its place and ids, and takes over node by node. */
static int take_over_node(struct simgpu_exec *exec, struct simgpu_node *node, struct simgpu_node *from)
{
    unsigned nested = work_nested_count(&node->work);
    int reason = UPDATE_SUCCESS;
    for (unsigned i = 0; i < nested && !reason; i++)
        reason = take_over(exec, work_nested(&node->work, i), work_nested(&from->work, i));
    if (!nested) {
        struct simgpu_work copy;
        if (work_copy(&copy, &from->work))
            return 1; /* the vendor's "failed for an unexpected reason" */
        work_release(&node->work);
        node->work = copy;
    }
    node->source_id = simgpu_node_id(from);
    if (!node->inlined_id || graph_inlining_is_told())
        notice(SIMGPU_NODE_UPDATED, exec->graph, from->graph, node, from, exec);
    return reason;
}

static int take_over(struct simgpu_exec *exec, struct simgpu_graph *ours, struct simgpu_graph *theirs)
{
    int reason = UPDATE_SUCCESS;
    for (unsigned i = 0; i < ours->nodes.count && !reason; i++)
        reason = take_over_node(exec, ours->nodes.items[i], theirs->nodes.items[i]);
    return reason;
}

int simgpu_exec_update(struct simgpu_exec *exec, struct simgpu_graph *graph, struct simgpu_node **node, int *reason)
{
    core_lock();
    int result = SIMGPU_INVALID_VALUE;
    *node = NULL;
    *reason = 1;
    if (exec_known(exec) && object_valid(&core_graphs, graph)) {
        *reason = compare(exec->graph, graph, node);
        if (!*reason)
            *reason = take_over(exec, exec->graph, graph);
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

/* Another child graph of the same form, whose nodes keep the executable's ids. */
static int change_nested(struct simgpu_exec *exec, struct simgpu_node *own, const struct simgpu_work *work)
{
    struct simgpu_node *stopped;
    if (own->work.type != work->type || !object_valid(&core_graphs, work->graph) ||
        compare(own->work.graph, work->graph, &stopped) || take_over(exec, own->work.graph, work->graph))
        return SIMGPU_INVALID_VALUE;
    return SIMGPU_SUCCESS;
}

int simgpu_exec_change(struct simgpu_exec *exec, struct simgpu_node *node, const struct simgpu_work *work)
{
    core_lock();
    struct simgpu_node *own = own_node(exec, node);
    int result = own ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    if (own && work->type == SIMGPU_WORK_GRAPH)
        result = change_nested(exec, own, work);
    core_unlock();
    if (!result && work->type != SIMGPU_WORK_GRAPH)
        result = simgpu_node_change(own, work);
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
