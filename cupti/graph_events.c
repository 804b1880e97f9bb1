/* SPDX-License-Identifier: Apache-2.0 */
/* A node that is created while a call of the application's is in flight in this thread is that call's; one that is cloned
 * (cudaGraphClone, child graphs, instantiating) is its original's owner's. An executable that is updated in place keeps
 * its ids: CUPTI tells from CUDA 13.0 on which node became what, before it goes by the nodes' numbers. Inside a capture
 * nothing is called but CUPTI's getters of ids, which ask no driver. */
#include "cupti/graph_events.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "cupti/graph_calls.h"
#include "cupti/graph_launches.h"
#include "cupti/graph_nodes.h"
#include "cupti/kernel_timing.h"
#include "trace/trace_writer.h"

/* kernel_timing_context.graph_state, beside KERNEL_TIMING_LAUNCH_SEEN */
enum { INSTANTIATES = 1, UPDATES = 2, NODES_TOLD = 4, SETS_PARAMS = 8, GRAPH_CAPTURED = 32 };

static const struct cupti_library *cupti;
static _Atomic int sees_updates;

/* clang-format off */
static const struct {
    int domain;
    uint32_t cbid;
    uint32_t state;
} calls[] = {
    {CUPTI_DOMAIN_DRIVER_API, CUPTI_CBID_cuGraphInstantiate, INSTANTIATES},
    {CUPTI_DOMAIN_DRIVER_API, CUPTI_CBID_cuGraphInstantiate_v2, INSTANTIATES},
    {CUPTI_DOMAIN_DRIVER_API, CUPTI_CBID_cuGraphInstantiateWithFlags, INSTANTIATES},
    {CUPTI_DOMAIN_DRIVER_API, CUPTI_CBID_cuGraphInstantiateWithParams, INSTANTIATES},
    {CUPTI_DOMAIN_DRIVER_API, CUPTI_CBID_cuGraphInstantiateWithParams_ptsz, INSTANTIATES},
    {CUPTI_DOMAIN_DRIVER_API, CUPTI_CBID_cuGraphExecUpdate, UPDATES},
    {CUPTI_DOMAIN_DRIVER_API, CUPTI_CBID_cuGraphExecUpdate_v2, UPDATES},
    {CUPTI_DOMAIN_RUNTIME_API, CUPTI_CBID_cudaGraphInstantiate_v10000, INSTANTIATES},
    {CUPTI_DOMAIN_RUNTIME_API, CUPTI_CBID_cudaGraphInstantiate_v12000, INSTANTIATES},
    {CUPTI_DOMAIN_RUNTIME_API, CUPTI_CBID_cudaGraphInstantiateWithFlags, INSTANTIATES},
    {CUPTI_DOMAIN_RUNTIME_API, CUPTI_CBID_cudaGraphInstantiateWithParams, INSTANTIATES},
    {CUPTI_DOMAIN_RUNTIME_API, CUPTI_CBID_cudaGraphInstantiateWithParams_ptsz, INSTANTIATES},
    {CUPTI_DOMAIN_RUNTIME_API, CUPTI_CBID_cudaGraphExecUpdate, UPDATES},
    {CUPTI_DOMAIN_DRIVER_API, CUPTI_CBID_cuGraphExecKernelNodeSetParams, SETS_PARAMS},
    {CUPTI_DOMAIN_DRIVER_API, CUPTI_CBID_cuGraphExecKernelNodeSetParams_v2, SETS_PARAMS},
    {CUPTI_DOMAIN_DRIVER_API, CUPTI_CBID_cuGraphExecNodeSetParams, SETS_PARAMS},
    {CUPTI_DOMAIN_RUNTIME_API, CUPTI_CBID_cudaGraphExecKernelNodeSetParams, SETS_PARAMS},
    {CUPTI_DOMAIN_RUNTIME_API, CUPTI_CBID_cudaGraphExecNodeSetParams, SETS_PARAMS},
};

static const struct {
    uint32_t cbid;
    bool needed;
} resources[] = {
    {CUPTI_CBID_GRAPHNODE_CREATED, true},
    {CUPTI_CBID_GRAPHNODE_CLONED, true},
    {CUPTI_CBID_GRAPHNODE_DESTROY_STARTING, false},
    {CUPTI_CBID_GRAPHEXEC_DESTROY_STARTING, false},
    {CUPTI_CBID_GRAPH_NODE_UPDATED, false},
};
/* clang-format on */

#define ROWS(table) (sizeof(table) / sizeof *(table))

static bool switch_on(void *subscriber, int domain, uint32_t cbid)
{
    return cupti->cuptiEnableCallback(1, subscriber, domain, cbid) == CUPTI_OK;
}

bool graph_events_sees_updates(void)
{
    return atomic_load_explicit(&sees_updates, memory_order_relaxed) != 0;
}

void graph_events_end(void)
{
    atomic_store(&sees_updates, 0);
}

bool graph_events_enable(const struct cupti_library *library, void *subscriber, bool nodes)
{
    cupti = library;
    if (!cupti->cuptiGetGraphNodeId || !cupti->cuptiGetGraphId || !graph_nodes_open() || !graph_launches_open())
        return false;
    bool all = nodes, updates = false;
    /* Calls first: what changes an executable must not be overlooked once nodes are known. */
    for (unsigned i = 0; i < ROWS(calls); i++) /* old ones lack the newest */
        updates |= switch_on(subscriber, calls[i].domain, calls[i].cbid) && calls[i].state == UPDATES;
    atomic_store(&sees_updates, updates);
    for (unsigned i = 0; i < ROWS(resources) && updates && all; i++)
        all = switch_on(subscriber, CUPTI_DOMAIN_RESOURCE, resources[i].cbid) || !resources[i].needed;
    if (nodes && !all) /* one of them alone says too little */
        for (unsigned i = 0; i < ROWS(resources); i++)
            cupti->cuptiEnableCallback(0, subscriber, CUPTI_DOMAIN_RESOURCE, resources[i].cbid);
    return updates && all;
}

/* ---- nodes ---- */

static bool id_of(void *node, uint64_t *id)
{
    return node && cupti->cuptiGetGraphNodeId(node, id) == CUPTI_OK && *id != 0;
}

/* A thread that makes graphs gets a place in the trace for it; NULL: there is none left. */
static struct kernel_timing_context *context_here(void)
{
    struct trace_thread *thread = trace_thread_now();
    if (!thread)
        thread = trace_thread_get();
    return thread ? kernel_timing_context(thread) : NULL;
}

/* The name is written now: a kernel that is captured and never runs has no record to bring it. */
static uint64_t name_of(const struct kernel_timing_context *context)
{
    const char *launched = context->call_id ? context->launched : NULL;
    struct trace_thread *thread = launched ? trace_thread_now() : NULL;
    return thread ? trace_name_intern(thread, launched) : 0;
}

static struct graph_node_maker maker_now(struct kernel_timing_context *context)
{
    if (context->call_id && !(context->at_end & KERNEL_TIMING_NODES))
        context->last_node = 0;
    return (struct graph_node_maker){.call_id = context->call_id,
                                     .name_id = name_of(context),
                                     .chain = &context->last_node,
                                     .correlation_id = context->graph_call};
}

static void owe_nodes(struct kernel_timing_context *context)
{
    if (context->call_id && context->last_node)
        context->at_end |= KERNEL_TIMING_NODES;
}

static void node_created(const struct cupti_graph_data *data)
{
    struct kernel_timing_context *context = context_here();
    uint64_t node_id;
    if (!context || context->graph_state & INSTANTIATES || !id_of(data->node, &node_id))
        return; /* instantiating tells of clones too, and those say of what */
    if (data->node_type == CUPTI_NODE_GRAPH)
        context->graph_state |= GRAPH_CAPTURED;
    if (data->node_type == CUPTI_NODE_GRAPH || data->node_type == CUPTI_NODE_CONDITIONAL)
        graph_nodes_set_nested((uint32_t)(node_id >> 32));
    if (data->node_type != CUPTI_NODE_KERNEL) {
        graph_nodes_number(node_id); /* a copy that comes as a kernel, as after a late start, is no call's kernel */
        return;
    }
    struct graph_node_maker maker = maker_now(context);
    graph_nodes_note(node_id, &maker);
    owe_nodes(context);
}

static void node_cloned(const struct cupti_graph_data *data)
{
    struct kernel_timing_context *context = context_here();
    uint64_t node_id, copy_id;
    if (!context || !id_of(data->node, &copy_id) || !id_of(data->original_node, &node_id))
        return;
    if (context->graph_state & INSTANTIATES)
        context->told_last = (uint32_t)(copy_id >> 32);
    if (data->node_type != CUPTI_NODE_KERNEL) {
        if (data->node_type == CUPTI_NODE_GRAPH || data->node_type == CUPTI_NODE_CONDITIONAL)
            graph_nodes_set_nested((uint32_t)(copy_id >> 32));
        graph_nodes_number(copy_id);
        return;
    }
    struct graph_node_maker maker = maker_now(context);
    graph_nodes_copy(node_id, copy_id,
                     context->graph_state & INSTANTIATES ? GRAPH_NODES_IN_EXECUTABLE : GRAPH_NODES_IN_GRAPH, &maker);
    owe_nodes(context);
}

/* The executable's own node is told by its graph's id where there are several readings. */
static void node_updated(const struct cupti_graph_data *data)
{
    struct kernel_timing_context *context = context_here();
    uint64_t node_id, original_id;
    uint32_t exec_id = 0;
    if (!context || !(context->graph_state & UPDATES) || !id_of(data->node, &node_id) ||
        !id_of(data->original_node, &original_id))
        return;
    if (data->graph_exec && cupti->cuptiGetGraphExecId)
        cupti->cuptiGetGraphExecId(data->graph_exec, &exec_id);
    if (exec_id && (uint32_t)(original_id >> 32) == exec_id)
        graph_nodes_update(node_id, original_id, context->graph_call);
    else
        graph_nodes_update(original_id, node_id, context->graph_call);
    context->graph_state |= NODES_TOLD;
}

static void node_destroyed(const struct cupti_graph_data *data)
{
    uint64_t node_id;
    if (id_of(data->node, &node_id))
        graph_nodes_retire(node_id);
}

static void executable_destroyed(const struct cupti_graph_data *data)
{
    uint32_t exec_id;
    graph_calls_executable_goes(data->graph_exec);
    if (data->graph_exec && cupti->cuptiGetGraphExecId &&
        cupti->cuptiGetGraphExecId(data->graph_exec, &exec_id) == CUPTI_OK)
        graph_nodes_retire_all(exec_id);
}

void graph_events_resource(uint32_t cbid, const struct cupti_resource_data *resource)
{
    const struct cupti_graph_data *data = resource->graph;
    if (!data)
        return;
    switch (cbid) {
    case CUPTI_CBID_GRAPHNODE_CREATED:
        node_created(data);
        break;
    case CUPTI_CBID_GRAPHNODE_CLONED:
        node_cloned(data);
        break;
    case CUPTI_CBID_GRAPH_NODE_UPDATED:
        node_updated(data);
        break;
    case CUPTI_CBID_GRAPHNODE_DESTROY_STARTING:
        node_destroyed(data);
        break;
    case CUPTI_CBID_GRAPHEXEC_DESTROY_STARTING:
        executable_destroyed(data);
        break;
    default:
        break;
    }
}

/* ---- calls ---- */

static uint32_t state_of(int domain, uint32_t cbid)
{
    for (unsigned i = 0; i < ROWS(calls); i++)
        if (calls[i].domain == domain && calls[i].cbid == cbid)
            return calls[i].state;
    return 0;
}

static bool succeeded(const struct cupti_callback_data *call)
{
    return !call->function_return_value || *(const int *)call->function_return_value == 0;
}

/* One that fails leaves everything as it was. */
static void call_succeeded(struct kernel_timing_context *context, uint32_t state, bool told,
                           const struct cupti_callback_data *call)
{
    const struct cupti_graph_update_params *update = call->function_params;
    const struct cupti_graph_instantiate_params *made = call->function_params;
    if (state == SETS_PARAMS)
        context->told_last = call->correlation_id;
    if (state == INSTANTIATES && made && made->exec)
        graph_calls_instantiated(context, made->graph, *made->exec);
    if (state == UPDATES && told && update)
        graph_launches_changed(trace_thread_now(), update->exec);
    else if (state == UPDATES)
        graph_calls_updated(update ? update->exec : NULL, update ? update->graph : NULL, call->correlation_id);
}

static void call_begins(struct kernel_timing_context *context, uint32_t state, const struct cupti_callback_data *call)
{
    const struct cupti_graph_update_params *changed = call->function_params; /* an executable comes first in all */
    if (state == INSTANTIATES)
        context->told_last = 0;
    else if (changed)
        graph_calls_updating(changed->exec);
}

/* The runtime's call has the driver's inside, with the same correlation id: what that told of nodes holds until both end.
 * Of a thread that there is no place for, nothing is known in between. */
void graph_events_call(int domain, uint32_t cbid, const struct cupti_callback_data *call)
{
    struct kernel_timing_context *context = context_here();
    uint32_t state = state_of(domain, cbid);
    if (!context) {
        graph_nodes_distrust();
        return;
    }
    bool inside = context->graph_depth && context->graph_call == call->correlation_id;
    if (call->callback_site == CUPTI_SITE_ENTER) {
        context->graph_depth = inside ? context->graph_depth + 1 : 1;
        context->graph_state = inside ? context->graph_state | state : state;
        context->graph_call = call->correlation_id;
        call_begins(context, state, call);
        return;
    }
    if (succeeded(call))
        call_succeeded(context, state, inside && context->graph_state & NODES_TOLD, call);
    if (!inside || --context->graph_depth == 0)
        context->graph_depth = context->graph_call = context->graph_state = 0;
}

/* A launch into a capture is none; the program's wrapper counts what it sees. */
void graph_events_launched(const struct cupti_callback_data *call)
{
    struct kernel_timing_context *context = context_here();
    const struct cupti_graph_launch_params *params = call->function_params;
    uint32_t state = context ? context->graph_state : 0;
    if (context)
        context->graph_state &= ~(uint32_t)GRAPH_CAPTURED;
    if (params && !(state & (KERNEL_TIMING_LAUNCH_SEEN | GRAPH_CAPTURED)))
        graph_calls_launched(NULL, params->exec, NULL, succeeded(call));
}
