/* SPDX-License-Identifier: Apache-2.0 */
/* Where CUPTI tells of nodes, most of this is done by graph_events.c already; what is told twice is noted once. */
#include "cupti/graph_calls.h"

#include <errno.h>
#include <stdatomic.h>

#include "cupti/graph_capture.h"
#include "cupti/graph_ids.h"
#include "cupti/graph_launches.h"
#include "cupti/graph_nodes.h"
#include "cupti/length_reads.h"
#include "cupti/lengths.h"
#include "trace/trace_writer.h"

static const struct cuda_driver *_Atomic driver;
static _Atomic int follows, nodes_told, noted;

void graph_calls_open(const struct cupti_library *library, const struct cuda_driver *mapped, bool told, bool follow)
{
    bool opened = follow && graph_nodes_open() && graph_launches_open();
    atomic_store(&driver, mapped);
    if (opened)
        graph_ids_open(library, mapped);
    atomic_store(&nodes_told, opened && told);
    atomic_store(&follows, opened);
    graph_capture_want(mapped, opened && !told);
}

static const char *ids_text(void)
{
    switch (graph_ids_source()) {
    case GRAPH_IDS_CUPTI:
        return "numbered by CUPTI";
    case GRAPH_IDS_DRIVER:
        return "numbered by the driver";
    case GRAPH_IDS_OWN:
        return "with numbers of rooftap's own";
    default:
        return "without numbers";
    }
}

void graph_calls_note_if_used(bool seen)
{
    int means = !atomic_load(&follows) ? 1 : atomic_load(&nodes_told) ? 2 : 3;
    if (!(seen || graph_launches_any()) || atomic_exchange(&noted, means) == means)
        return;
    if (means == 1)
        trace_note(trace_thread_get(), TRACE_NOTE_GRAPHS, 0, "not followed: kernels of graphs stand under their names");
    else if (means == 2)
        trace_note(trace_thread_get(), TRACE_NOTE_GRAPHS, 1, "nodes are told by CUPTI's callbacks, %s", ids_text());
    else
        trace_note(trace_thread_get(), TRACE_NOTE_GRAPHS, 2,
                   "nodes are found by what streams capture, %s: kernels of child graphs and conditional bodies stand "
                   "under their names unless records name the captured node",
                   ids_text());
}

void graph_calls_note_losses(void)
{
    static _Atomic int calls_noted, executables_noted;
    uint64_t calls = graph_capture_refused(), executables = graph_launches_refused();
    if (calls && !atomic_exchange(&calls_noted, 1))
        trace_note(
            trace_thread_get(), TRACE_NOTE_GRAPH_NODES, calls < INT32_MAX ? (int32_t)calls : INT32_MAX,
            "captured calls whose nodes are too many to follow, or have no numbers: their kernels stand under their "
            "names");
    if (executables && !atomic_exchange(&executables_noted, 1))
        trace_note(
            trace_thread_get(), TRACE_NOTE_GRAPH_NODES, executables < INT32_MAX ? (int32_t)executables : INT32_MAX,
            "more executable graphs than are followed (%d): launches of others are not counted", GRAPH_LAUNCHES_MOST);
}

static bool is_told(void)
{
    return atomic_load_explicit(&nodes_told, memory_order_acquire) != 0;
}

static bool is_followed(void)
{
    return atomic_load_explicit(&follows, memory_order_acquire) != 0;
}

/* What is copied or updated as a whole goes by the nodes' numbers. */
static bool numbers_hold(void)
{
    return !graph_ids_layout_differs();
}

void graph_calls_capture_begins(void)
{
    kernel_timing_start_if_needed(NULL);
}

void graph_calls_instantiated(struct kernel_timing_context *context, void *graph, void *executable)
{
    if (!is_followed() || !executable)
        return;
    uint32_t id = graph_ids_executable_seen(executable);
    if (!id && context && is_told())
        id = context->told_last;
    if (!is_told() && id && numbers_hold())
        graph_nodes_copy_all(graph_ids_graph(graph), id, GRAPH_NODES_IN_EXECUTABLE);
    graph_launches_made(executable, id);
}

void graph_calls_updating(void *executable)
{
    if (is_followed())
        graph_launches_changing(trace_thread_now(), executable);
}

static bool update(void *executable, void *graph, uint32_t correlation_id)
{
    uint32_t executable_id = graph_ids_executable(executable), graph_id = graph_ids_graph(graph);
    if (!executable_id)
        executable_id = graph_launches_id(executable);
    return executable_id && graph_id && numbers_hold() &&
           graph_nodes_update_all(graph_id, executable_id, correlation_id);
}

void graph_calls_updated(void *executable, void *graph, uint32_t correlation_id)
{
    if (!is_followed())
        return;
    if (!update(executable, graph, correlation_id))
        graph_nodes_distrust();
    graph_launches_changed(trace_thread_now(), executable);
}

void graph_calls_cloned(void *graph, void *clone)
{
    if (!is_followed() || is_told())
        return;
    uint32_t clone_id = graph_ids_graph_seen(clone);
    if (clone_id && numbers_hold())
        graph_nodes_copy_all(graph_ids_graph(graph), clone_id, GRAPH_NODES_IN_GRAPH);
}

void graph_calls_graph_goes(void *graph)
{
    uint32_t id = is_followed() && !is_told() ? graph_ids_graph(graph) : 0;
    if (id)
        graph_nodes_retire_all(id);
    graph_ids_forget(graph);
}

void graph_calls_executable_goes(void *executable)
{
    if (!is_followed())
        return;
    graph_launches_ended(trace_thread_now(), executable);
    graph_ids_forget(executable);
}

/* Its own copy of the child is a graph with numbers of its own, which newer CUPTIs name in records. */
void graph_calls_child_added(void *graph, void *node, void *child)
{
    if (!is_followed() || is_told())
        return;
    const struct cuda_driver *d = atomic_load(&driver);
    uint32_t graph_id = graph_ids_graph_seen(graph), child_id = graph_ids_graph(child);
    void *copy = NULL;
    uint64_t node_id;
    if (!graph_id || !graph_ids_node_seen(node, graph_id, graph_nodes_numbers(graph_id), &node_id))
        return;
    graph_nodes_number(node_id);
    graph_nodes_set_nested(graph_id);
    bool may_ask = d && d->cuGraphChildGraphNodeGetGraph && atomic_load(&graph_capture_ongoing) <= 0;
    if (child_id && may_ask && d->cuGraphChildGraphNodeGetGraph(node, &copy) == 0 && copy && numbers_hold())
        graph_nodes_copy_all(child_id, graph_ids_graph_seen(copy), GRAPH_NODES_IN_GRAPH);
}

void graph_calls_conditional_added(void *graph)
{
    uint32_t id = is_followed() && !is_told() ? graph_ids_graph_seen(graph) : 0;
    if (id)
        graph_nodes_set_nested(id);
}

/* ---- nodes by themselves ---- */

/* A node of an executable has its graph's node's number. */
static bool node_of_executable(void *executable, void *node, uint64_t *node_id)
{
    uint32_t id = graph_ids_executable(executable);
    if (!id)
        id = graph_launches_id(executable);
    if (!id || !numbers_hold() || !graph_ids_node(node, node_id))
        return false;
    *node_id = (uint64_t)id << 32 | (uint32_t)*node_id;
    return true;
}

void graph_calls_kernel_node(struct kernel_timing_context *context, void *graph, void *node, void *executable,
                             const struct launch_owner *owner, uint64_t name_id)
{
    uint64_t node_id;
    if (!is_followed())
        return;
    if (executable) {
        if (node_of_executable(executable, node, &node_id))
            graph_nodes_give(node_id, owner, name_id, true, context ? context->told_last : 0);
        graph_launches_changed(trace_thread_now(), executable);
        return;
    }
    uint32_t graph_id = graph ? graph_ids_graph_seen(graph) : 0;
    bool known = graph ? graph_ids_node_seen(node, graph_id, graph_nodes_numbers(graph_id), &node_id)
                       : graph_ids_node(node, &node_id);
    if (known)
        graph_nodes_give(node_id, owner, name_id, false, 0);
}

void graph_calls_node_changing(void *executable)
{
    graph_calls_updating(executable);
}

/* ---- launches ---- */

void graph_calls_launch_begins(struct kernel_timing_context *context)
{
    length_reads_before_change();
    if (context)
        context->graph_state |= KERNEL_TIMING_LAUNCH_SEEN;
}

void graph_calls_launched(struct kernel_timing_context *context, void *executable, void *stream, bool succeeded)
{
    if (context)
        context->graph_state &= ~KERNEL_TIMING_LAUNCH_SEEN;
    if (!succeeded || !is_followed())
        return;
    if (__builtin_expect(atomic_load_explicit(&graph_capture_ongoing, memory_order_relaxed) > 0, 0)) {
        int errno_before = errno;
        bool captures = graph_capture_is_on(stream);
        errno = errno_before;
        if (captures)
            return;
    }
    graph_launches_count(executable);
    if (lengths_are_watched())
        lengths_graph_launched(graph_launches_id(executable), stream);
}
