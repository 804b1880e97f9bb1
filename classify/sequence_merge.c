/* SPDX-License-Identifier: Apache-2.0 */
/* A call's record names no device. Where a process used several, a list is of those on which all of its calls were seen to
 * run, each with its part of the times. */
#include "classify/sequence_merge.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/kernel_families.h"
#include "classify/session_merge.h"

/* ---- kernels between ---- */

static enum kernel_family family_of(const struct session_merge *merge, uint64_t name_id)
{
    return name_id ? kernel_family_of_name(name_pool_find(&merge->names, name_id)) : KERNEL_FAMILY_UNKNOWN;
}

/* ---- which device ---- */

static uint64_t executions_on(const struct operator_join *join, uint32_t signature, size_t device)
{
    const struct joined_kernels *row = operator_join_find_row(
        join, join->devices[device].ordinal, (struct graph_use){USE_CALL, join->signatures[signature].id});
    return row ? row->executions : 0;
}

static uint64_t least_executions_on(const struct operator_join *join, const uint32_t *calls, uint32_t count,
                                    size_t device)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t here = executions_on(join, calls[i], device);
        if (here < least)
            least = here;
    }
    return least;
}

typedef void place_list(struct session_merge *merge, struct operator_join *join, const void *list, int device,
                        uint64_t times);

/* Calls PLACE for each device with its part of TIMES. */
static void place_on_devices(struct session_merge *merge, struct operator_join *join, const uint32_t *calls,
                             uint32_t count, uint64_t times, int only_device, const int *device_of, place_list *place,
                             const void *list)
{
    double all = 0;
    uint64_t left = times;
    for (size_t d = 0; only_device == SESSION_DEVICE_UNKNOWN && d < join->device_count; d++)
        all += (double)least_executions_on(join, calls, count, d);
    for (size_t d = 0; all > 0 && d < join->device_count; d++) {
        double here = (double)least_executions_on(join, calls, count, d) / all * (double)times + 0.5;
        uint64_t part = here < (double)left ? (uint64_t)here : left;
        if (part)
            place(merge, join, list, device_of[d], part);
        left -= part;
    }
    if (left && !(all > 0))
        place(merge, join, list, only_device, left);
}

/* ---- siblings ---- */

static void place_siblings(struct session_merge *merge, struct operator_join *join, const void *list, int device,
                           uint64_t times)
{
    const struct sequence_siblings *siblings = list;
    struct sequence_merge *to = &merge->sequences;
    struct merged_siblings merged = {.device = device, .count = siblings->count};
    for (uint32_t i = 0; i < siblings->count; i++)
        merged.operators[i] =
            session_merge_operator_of_call(merge, join, &join->signatures[siblings->calls[i]], device);
    uint64_t key = trace_hash(merged.operators, (uint32_t)sizeof merged.operators);
    uint32_t *index = index_map_at(&to->sibling_map, key, siblings->count);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)to->sibling_count;
        to->siblings = allocate_grow(to->siblings, to->sibling_count, &to->sibling_capacity, sizeof *to->siblings);
        to->siblings[to->sibling_count++] = merged;
    }
    sum_add(&to->siblings[*index].times, times);
}

/* What works on the output of one sibling while the next is asked for. Any other kernel, and one of which nothing is known,
 * may have written anew what the second call reads, at the address that the first read: an allocator hands a freed
 * activation out again. */
static const bool may_stand_between[KERNEL_FAMILY_COUNT] = {
    [KERNEL_FAMILY_ACTIVATION] = true, [KERNEL_FAMILY_ELEMENTWISE] = true, [KERNEL_FAMILY_ROPE] = true,
    [KERNEL_FAMILY_CACHE] = true,      [KERNEL_FAMILY_COPY] = true,        [KERNEL_FAMILY_FILL] = true,
};

static bool are_parted(const struct session_merge *merge, const uint64_t launched[SEQUENCE_GAP_LAUNCHES])
{
    for (int i = 0; i < SEQUENCE_GAP_LAUNCHES; i++)
        if (launched[i] && !may_stand_between[family_of(merge, launched[i])])
            return true;
    return false;
}

static void merge_siblings(struct session_merge *merge, struct operator_join *join,
                           const struct sequence_siblings *siblings, int only_device, const int *device_of)
{
    uint32_t begin = 0;
    for (uint32_t end = 1; end <= siblings->count; end++) {
        if (end < siblings->count && !are_parted(merge, siblings->launched[end]))
            continue;
        struct sequence_siblings part = {.count = end - begin};
        memcpy(part.calls, siblings->calls + begin, part.count * sizeof part.calls[0]);
        if (part.count > 1)
            place_on_devices(merge, join, part.calls, part.count, siblings->times, only_device, device_of,
                             place_siblings, &part);
        begin = end;
    }
}

/* ---- attention ---- */

struct placed_attention {
    uint32_t calls[2];
    bool softmax_seen;
};

static void place_attention(struct session_merge *merge, struct operator_join *join, const void *list, int device,
                            uint64_t times)
{
    const struct placed_attention *placed = list;
    struct sequence_merge *to = &merge->sequences;
    struct merged_attention merged = {
        .device = device,
        .scores = session_merge_operator_of_call(merge, join, &join->signatures[placed->calls[0]], device),
        .output = session_merge_operator_of_call(merge, join, &join->signatures[placed->calls[1]], device),
    };
    uint32_t *index = index_map_at(&to->attention_map, merged.scores, merged.output);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)to->attention_count;
        to->attention =
            allocate_grow(to->attention, to->attention_count, &to->attention_capacity, sizeof *to->attention);
        to->attention[to->attention_count++] = merged;
    }
    to->attention[*index].softmax_seen |= placed->softmax_seen;
    sum_add(&to->attention[*index].times, times);
}

/* Shapes alone would take any chain of products for attention: the softmax must have been launched between, or the second
 * read where the first wrote. */
static void merge_attention(struct session_merge *merge, struct operator_join *join,
                            const struct sequence_attention *attention, int only_device, const int *device_of)
{
    struct placed_attention placed = {.calls = {attention->scores, attention->output}};
    for (int i = 0; i < SEQUENCE_SOFTMAX_LAUNCHES; i++)
        placed.softmax_seen |= family_of(merge, attention->launched[i]) == KERNEL_FAMILY_SOFTMAX;
    if (placed.softmax_seen || attention->scores_read)
        place_on_devices(merge, join, placed.calls, 2, attention->times, only_device, device_of, place_attention,
                         &placed);
}

/* ---- orders of products ---- */

/* The only device that the call or launch ran on; SESSION_DEVICE_UNKNOWN: on several, or nothing is known. */
static int device_of_use(const struct operator_join *join, struct graph_use use, int only_device, const int *device_of)
{
    int found = only_device;
    size_t devices = 0;
    for (size_t d = 0; only_device == SESSION_DEVICE_UNKNOWN && d < join->device_count; d++)
        if (operator_join_find_row(join, join->devices[d].ordinal, use)) {
            found = device_of[d];
            devices++;
        }
    return devices > 1 ? SESSION_DEVICE_UNKNOWN : found;
}

static struct graph_use use_of_number(const struct operator_join *join, uint32_t number)
{
    const bool launch = number & 1;
    const uint32_t row = number >> 1;
    if (!launch)
        return (struct graph_use){USE_CALL, join->signatures[row].id};
    const struct joined_launches *launches = &join->launches[row];
    return launches->name_id && launches->shape_id ? (struct graph_use){USE_SHAPE, launches->shape_id}
                                                   : (struct graph_use){USE_NAME, launches->name_id};
}

static void merge_order(struct session_merge *merge, struct operator_join *join, const struct step_order *order,
                        int only_device, const int *device_of)
{
    struct sequence_merge *to = &merge->sequences;
    struct merged_order merged = {.operators = allocate(order->count, sizeof *merged.operators), .times = order->times};
    for (size_t i = 0; i < order->count; i++) {
        const struct graph_use use = use_of_number(join, order->numbers[i]);
        const uint64_t name_id = order->numbers[i] & 1 ? join->launches[order->numbers[i] >> 1].name_id : 0;
        const int device = device_of_use(join, use, only_device, device_of);
        const struct operator_row *op =
            device == SESSION_DEVICE_UNKNOWN ? NULL : session_merge_operator_of_use(merge, join, use, name_id, device);
        if (!op) /* a shape that several devices multiplied: whose order it is can't be told */
            break;
        merged.operators[merged.count++] = op->merged_at;
    }
    if (merged.count < order->count) {
        free(merged.operators);
        return;
    }
    to->orders = allocate_grow(to->orders, to->order_count, &to->order_capacity, sizeof *to->orders);
    to->orders[to->order_count++] = merged;
}

void sequence_merge_add(struct session_merge *merge, struct operator_join *join, int only_device, const int *device_of)
{
    const struct call_sequence *sequence = &join->sequence;
    struct session *session = merge->session;
    for (size_t i = 0; i < sequence->sibling_count; i++)
        merge_siblings(merge, join, &sequence->siblings[i], only_device, device_of);
    for (size_t i = 0; i < sequence->attention_count; i++)
        merge_attention(merge, join, &sequence->attention[i], only_device, device_of);
    for (size_t i = 0; i < sequence->steps.order_count; i++)
        merge_order(merge, join, &sequence->steps.orders[i], only_device, device_of);
    for (int p = 0; p < PHASE_COUNT; p++) {
        sum_add(&session->phases[p].steps, sequence->steps.steps[p]);
        session->phases[p].rows_per_step += sequence->steps.rows[p]; /* a sum until phases_find() */
    }
    sum_add(&session->coverage.sequences_dropped, sequence->dropped);
    sum_add(&session->coverage.sequences_dropped, sequence->steps.dropped);
}

/* ---- the session ---- */

#define NOWHERE SIZE_MAX /* a row without anything, dropped since */

static void finish_orders(struct sequence_merge *merge, struct session *session, const size_t *now_at,
                          size_t merged_count)
{
    session->product_orders = allocate(merge->order_count, sizeof *session->product_orders);
    for (size_t i = 0; i < merge->order_count; i++) {
        const struct merged_order *from = &merge->orders[i];
        struct product_order to = {.operators = allocate(from->count, sizeof *to.operators), .times = from->times};
        for (; to.count < from->count; to.count++) {
            const size_t merged_at = from->operators[to.count];
            to.operators[to.count] = merged_at < merged_count ? now_at[merged_at] : NOWHERE;
            if (to.operators[to.count] == NOWHERE)
                break;
        }
        if (to.count == from->count)
            session->product_orders[session->product_order_count++] = to;
        else
            free(to.operators);
    }
}

void sequence_merge_finish(struct sequence_merge *merge, struct session *session)
{
    size_t merged_count = 0;
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].merged_at >= merged_count)
            merged_count = session->operators[i].merged_at + 1;
    size_t *now_at = allocate(merged_count, sizeof *now_at);
    for (size_t i = 0; i < merged_count; i++)
        now_at[i] = NOWHERE;
    for (size_t i = 0; i < session->operator_count; i++)
        now_at[session->operators[i].merged_at] = i;

    session->sibling_groups = allocate(merge->sibling_count, sizeof *session->sibling_groups);
    for (size_t i = 0; i < merge->sibling_count; i++) {
        const struct merged_siblings *from = &merge->siblings[i];
        struct sibling_group to = {.device = from->device, .count = from->count, .times = from->times};
        bool whole = true;
        for (size_t j = 0; j < from->count; j++) {
            to.operators[j] = from->operators[j] < merged_count ? now_at[from->operators[j]] : NOWHERE;
            whole &= to.operators[j] != NOWHERE;
        }
        if (whole)
            session->sibling_groups[session->sibling_group_count++] = to;
    }
    session->naive_attention = allocate(merge->attention_count, sizeof *session->naive_attention);
    for (size_t i = 0; i < merge->attention_count; i++) {
        const struct merged_attention *from = &merge->attention[i];
        struct naive_attention to = {
            .device = from->device,
            .scores = from->scores < merged_count ? now_at[from->scores] : NOWHERE,
            .output = from->output < merged_count ? now_at[from->output] : NOWHERE,
            .times = from->times,
            .softmax_seen = from->softmax_seen,
        };
        if (to.scores != NOWHERE && to.output != NOWHERE)
            session->naive_attention[session->naive_attention_count++] = to;
    }
    finish_orders(merge, session, now_at, merged_count);
    free(now_at);
}

void sequence_merge_free(struct sequence_merge *merge)
{
    free(merge->siblings);
    free(merge->attention);
    for (size_t i = 0; i < merge->order_count; i++)
        free(merge->orders[i].operators);
    free(merge->orders);
    index_map_free(&merge->sibling_map);
    index_map_free(&merge->attention_map);
    *merge = (struct sequence_merge){0};
}
