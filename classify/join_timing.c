/* SPDX-License-Identifier: Apache-2.0 */
/* One handler for each record. What a stranger's record claims is checked here, as in operator_join.c. */
#include "classify/join_timing.h"

/* A launch of a whole graph is work of the device like a kernel. */
static void add_graph_run(struct operator_join *join, const struct trace_graph_run *record)
{
    struct trace_graph_run placed = *record;
    const struct trace_graph_run *run = &placed;
    clock_relation_place(&join->clock, &placed.start_ns, &placed.end_ns);
    struct joined_device *device =
        operator_join_times_are_possible(run->start_ns, run->end_ns) ? operator_join_device(join, run->device) : NULL;
    if (!device) {
        join->kernels_invalid++;
        return;
    }
    interval_set_add(device->busy, run->start_ns, run->end_ns);
    device_time_add(&device->time, DEVICE_COMPUTE, run->start_ns, run->end_ns);
    device->kernels++;
    sum_add(&device->kernel_ns, run->end_ns - run->start_ns);
    graph_replays_add_run(&join->replays, run);
}

static void add_graph_node(struct operator_join *join, const struct trace_item *item)
{
    const struct trace_graph_node *node = (const struct trace_graph_node *)item->record;
    helper_nodes_before(join, node);
    graph_replays_add_node(&join->replays, node,
                           launch_shapes_take(&join->launch_shapes, node->owner, node->owner_id, node->name_id),
                           operator_join_realtime(item->block, node->ticks));
    helper_nodes_after(join, node);
}

void join_timing_add(struct operator_join *join, const struct trace_item *item)
{
    const void *record = item->record;
    switch (item->record->type) {
    case TRACE_RECORD_TIMING:
        timing_windows_add(&join->timing, item,
                           operator_join_realtime(item->block, ((const struct trace_timing *)record)->ticks));
        break;
    case TRACE_RECORD_WINDOW:
        timing_windows_add(&join->timing, item,
                           operator_join_realtime(item->block, ((const struct trace_window *)record)->ticks));
        break;
    case TRACE_RECORD_OVERHEAD:
        timing_windows_add(&join->timing, item,
                           operator_join_realtime(item->block, ((const struct trace_overhead *)record)->ticks));
        break;
    case TRACE_RECORD_GRAPH_RUN:
        add_graph_run(join, record);
        break;
    case TRACE_RECORD_GRAPH_NODE:
        add_graph_node(join, item);
        break;
    case TRACE_RECORD_GRAPH_LAUNCHES:
        graph_replays_add_launches(&join->replays, record);
        break;
    case TRACE_RECORD_LENGTHS:
        live_lengths_add(&join->lengths, record);
        break;
    default:
        break;
    }
}

void join_timing_end(struct operator_join *join)
{
    timing_windows_end(&join->timing, join->end_realtime_ns);
    helper_nodes_count(join);
    graph_replays_end(&join->replays, join->rotated.blocks > 0);
}
