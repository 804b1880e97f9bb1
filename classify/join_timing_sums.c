/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs come before their nodes: a node that is read counts from the launch on that it names, and what it executed before
 * is in slices. */
#include "classify/join_timing_sums.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/join_launches.h"
#include "classify/replay_phases.h"
#include "trace/trace_sums.h"

/* ---- reading ---- */

static struct time_slices *slices_of(struct operator_join *join, const struct trace_sum_slices *sum)
{
    const struct graph_use use = {sum->of_call ? USE_CALL : USE_NAME, sum->id}, shape = {USE_SHAPE, sum->id};
    size_t index;
    switch (sum->of) {
    case TRACE_SLICES_CALLS:
        index = index_map_find(&join->signature_map, sum->id, 0);
        return index == INDEX_MAP_NONE ? NULL : &join->signatures[index].slices;
    case TRACE_SLICES_LAUNCHES:
        index = join_launches_row_of_sum(join, sum->id, sum->shape_id);
        return index == SIZE_MAX ? NULL : &join->launches[index].slices;
    case TRACE_SLICES_KERNELS:
    case TRACE_SLICES_SHAPE_KERNELS: {
        struct joined_kernels *row =
            operator_join_row(join, sum->device, sum->of == TRACE_SLICES_KERNELS ? use : shape);
        return row && operator_join_device(join, sum->device) ? &row->slices : NULL;
    }
    case TRACE_SLICES_SHAPE_REPLAYS:
        return &graph_replays_count(&join->replays, shape)->slices;
    case TRACE_SLICES_REPLAYS:
        return &graph_replays_count(&join->replays, use)->slices;
    case TRACE_SLICES_GRAPH: {
        struct graph_replay *graph =
            sum->id <= UINT32_MAX ? graph_replays_graph(&join->replays, (uint32_t)sum->id) : NULL;
        return graph ? &graph->slices : NULL;
    }
    case TRACE_SLICES_WINDOWS:
        return &join->timing.sampled;
    default:
        return NULL;
    }
}

static void add_slices(struct operator_join *join, const struct trace_sum_slices *sum)
{
    struct time_slices *into = slices_of(join, sum), more = {0};
    if (!into || !sum->count)
        return;
    more.slices = allocate(TRACE_SLICES_MOST, sizeof more.slices[0]);
    more.room = TRACE_SLICES_MOST;
    memcpy(more.slices, sum->slices, sum->count * sizeof more.slices[0]);
    more.first = sum->first;
    more.count = sum->count;
    more.shift = sum->shift;
    time_slices_add_all(into, &more);
    time_slices_free(&more);
}

static uint64_t possible(uint64_t number)
{
    return number <= INT64_MAX ? number : INT64_MAX;
}

/* Of a graph that is known already, the sums are those of the time before. */
static void add_graph(struct operator_join *join, const struct trace_sum_graph *sum)
{
    struct graph_replay *graph = graph_replays_graph(&join->replays, sum->graph_id);
    if (!graph)
        return;
    graph->ended |= sum->ended == 1;
    graph->nodes_beyond |= sum->nodes_beyond == 1;
    sum_add(&graph->runs, sum->runs);
    sum_add(&graph->run_ns, sum->run_ns);
    sum_add(&graph->kernels, sum->kernels);
    sum_add(&graph->node_launches, sum->node_launches);
    if (sum->runs)
        graph->device = sum->device;
    if (sum->made_ns && (!graph->made_ns || sum->made_ns < graph->made_ns))
        graph->made_ns = possible(sum->made_ns);
    if (sum->least_launches == UINT64_MAX)
        return;
    if (sum->least_launches < graph->least_launches) {
        graph->least_launches = possible(sum->least_launches);
        graph->least_realtime_ns = possible(sum->least_realtime_ns);
    }
    if (sum->launches >= graph->launches) {
        graph->launches = possible(sum->launches);
        graph->realtime_ns = possible(sum->realtime_ns);
    }
}

void join_timing_sums_add(struct operator_join *join, const struct trace_item *item)
{
    const void *record = item->record;
    switch (item->record->type) {
    case TRACE_RECORD_SUM_SLICES:
        add_slices(join, record);
        break;
    case TRACE_RECORD_SUM_WINDOWS:
        timing_windows_add(&join->timing, item, 0);
        break;
    case TRACE_RECORD_SUM_GRAPH:
        add_graph(join, record);
        break;
    case TRACE_RECORD_SUM_LENGTHS:
        live_lengths_add_sum(&join->lengths, record);
        break;
    default:
        break;
    }
}

/* ---- writing ---- */

struct writing {
    join_sums_put *put;
    void *context;
    union {
        struct trace_record record;
        struct trace_sum_slices slices;
        struct trace_timing timing;
        struct trace_window window;
        _Alignas(8) unsigned char bytes[16384];
    } room;
};

static void put(struct writing *w, struct trace_record *record, enum trace_record_type type, size_t bytes)
{
    record->type = (uint16_t)type;
    record->size = (uint16_t)bytes;
    w->put(w->context, NULL, record);
}

/* FIXED bytes of the record lie in w->room. Returns how much of TEXT there was room for. */
static uint32_t put_text(struct writing *w, enum trace_record_type type, size_t fixed, uint32_t *text_bytes,
                         const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length > sizeof w->room - fixed - 8)
        length = sizeof w->room - fixed - 8;
    memset(w->room.bytes + fixed, 0, (length + 7) / 8 * 8);
    if (length)
        memcpy(w->room.bytes + fixed, text, length);
    *text_bytes = (uint32_t)length;
    put(w, &w->room.record, type, fixed + (length + 7) / 8 * 8);
    return *text_bytes;
}

static void write_slices(struct writing *w, struct trace_sum_slices what, const struct time_slices *slices)
{
    if (!slices->count)
        return;
    what.first = slices->first;
    what.shift = (uint16_t)slices->shift;
    what.count = (uint16_t)slices->count;
    w->room.slices = what;
    memcpy(w->room.slices.slices, slices->slices, slices->count * sizeof slices->slices[0]);
    put(w, &w->room.record, TRACE_RECORD_SUM_SLICES, sizeof what + slices->count * sizeof slices->slices[0]);
}

static void write_changes(struct writing *w, const struct timing_windows *timing)
{
    for (size_t i = 0; i < timing->change_count; i++) {
        const struct timing_change *from = &timing->changes[i];
        w->room.timing = (struct trace_timing){
            .ticks = from->realtime_ns,
            .asked = from->asked,
            .mode = from->mode,
            .cupti_version = from->cupti_version,
            .window_ns = from->window_ns,
            .period_ns = from->period_ns,
            .graph_records_most = from->graph_records_most,
        };
        put_text(w, TRACE_RECORD_TIMING, sizeof w->room.timing, &w->room.timing.text_bytes, from->text);
    }
}

static void write_window(struct writing *w, uint64_t realtime_ns, uint32_t what, uint32_t why, uint32_t number,
                         const char *text)
{
    w->room.window = (struct trace_window){
        .ticks = realtime_ns, .realtime_ns = realtime_ns, .what = what, .why = why, .number = number};
    put_text(w, TRACE_RECORD_WINDOW, sizeof w->room.window, &w->room.window.text_bytes, text);
}

static void write_windows(struct writing *w, const struct timing_windows *timing)
{
    struct trace_sum_windows sum = timing->closed;
    for (size_t i = 0; i < timing->mark_count; i++)
        write_window(w, timing->marks[i].realtime_ns, TRACE_WINDOW_MARK, TRACE_WINDOW_CONTROL, timing->marks[i].window,
                     timing->marks[i].text);
    for (size_t i = 0; i < timing->open_count; i++)
        write_window(w, timing->open[i].realtime_ns, timing->open[i].is_close ? TRACE_WINDOW_CLOSE : TRACE_WINDOW_OPEN,
                     timing->open[i].why, timing->open[i].number, NULL);
    if (timing_windows_count(timing) || sum.last_why || sum.marks_beyond || sum.changes_beyond)
        put(w, &sum.record, TRACE_RECORD_SUM_WINDOWS, sizeof sum);
    write_slices(w, (struct trace_sum_slices){.of = TRACE_SLICES_WINDOWS}, &timing->sampled);
    if (timing->overhead_known) {
        struct trace_overhead overhead = timing->overhead;
        overhead.ticks = timing->overhead_realtime_ns;
        put(w, &overhead.record, TRACE_RECORD_OVERHEAD, sizeof overhead);
    }
}

static void write_graph(struct writing *w, const struct graph_replay *graph)
{
    struct trace_sum_graph sum = {
        .graph_id = graph->graph_id,
        .ended = graph->ended,
        .launches = graph->launches,
        .realtime_ns = graph->realtime_ns,
        .least_launches = graph->least_launches,
        .least_realtime_ns = graph->least_realtime_ns,
        .made_ns = graph->made_ns,
        .runs = graph->runs,
        .run_ns = graph->run_ns,
        .device = graph->device,
        .nodes_beyond = graph->nodes_beyond,
        .kernels = graph->kernels,
        .node_launches = graph->node_launches,
    };
    put(w, &sum.record, TRACE_RECORD_SUM_GRAPH, sizeof sum);
    write_slices(w, (struct trace_sum_slices){.of = TRACE_SLICES_GRAPH, .id = graph->graph_id}, &graph->slices);
}

static void write_node(struct writing *w, const struct graph_replays *replays, const struct graph_node *node)
{
    struct trace_graph_node record = {
        .graph_node_id = node->graph_node_id,
        .call_id = node->call_id,
        .owner_id = node->owner_id,
        .name_id = graph_replays_name(replays, node),
        .ticks = node->realtime_ns,
        .graph_id = replays->graphs[node->graph].graph_id,
        .owner = node->owner,
        .retired = node->retired,
        .summed = node->leads || node->retired ? NODE_COUNTED : NODE_FOLLOWS,
        .launches = node->launches,
    };
    put(w, &record.record, TRACE_RECORD_GRAPH_NODE, sizeof record);
}

static void write_counts(struct writing *w, const struct graph_replays *replays)
{
    for (size_t i = 0; i < replays->count_count; i++) {
        const struct replay_count *count = &replays->counts[i];
        const bool by_shape = count->use.of == USE_SHAPE;
        write_slices(w,
                     (struct trace_sum_slices){.of = by_shape ? TRACE_SLICES_SHAPE_REPLAYS : TRACE_SLICES_REPLAYS,
                                               .id = count->use.id,
                                               .of_call = count->use.of == USE_CALL},
                     &count->slices);
    }
}

static void write_replays(struct writing *w, const struct operator_join *join)
{
    const struct graph_replays *replays = &join->replays;
    struct graph_replays captured = {0};
    uint32_t *order = helper_nodes_order(join);
    for (size_t i = 0; i < replays->graph_count; i++)
        write_graph(w, &replays->graphs[i]);
    for (size_t i = 0; i < replays->node_count; i++)
        write_node(w, replays, &replays->nodes[order[i]]);
    free(order);
    write_counts(w, replays);
    replay_phases_captured(join, &captured);
    write_counts(w, &captured);
    graph_replays_free(&captured);
}

static void write_rows(struct writing *w, const struct operator_join *join)
{
    for (size_t i = 0; i < join->signature_count; i++)
        write_slices(w, (struct trace_sum_slices){.of = TRACE_SLICES_CALLS, .id = join->signatures[i].id},
                     &join->signatures[i].slices);
    for (size_t i = 0; i < join->launch_count; i++)
        write_slices(w,
                     (struct trace_sum_slices){.of = TRACE_SLICES_LAUNCHES,
                                               .id = join->launches[i].name_id,
                                               .shape_id = join->launches[i].shape_id},
                     &join->launches[i].slices);
    for (size_t i = 0; i < join->row_count; i++) {
        const struct joined_kernels *row = &join->rows[i];
        const bool by_shape = row->use.of == USE_SHAPE;
        write_slices(w,
                     (struct trace_sum_slices){.of = by_shape ? TRACE_SLICES_SHAPE_KERNELS : TRACE_SLICES_KERNELS,
                                               .id = row->use.id,
                                               .device = row->ordinal,
                                               .of_call = row->use.of == USE_CALL},
                     &row->slices);
    }
}

void join_timing_sums_write(const struct operator_join *join, join_sums_put *put_record, void *context)
{
    struct writing *w = allocate(1, sizeof *w);
    w->put = put_record;
    w->context = context;
    write_changes(w, &join->timing);
    write_windows(w, &join->timing);
    write_replays(w, join);
    if (timing_windows_any_sampled(&join->timing))
        write_rows(w, join);
    for (size_t i = 0; i < join->lengths.count; i++) {
        struct trace_sum_lengths sum = join->lengths.rows[i];
        put(w, &sum.record, TRACE_RECORD_SUM_LENGTHS, sizeof sum);
    }
    free(w);
}
