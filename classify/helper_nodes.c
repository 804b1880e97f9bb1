/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of several streams of one capture are taken for those of one: which stream a node was on is not known. */
#include "classify/helper_nodes.h"

#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/launch_operators.h"
#include "classify/operator_join.h"

#define NONE UINT32_MAX

/* What a node is to the order. */
enum {
    IS_OTHER,
    IS_PRODUCT,
    IS_ATTENTION,
    IS_UNREAD_PRODUCT,
    IS_UNREAD_ATTENTION,
    IS_HELPER, /* and whom it serves */
};

static uint32_t signature_of(const struct operator_join *join, struct graph_use use)
{
    return use.of == USE_CALL ? index_map_find(&join->signature_map, use.id, 0) : INDEX_MAP_NONE;
}

static bool is_product_call(const struct operator_join *join, struct graph_use use)
{
    const uint32_t index = signature_of(join, use);
    const uint8_t kind = index == INDEX_MAP_NONE ? 0 : join->signatures[index].content.kind;
    return kind == TRACE_CALL_GEMM || kind == TRACE_CALL_GEMV;
}

static bool is_narrow_call(const struct operator_join *join, struct graph_use use)
{
    const uint32_t index = signature_of(join, use);
    return index != INDEX_MAP_NONE && helper_charge_is_narrow(&join->signatures[index].content);
}

static const struct launch_decode *decode_of(struct operator_join *join, const struct graph_node *node)
{
    const struct launch_decode *decode =
        node->use.of == USE_SHAPE ? launch_shapes_decode_last(&join->launch_shapes, node->use.id) : NULL;
    return decode && decode->reading == LAUNCH_READ ? decode : NULL;
}

static uint32_t what_is(struct operator_join *join, const struct graph_node *node)
{
    const struct launch_decode *decode = decode_of(join, node);
    if (node->retired)
        return IS_OTHER;
    if (node->use.of == USE_CALL)
        return is_product_call(join, node->use) ? IS_PRODUCT : IS_OTHER;
    if (decode)
        return decode->kind == LAUNCH_MATMUL      ? IS_PRODUCT
               : decode->kind == LAUNCH_ATTENTION ? IS_ATTENTION
               : decode->kind == LAUNCH_HELPER    ? IS_HELPER + (uint32_t)decode->serves
                                                  : IS_OTHER;
    switch (kernel_kind_of_name(name_pool_find(join->names, node->name_id))) {
    case KERNEL_GEMM:
    case KERNEL_GEMV:
        return IS_UNREAD_PRODUCT;
    case KERNEL_ATTENTION:
        return IS_UNREAD_ATTENTION;
    default:
        return IS_OTHER;
    }
}

/* ---- the order ---- */

struct place {
    uint64_t order;
    uint32_t node;
};

static int by_order(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Nodes of one graph; *COUNT of them, to be freed. */
static struct place *places_of(const struct helper_nodes *all, const struct helper_graph *graph, size_t *count)
{
    struct place *places = NULL;
    size_t capacity = 0;
    *count = 0;
    for (uint32_t i = graph->first; i != NONE; i = all->nodes[i].next) {
        places = allocate_grow(places, *count, &capacity, sizeof *places);
        places[(*count)++] = (struct place){all->nodes[i].order, i};
    }
    if (*count)
        qsort(places, *count, sizeof *places, by_order);
    return places;
}

/* Ids of the served are nodes here. */
struct ordering {
    struct helper_charges charges;
    struct trace_block_header block;
};

static void order_node(struct operator_join *join, struct ordering *ordering, uint32_t index)
{
    struct helper_node *node = &join->helper_nodes.nodes[index];
    const struct graph_node *of = &join->replays.nodes[index];
    const uint32_t is = node->is = what_is(join, of);
    node->serves = node->first_helper = node->next_helper = NONE;
    helper_charges_add(
        &ordering->charges,
        &(struct helper_event){
            .block = &ordering->block,
            .call_id = index + 1ull,
            .served = {is == IS_PRODUCT || is == IS_UNREAD_PRODUCT, is == IS_ATTENTION || is == IS_UNREAD_ATTENTION},
            .read = is != IS_UNREAD_PRODUCT && is != IS_UNREAD_ATTENTION,
            .narrow = is_narrow_call(join, of->use),
            .use = {USE_SHAPE, index + 1ull},
            .helper = is > IS_HELPER ? (enum launch_serves)(is - IS_HELPER) : LAUNCH_SERVES_NONE,
        });
}

/* The same rule as along a stream. */
static void find_served(struct operator_join *join, struct helper_graph *graph)
{
    struct ordering ordering = {.block = {.sequence = 1}};
    size_t count;
    struct place *places = places_of(&join->helper_nodes, graph, &count);
    for (size_t i = 0; i < count; i++)
        order_node(join, &ordering, places[i].node);
    for (size_t i = 0; i < ordering.charges.call_count; i++) {
        const struct helper_call *call = &ordering.charges.calls[i];
        struct helper_node *nodes = join->helper_nodes.nodes, *helper = &nodes[call->call_id - 1];
        helper->serves = (uint32_t)(ordering.charges.pairs[call->pair].served.id - 1);
        helper->next_helper = nodes[helper->serves].first_helper;
        nodes[helper->serves].first_helper = (uint32_t)(call->call_id - 1);
    }
    graph->is_ordered = true;
    helper_charges_free(&ordering.charges);
    free(places);
}

/* ---- counting ---- */

static struct helper_pair pair_of(const struct operator_join *join, uint32_t index)
{
    const struct graph_node *nodes = join->replays.nodes;
    return (struct helper_pair){.shape_id = nodes[index].use.id,
                                .served = nodes[join->helper_nodes.nodes[index].serves].use};
}

/* Up to launch UNTIL of its graph. */
static void count_helper(struct operator_join *join, uint32_t index, uint64_t until)
{
    struct helper_node *node = &join->helper_nodes.nodes[index];
    if (until <= node->charged)
        return;
    if (node->serves != NONE) {
        struct helper_pair pair = pair_of(join, index);
        pair.replayed = until - node->charged;
        helper_charges_add_pair(&join->replays.helpers, &pair);
    }
    node->charged = until;
}

/* The capture for an update launched also what the update found unchanged, for whom it serves now. */
static void end_update(struct operator_join *join, struct helper_graph *graph)
{
    for (uint32_t i = graph->first; i != NONE && graph->update; i = join->helper_nodes.nodes[i].next) {
        struct helper_node *node = &join->helper_nodes.nodes[i];
        if (node->unchanged && node->serves != NONE && graph->is_captured) {
            struct helper_pair pair = pair_of(join, i);
            pair.captured = 1;
            helper_charges_add_pair(&join->replays.helpers, &pair);
        }
        node->unchanged = false;
    }
    graph->update = 0;
    graph->is_captured = false;
}

static void begin_update(struct operator_join *join, struct helper_graph *graph, uint64_t launches)
{
    if (graph->update == launches)
        return;
    end_update(join, graph);
    graph->update = launches;
    for (uint32_t i = graph->first; i != NONE; i = join->helper_nodes.nodes[i].next)
        join->helper_nodes.nodes[i].unchanged = join->helper_nodes.nodes[i].serves != NONE;
}

/* ---- records ---- */

static uint32_t index_of(const struct operator_join *join, const struct trace_graph_node *node)
{
    return index_map_find(&join->replays.node_map, node->graph_node_id, node->graph_id);
}

static struct helper_graph *graph_of(struct operator_join *join, uint32_t index)
{
    struct helper_nodes *all = &join->helper_nodes;
    while (all->graph_count <= index) {
        all->graphs = allocate_grow(all->graphs, all->graph_count, &all->graph_capacity, sizeof *all->graphs);
        all->graphs[all->graph_count++] = (struct helper_graph){.first = NONE};
    }
    return &all->graphs[index];
}

void helper_nodes_before(struct operator_join *join, const struct trace_graph_node *record)
{
    const uint32_t index = index_of(join, record);
    if (index == INDEX_MAP_NONE || record->launches <= join->replays.nodes[index].launches)
        return;
    struct helper_graph *graph = graph_of(join, join->replays.nodes[index].graph);
    if (!graph->is_ordered)
        find_served(join, graph);
    begin_update(join, graph, record->launches);
    count_helper(join, index, record->launches);
    for (uint32_t i = join->helper_nodes.nodes[index].first_helper; i != NONE;
         i = join->helper_nodes.nodes[i].next_helper)
        count_helper(join, i, record->launches);
    join->helper_nodes.nodes[index].unchanged = false; /* its call has a record, which tells that it was captured */
}

static void add_new(struct operator_join *join, const struct trace_graph_node *record, struct helper_graph *graph,
                    uint32_t index)
{
    struct helper_nodes *all = &join->helper_nodes;
    const struct graph_replay *replay = &join->replays.graphs[join->replays.nodes[index].graph];
    all->nodes = allocate_grow(all->nodes, all->count, &all->capacity, sizeof *all->nodes);
    all->nodes[all->count++] = (struct helper_node){
        .order = record->summed ? index : trace_call_without_copy(record->call_id),
        .serves = NONE,
        .first_helper = NONE,
        .next_helper = NONE,
        .next = graph->first,
        .charged = record->summed ? replay->launches : record->launches,
    };
    graph->first = index;
    graph->is_ordered = false;
}

void helper_nodes_after(struct operator_join *join, const struct trace_graph_node *record)
{
    const uint32_t index = index_of(join, record);
    if (index == INDEX_MAP_NONE)
        return;
    const struct graph_node *node = &join->replays.nodes[index];
    struct helper_graph *graph = graph_of(join, node->graph);
    if (index == join->helper_nodes.count) /* nodes come one by one */
        add_new(join, record, graph, index);
    graph->is_captured |= node->captured;
    if (graph->is_ordered && join->helper_nodes.nodes[index].is != what_is(join, node))
        graph->is_ordered = false;
    helper_charges_capture(&join->replays.helpers, node->call_id);
}

void helper_nodes_count(struct operator_join *join)
{
    struct helper_nodes *all = &join->helper_nodes;
    for (size_t g = 0; g < all->graph_count; g++) {
        struct helper_graph *graph = &all->graphs[g];
        if (!graph->is_ordered)
            find_served(join, graph);
        end_update(join, graph);
        for (uint32_t i = graph->first; i != NONE; i = all->nodes[i].next)
            if (!join->replays.nodes[i].retired)
                count_helper(join, i, join->replays.graphs[g].launches);
    }
    for (size_t i = 0; i < all->count; i++) /* of launches that were read after their nodes */
        helper_charges_capture(&join->replays.helpers, join->replays.nodes[i].call_id);
}

uint32_t *helper_nodes_order(const struct operator_join *join)
{
    const struct helper_nodes *all = &join->helper_nodes;
    uint32_t *indices = allocate(join->replays.node_count + 1, sizeof *indices);
    size_t written = 0, count;
    for (size_t g = 0; g < all->graph_count; g++) {
        struct place *places = places_of(all, &all->graphs[g], &count);
        for (size_t i = 0; i < count; i++)
            indices[written++] = places[i].node;
        free(places);
    }
    return indices;
}

void helper_nodes_free(struct helper_nodes *nodes)
{
    free(nodes->nodes);
    free(nodes->graphs);
    *nodes = (struct helper_nodes){0};
}
