/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are remembered by their place until all processes are read: what a node asks is known at once, what its device can do
 * only then. */
#include "classify/graph_share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/launch_operators.h"
#include "classify/roof_time.h"
#include "classify/session_merge.h"

/* ---- while processes are read ---- */

static int device_of_graph(const struct operator_join *join, const int *device_of, const struct graph_replay *graph)
{
    for (size_t d = 0; d < join->device_count; d++)
        if (join->devices[d].ordinal == graph->device)
            return device_of[d];
    return SESSION_DEVICE_UNKNOWN;
}

static size_t row_of_node(struct session_merge *merge, struct operator_join *join, const struct graph_node *node,
                          int device)
{
    const struct operator_row *op = session_merge_operator_of_use(merge, join, node->use, node->name_id, device);
    return op ? (size_t)(op - merge->session->operators) : session_merge_operator_of_name(merge, node->name_id, device);
}

/* Its time is part of that of the operator which it serves. */
static bool is_charged(struct operator_join *join, const struct graph_node *node)
{
    return join->helper_nodes.nodes[node - join->replays.nodes].serves != UINT32_MAX;
}

/* MAP: of a share and a row, the place among the share's nodes. */
static void add_node(struct graph_share *share, struct index_map *map, size_t number, size_t row,
                     const struct graph_node *node, size_t *capacity)
{
    uint32_t *index = index_map_at(map, row, number);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)share->node_count;
        share->nodes = allocate_grow(share->nodes, share->node_count, capacity, sizeof *share->nodes);
        share->nodes[share->node_count++] = (struct graph_share_node){.row = row};
    }
    share->nodes[*index].executions += node->leads;
    share->nodes[*index].kernels++;
}

static uint64_t whole(double number)
{
    return number > 0 ? number < 9e18 ? (uint64_t)(number + 0.5) : INT64_MAX : 0;
}

static size_t rest_row(struct session_merge *merge, const struct operator_join *join, const struct graph_replay *graph,
                       int device, bool known)
{
    const struct {
        uint64_t start_ns;
        uint32_t pid, graph_id;
    } what = {join->process.start_realtime_ns, join->process.pid, graph->graph_id};
    const size_t row = session_merge_operator_of_name(merge, trace_hash(&what, sizeof what), device);
    struct operator_row *op = &merge->session->operators[row];
    op->graph = known ? OPERATOR_GRAPH_REST : OPERATOR_GRAPH_UNKNOWN;
    op->graph_id = graph->graph_id;
    return row;
}

static void add_share(struct session_merge *merge, const struct operator_join *join, const struct graph_replay *graph,
                      int device, const struct sampled_row *sampled)
{
    struct graph_shares *shares = &merge->shares;
    const bool known = graph->live_nodes && !graph->nodes_beyond;
    shares->graphs = allocate_grow(shares->graphs, shares->count, &shares->capacity, sizeof *shares->graphs);
    struct graph_share *share = &shares->graphs[shares->count++];
    *share = (struct graph_share){.runs = graph->runs, .run_ns = graph->run_ns};
    share->rest_row = rest_row(merge, join, graph, device, known);
    struct operator_row *op = &merge->session->operators[share->rest_row];
    sum_add(&op->evidence.executions_all, graph->launches > graph->runs ? graph->launches : graph->runs);
    sum_add(&op->evidence.executions, graph->runs);
    if (!sampled || !sampled->estimated)
        return;
    share->estimate = sampled->time;
    share->runs = whole(sampled->time.covered);
    share->run_ns = whole(sampled->time.time_ns);
}

void graph_shares_add(struct session_merge *merge, struct operator_join *join, const int *device_of,
                      const struct sampled_rows *sampled)
{
    const struct graph_replays *replays = &join->replays;
    size_t *place = allocate(replays->graph_count + 1, sizeof *place), *capacity;
    const size_t before = merge->shares.count;
    struct index_map map = {0};
    for (size_t i = 0; i < replays->graph_count; i++) {
        const struct graph_replay *graph = &replays->graphs[i];
        place[i] = SIZE_MAX;
        if (!graph->runs)
            continue;
        add_share(merge, join, graph, device_of_graph(join, device_of, graph),
                  sampled->graphs ? &sampled->graphs[i] : NULL);
        place[i] = merge->shares.count - 1;
    }
    capacity = allocate(merge->shares.count - before + 1, sizeof *capacity);
    for (size_t i = 0; i < replays->node_count; i++) {
        const struct graph_node *node = &replays->nodes[i];
        const struct graph_replay *graph = &replays->graphs[node->graph];
        if (node->retired || graph->nodes_beyond || place[node->graph] == SIZE_MAX || is_charged(join, node))
            continue;
        const size_t row = row_of_node(merge, join, node, device_of_graph(join, device_of, graph));
        const size_t share = place[node->graph];
        add_node(&merge->shares.graphs[share], &map, share, row, node, &capacity[share - before]);
    }
    index_map_free(&map);
    free(capacity);
    free(place);
}

/* ---- once all is known ---- */

/* Of one execution at its roof; NAN: not known. */
static double roof_ns(const struct session *session, const struct operator_row *op)
{
    if (!operator_row_has_work(op) || op->device < 0)
        return NAN;
    const struct device_roofs *roofs = &session->devices[op->device].roofs;
    return roof_time_ns(session, op->device, operator_row_path(op, roofs->spec), op->work.flops, op->work.bytes);
}

/* PART of the graph's time, as uncertain as that. */
static void give(struct operator_row *op, const struct graph_share *share, uint64_t time_ns, uint64_t executions,
                 uint64_t kernels)
{
    struct sampled_time estimate = share->estimate;
    const double part = share->run_ns ? (double)time_ns / (double)share->run_ns : 0;
    estimate.variance *= part * part;
    if (estimate.covered > 0)
        time_evidence_add(&op->evidence, &estimate);
    op->timed = true;
    op->evidence.shared_ns += (double)time_ns;
    sum_add(&op->time_ns, time_ns);
    sum_add(&op->kernels, kernels);
    if (operator_row_has_work(op))
        sum_add(&op->executions, executions);
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > INT64_MAX ? INT64_MAX : product;
}

/* By what the time at the roof of each node is multiplied; 0: nothing can be shared out. ALL: nothing is left then. */
static double factor_of(const struct graph_share *share, const struct session *session, bool *all)
{
    double known_ns = 0;
    *all = share->node_count > 0;
    for (size_t i = 0; i < share->node_count; i++) {
        const double each_ns = roof_ns(session, &session->operators[share->nodes[i].row]);
        *all &= each_ns > 0;
        known_ns += each_ns > 0 ? each_ns * (double)share->nodes[i].executions : 0;
    }
    const double factor = (double)share->run_ns / (known_ns * (double)share->runs);
    if (!(factor > 0) || isinf(factor))
        return *all = false;
    return *all ? factor : fmin(1, factor);
}

static void apply(const struct graph_share *share, struct session *session)
{
    bool all;
    const double factor = factor_of(share, session, &all);
    uint64_t left_ns = share->run_ns;
    struct operator_row *last = NULL;
    for (size_t i = 0; i < share->node_count && factor > 0; i++) {
        const struct graph_share_node *node = &share->nodes[i];
        struct operator_row *op = &session->operators[node->row];
        const double each_ns = roof_ns(session, op);
        if (!(each_ns > 0))
            continue;
        const double part_ns = factor * each_ns * (double)node->executions * (double)share->runs;
        const uint64_t time_ns = part_ns < (double)left_ns ? (uint64_t)part_ns : left_ns;
        give(op, share, time_ns, times(node->executions, share->runs), times(node->kernels, share->runs));
        left_ns -= time_ns;
        last = op;
    }
    if (all && last)
        sum_add(&last->time_ns, left_ns); /* what was lost in rounding */
    else if (left_ns)
        give(&session->operators[share->rest_row], share, left_ns, 0, share->runs);
}

void graph_shares_apply(const struct graph_shares *shares, struct session *session)
{
    for (size_t i = 0; i < shares->count; i++)
        apply(&shares->graphs[i], session);
}

void graph_shares_free(struct graph_shares *shares)
{
    for (size_t i = 0; i < shares->count; i++)
        free(shares->graphs[i].nodes);
    free(shares->graphs);
    *shares = (struct graph_shares){0};
}
