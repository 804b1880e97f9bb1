/* SPDX-License-Identifier: Apache-2.0 */
/* A node counts for a call from the launch on from which it holds to the one at which another call took it over, so that
 * executions are exact however often a graph is updated in place. */
#include "classify/graph_replays.h"

#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"

struct graph_replay *graph_replays_graph(struct graph_replays *replays, uint32_t graph_id)
{
    if (replays->graph_count >= GRAPHS_MOST && index_map_find(&replays->graph_map, graph_id, 0) == INDEX_MAP_NONE) {
        sum_add(&replays->beyond, 1);
        return NULL;
    }
    uint32_t *index = index_map_at(&replays->graph_map, graph_id, 0);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)replays->graph_count;
        replays->graphs =
            allocate_grow(replays->graphs, replays->graph_count, &replays->graph_capacity, sizeof *replays->graphs);
        replays->graphs[replays->graph_count++] =
            (struct graph_replay){.graph_id = graph_id, .least_launches = UINT64_MAX};
    }
    return &replays->graphs[*index];
}

struct replay_count *graph_replays_count(struct graph_replays *replays, struct graph_use use)
{
    uint32_t *index = index_map_at(&replays->count_map, use.id, use.of);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)replays->count_count;
        replays->counts =
            allocate_grow(replays->counts, replays->count_count, &replays->count_capacity, sizeof *replays->counts);
        replays->counts[replays->count_count++] = (struct replay_count){.use = use};
    }
    return &replays->counts[*index];
}

const struct replay_count *graph_replays_find(const struct graph_replays *replays, struct graph_use use)
{
    const uint32_t index = index_map_find(&replays->count_map, use.id, use.of);
    return index == INDEX_MAP_NONE ? NULL : &replays->counts[index];
}

/* ---- nodes ---- */

static struct graph_use use_of(const struct trace_graph_node *node, bool by_shape)
{
    if (by_shape)
        return (struct graph_use){USE_SHAPE, node->owner_id};
    const bool of_call = node->owner == TRACE_OWNER_CALL && node->owner_id;
    return of_call ? (struct graph_use){USE_CALL, node->owner_id} : (struct graph_use){USE_NAME, node->name_id};
}

uint64_t graph_replays_name(const struct graph_replays *replays, const struct graph_node *node)
{
    if (node->use.of == USE_CALL || node->name_id)
        return node->name_id;
    const uint32_t index =
        index_map_find(&replays->name_map, node->graph_node_id, replays->graphs[node->graph].graph_id);
    return index == INDEX_MAP_NONE ? 0 : replays->names[index];
}

static void take_name(const struct graph_replays *replays, struct graph_node *node)
{
    node->name_id = graph_replays_name(replays, node);
    if (node->use.of == USE_NAME)
        node->use.id = node->name_id;
}

static void note_name(struct graph_replays *replays, const struct trace_kernel *kernel)
{
    const bool is_full = replays->name_count >= GRAPH_NODES_MOST;
    if (is_full && index_map_find(&replays->name_map, kernel->graph_node_id, kernel->graph_id) == INDEX_MAP_NONE)
        return;
    uint32_t *index = index_map_at(&replays->name_map, kernel->graph_node_id, kernel->graph_id);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)replays->name_count;
        replays->names =
            allocate_grow(replays->names, replays->name_count, &replays->name_capacity, sizeof *replays->names);
        replays->name_count++;
    }
    replays->names[*index] = kernel->name_id;
}

/* IN_DOUBT: what a pair is taken for that there is no room to remember. */
static bool is_new(struct index_map *map, uint64_t first, uint64_t second, bool in_doubt)
{
    if (map->count >= 2 * GRAPH_NODES_MOST && index_map_find(map, first, second) == INDEX_MAP_NONE)
        return in_doubt;
    uint32_t *seen = index_map_at(map, first, second);
    const bool fresh = *seen == INDEX_MAP_NONE;
    *seen = 0;
    return fresh;
}

/* A call that was captured executes nothing itself. What was captured is captured once, however many graphs hold it. */
static void count_captured(struct graph_replays *replays, struct graph_node *node, bool is_counted)
{
    const bool of_record = node->owner == TRACE_OWNER_CALL || trace_owner_is_launch(node->owner);
    if (!node->call_id || !of_record || !is_new(&replays->call_map, trace_call_without_copy(node->call_id), 0, false) ||
        is_counted)
        return;
    node->captured = true;
    time_slices_add(&graph_replays_count(replays, node->use)->slices, node->realtime_ns,
                    (struct trace_slice){.timed = 1});
}

static uint64_t graph_key(const struct graph_replays *replays, const struct graph_node *node)
{
    return (uint64_t)replays->graphs[node->graph].graph_id << 1 | 1;
}

/* A call's second kernel is no second execution; kernels by name are counted one by one. */
static bool leads(struct graph_replays *replays, const struct graph_node *node)
{
    return node->use.of != USE_CALL || !node->call_id ||
           is_new(&replays->call_map, node->call_id, graph_key(replays, node), true);
}

struct graph_past graph_replays_past_of(const struct graph_replays *replays, const struct graph_node *node,
                                        uint64_t until)
{
    const uint64_t launches = until > node->launches ? until - node->launches : 0;
    const uint64_t call = trace_call_without_copy(node->call_id);
    struct graph_node named = *node;
    take_name(replays, &named);
    return (struct graph_past){.graph = node->graph,
                               .use = named.use,
                               .from = node->launches,
                               .launches = launches,
                               .leading = node->leads,
                               .executions = node->leads ? launches : 0,
                               .captured = node->captured,
                               .first_call = call,
                               .last_call = call,
                               .realtime_ns = node->realtime_ns};
}

static void note_past(struct graph_replays *replays, const struct graph_node *node, uint64_t until)
{
    const struct graph_past more = graph_replays_past_of(replays, node, until);
    const uint64_t place[] = {more.graph, more.from, more.launches, more.use.of};
    const uint64_t key = trace_hash(place, (uint32_t)sizeof place);
    if (replays->past_count >= GRAPH_PAST_MOST &&
        index_map_find(&replays->past_map, key, more.use.id) == INDEX_MAP_NONE)
        return;
    uint32_t *index = index_map_at(&replays->past_map, key, more.use.id);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)replays->past_count;
        replays->past =
            allocate_grow(replays->past, replays->past_count, &replays->past_capacity, sizeof *replays->past);
        replays->past[replays->past_count++] = more;
        return;
    }
    struct graph_past *past = &replays->past[*index];
    sum_add(&past->executions, more.executions);
    sum_add(&past->captured, more.captured);
    past->leading += more.leading;
    if (more.first_call && (!past->first_call || more.first_call < past->first_call))
        past->first_call = more.first_call;
    if (more.last_call > past->last_call)
        past->last_call = more.last_call;
}

/* NODE held from its launch on to launch UNTIL of its graph. */
static void count_until(struct graph_replays *replays, struct graph_node *node, uint64_t until, uint64_t until_ns)
{
    if (!node->retired)
        note_past(replays, node, until);
    if (node->retired || until <= node->launches)
        return;
    take_name(replays, node);
    sum_add(&replays->graphs[node->graph].node_launches, until - node->launches);
    if (node->leads)
        time_slices_spread(&graph_replays_count(replays, node->use)->slices, node->realtime_ns, until_ns,
                           until - node->launches);
}

static struct graph_node node_of(const struct trace_graph_node *from, bool by_shape, uint32_t graph,
                                 uint64_t realtime_ns)
{
    return (struct graph_node){
        .graph = graph,
        .graph_node_id = from->graph_node_id,
        .use = use_of(from, by_shape),
        .owner_id = from->owner_id,
        .call_id = from->call_id,
        .name_id = from->name_id,
        .owner = from->owner,
        .retired = from->retired,
        .realtime_ns = realtime_ns,
        .launches = from->launches,
        .first_realtime_ns = realtime_ns,
        .first_launches = from->launches,
    };
}

/* Whichever was read first: a later one ends the one that is known, and one from before all of them ends where the first of
 * them begins. (The first record of a node and its updates may come from different threads, so in any order.) */
static void replace(struct graph_replays *replays, struct graph_node *known, struct graph_node *node)
{
    const bool is_later = node->launches > known->launches ||
                          (node->launches == known->launches && node->realtime_ns >= known->realtime_ns);
    if (is_later) {
        node->first_launches = known->first_launches;
        node->first_realtime_ns = known->first_realtime_ns;
        count_until(replays, known, node->launches, node->realtime_ns);
        *known = *node;
    } else {
        count_until(replays, node, known->first_launches, known->first_realtime_ns);
        if (node->launches <= known->first_launches) {
            known->first_launches = node->launches;
            known->first_realtime_ns = node->realtime_ns;
        }
    }
}

void graph_replays_add_node(struct graph_replays *replays, const struct trace_graph_node *from, bool by_shape,
                            uint64_t realtime_ns)
{
    struct graph_replay *graph = graph_replays_graph(replays, from->graph_id);
    if (!graph)
        return;
    struct graph_node node = node_of(from, by_shape, (uint32_t)(graph - replays->graphs), realtime_ns);
    if (replays->node_count >= GRAPH_NODES_MOST &&
        index_map_find(&replays->node_map, node.graph_node_id, from->graph_id) == INDEX_MAP_NONE) {
        graph->nodes_beyond = true;
        sum_add(&replays->beyond, 1);
        return;
    }
    if (!graph->made_ns || (realtime_ns && realtime_ns < graph->made_ns))
        graph->made_ns = realtime_ns;
    if (!node.retired) {
        node.leads = leads(replays, &node) && from->summed != NODE_FOLLOWS;
        count_captured(replays, &node, from->summed);
    }
    uint32_t *index = index_map_at(&replays->node_map, node.graph_node_id, from->graph_id);
    if (*index != INDEX_MAP_NONE) {
        replace(replays, &replays->nodes[*index], &node);
        return;
    }
    *index = (uint32_t)replays->node_count;
    replays->nodes =
        allocate_grow(replays->nodes, replays->node_count, &replays->node_capacity, sizeof *replays->nodes);
    replays->nodes[replays->node_count++] = node;
}

/* ---- launches and runs ---- */

/* Between records that were read in whatever order, launches are spread over the time between; those before the first one
 * wait for graph_replays_end(). */
void graph_replays_add_launches(struct graph_replays *replays, const struct trace_graph_launches *launches)
{
    struct graph_replay *graph = graph_replays_graph(replays, launches->graph_id);
    if (!graph)
        return;
    const uint64_t at_ns = launches->realtime_ns <= INT64_MAX ? launches->realtime_ns : 0;
    const uint64_t count = launches->launches <= INT64_MAX ? launches->launches : INT64_MAX;
    graph->ended |= launches->ended == 1;
    if (graph->least_launches == UINT64_MAX) {
        graph->launches = graph->least_launches = count;
        graph->realtime_ns = graph->least_realtime_ns = at_ns;
    } else if (count < graph->least_launches) {
        time_slices_spread(&graph->slices, at_ns, graph->least_realtime_ns, graph->least_launches - count);
        graph->least_launches = count;
        graph->least_realtime_ns = at_ns;
    } else if (count >= graph->launches) {
        time_slices_spread(&graph->slices, graph->realtime_ns, at_ns, count - graph->launches);
        graph->launches = count;
        graph->realtime_ns = at_ns;
    }
}

void graph_replays_add_run(struct graph_replays *replays, const struct trace_graph_run *run)
{
    struct graph_replay *graph = graph_replays_graph(replays, run->graph_id);
    if (!graph)
        return;
    const uint64_t time_ns = run->end_ns - run->start_ns;
    sum_add(&graph->runs, 1);
    sum_add(&graph->run_ns, time_ns);
    graph->device = run->device;
    time_slices_add(&graph->slices, run->start_ns, (struct trace_slice){.timed = 1, .time_ns = time_ns});
}

void graph_replays_add_kernel(struct graph_replays *replays, const struct trace_kernel *kernel)
{
    struct graph_replay *graph = graph_replays_graph(replays, kernel->graph_id);
    if (graph)
        sum_add(&graph->kernels, 1);
    if (!kernel->owner_id && kernel->name_id)
        note_name(replays, kernel);
}

/* ---- after the last record ---- */

/* Runs that were timed as a whole stand in the graph's slices, too; among a node's, `timed` is what was captured. */
static void add_launches(struct time_slices *into, const struct time_slices *graph, uint64_t part, uint64_t whole)
{
    struct time_slices launches = {0};
    time_slices_add_part(&launches, graph, part, whole);
    for (uint32_t i = 0; i < launches.count; i++)
        launches.slices[i] = (struct trace_slice){.all = launches.slices[i].all};
    time_slices_add_all(into, &launches);
    time_slices_free(&launches);
}

/* FROM is where what is left begins, where earlier records are gone. */
static void count_live(struct graph_replays *replays, const struct graph_node *node, uint64_t from)
{
    struct graph_replay *graph = &replays->graphs[node->graph];
    graph->live_nodes++;
    if (graph->launches <= from)
        return;
    const uint64_t executions = graph->launches - from;
    sum_add(&graph->node_launches, executions);
    if (node->leads)
        add_launches(&graph_replays_count(replays, node->use)->slices, &graph->slices, executions, graph->launches);
}

void graph_replays_end(struct graph_replays *replays, bool rotated)
{
    for (size_t i = 0; i < replays->graph_count; i++) {
        struct graph_replay *graph = &replays->graphs[i];
        if (graph->least_launches != UINT64_MAX && !rotated)
            time_slices_spread(&graph->slices, graph->made_ns, graph->least_realtime_ns, graph->least_launches);
    }
    for (size_t i = 0; i < replays->node_count; i++) {
        struct graph_node *node = &replays->nodes[i];
        const struct graph_replay *graph = &replays->graphs[node->graph];
        take_name(replays, node);
        const bool begins_later = rotated && graph->least_launches != UINT64_MAX;
        if (!node->retired)
            count_live(replays, node,
                       begins_later && node->launches < graph->least_launches ? graph->least_launches : node->launches);
    }
}

void graph_replays_free(struct graph_replays *replays)
{
    for (size_t i = 0; i < replays->graph_count; i++)
        time_slices_free(&replays->graphs[i].slices);
    for (size_t i = 0; i < replays->count_count; i++)
        time_slices_free(&replays->counts[i].slices);
    free(replays->graphs);
    free(replays->nodes);
    free(replays->counts);
    free(replays->names);
    free(replays->past);
    index_map_free(&replays->past_map);
    helper_charges_free(&replays->helpers);
    index_map_free(&replays->graph_map);
    index_map_free(&replays->name_map);
    index_map_free(&replays->node_map);
    index_map_free(&replays->call_map);
    index_map_free(&replays->count_map);
    *replays = (struct graph_replays){0};
}
