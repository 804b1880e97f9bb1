/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of calls rise along a thread, so those of a graph's nodes tell the order of its capture. Not on which of several
 * streams each was: their launches are taken for those of one. */
#include "classify/helper_nodes.h"

#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/launch_operators.h"

static int by_call(const void *left, const void *right)
{
    const struct graph_node *a = *(const struct graph_node *const *)left, *b = *(const struct graph_node *const *)right;
    const uint64_t x = trace_call_without_copy(a->call_id), y = trace_call_without_copy(b->call_id);
    return a->graph != b->graph ? (a->graph > b->graph) - (a->graph < b->graph) : (x > y) - (x < y);
}

/* Live ones by graph and call; to be freed. */
static const struct graph_node *const *sorted_nodes(const struct graph_replays *replays, size_t *count)
{
    const struct graph_node **nodes = allocate(replays->node_count + 1, sizeof *nodes);
    *count = 0;
    for (size_t i = 0; i < replays->node_count; i++)
        if (!replays->nodes[i].retired && replays->nodes[i].call_id)
            nodes[(*count)++] = &replays->nodes[i];
    qsort(nodes, *count, sizeof *nodes, by_call);
    return nodes;
}

static bool is_lost_helper(struct operator_join *join, const struct graph_node *node)
{
    return launch_operators_is_helper(join, node->use) && !helper_charges_call(&join->replays.helpers, node->call_id);
}

/* NULL: it is none. */
static const struct trace_signature *product_call(const struct operator_join *join, struct graph_use use)
{
    const uint32_t index = use.of == USE_CALL ? index_map_find(&join->signature_map, use.id, 0) : INDEX_MAP_NONE;
    const struct trace_signature *call = index == INDEX_MAP_NONE ? NULL : &join->signatures[index].content;
    return call && (call->kind == TRACE_CALL_GEMM || call->kind == TRACE_CALL_GEMV) ? call : NULL;
}

static void add_node(struct operator_join *join, const struct graph_node *node)
{
    const struct trace_block_header block = {.sequence = 1}; /* of no thread: each graph is a stream of its own */
    const struct launch_decode *decode =
        node->use.of == USE_SHAPE ? launch_shapes_decode_last(&join->launch_shapes, node->use.id) : NULL;
    const struct trace_signature *call = product_call(join, node->use);
    const bool read = decode && decode->reading == LAUNCH_READ;
    const enum kernel_kind named = read || node->use.of == USE_CALL
                                       ? KERNEL_OTHER
                                       : kernel_kind_of_name(name_pool_find(join->names, node->name_id));
    const bool product = read ? decode->kind == LAUNCH_MATMUL : call || named == KERNEL_GEMM || named == KERNEL_GEMV;
    helper_charges_add(&join->replays.helpers,
                       &(struct helper_event){
                           .block = &block,
                           .stream = node->graph,
                           .call_id = trace_call_without_copy(node->call_id),
                           .served = {product, read ? decode->kind == LAUNCH_ATTENTION : named == KERNEL_ATTENTION},
                           .read = read || call,
                           .narrow = call && helper_charge_is_narrow(call),
                           .use = node->use,
                           .helper = is_lost_helper(join, node) ? decode->serves : LAUNCH_SERVES_NONE,
                       });
}

void helper_nodes_charge(struct operator_join *join)
{
    const struct graph_replays *replays = &join->replays;
    bool any = false;
    size_t count;
    for (size_t i = 0; i < replays->node_count && !any; i++)
        any = !replays->nodes[i].retired && replays->nodes[i].call_id && is_lost_helper(join, &replays->nodes[i]);
    if (!any)
        return;
    const struct graph_node *const *nodes = sorted_nodes(replays, &count);
    for (size_t i = 0; i < count; i++)
        add_node(join, nodes[i]);
    free((void *)nodes);
}
