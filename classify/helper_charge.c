/* SPDX-License-Identifier: Apache-2.0 */
/* State by thread and stream, as in call_sequence.c: calls of two threads on one stream have no order here. Which operator
 * a launch serves may be known only when the next one comes, so launches wait for it. */
#include "classify/helper_charge.h"

#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/number_type.h"
#include "classify/operator_join.h"

struct waiting_helper {
    uint64_t shape_id, call_id;
    bool serves[HELPER_SERVED_COUNT]; /* whichever comes first */
};

struct helper_stream {
    uint64_t block_sequence; /* of the block that the last record came from */
    struct {
        bool known;
        struct graph_use use;
    } last[HELPER_SERVED_COUNT];
    bool narrow; /* the last matmul's output has 16 bits a number, and no helper took it yet */
    struct waiting_helper waiting[HELPERS_WAITING];
    uint32_t waiting_count;
};

/* ---- pairs ---- */

static uint32_t pair_at(struct helper_charges *charges, uint64_t shape_id, struct graph_use served)
{
    const uint64_t ids[] = {shape_id, served.id};
    const uint64_t key = trace_hash(ids, (uint32_t)sizeof ids);
    if (charges->pair_count >= HELPER_PAIRS_MOST &&
        index_map_find(&charges->pair_map, key, served.of) == INDEX_MAP_NONE)
        return HELPER_NO_PAIR;
    uint32_t *index = index_map_at(&charges->pair_map, key, served.of);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)charges->pair_count;
        charges->pairs =
            allocate_grow(charges->pairs, charges->pair_count, &charges->pair_capacity, sizeof *charges->pairs);
        uint32_t *first = index_map_at(&charges->shape_map, shape_id, 0); /* HELPER_NO_PAIR, too, where it is new */
        charges->pairs[charges->pair_count] =
            (struct helper_pair){.shape_id = shape_id, .served = served, .next = *first};
        *first = (uint32_t)charges->pair_count++;
    }
    return *index;
}

const struct helper_pair *helper_charges_of_shape(const struct helper_charges *charges, uint64_t shape_id)
{
    const uint32_t first = index_map_find(&charges->shape_map, shape_id, 0);
    return first == HELPER_NO_PAIR ? NULL : &charges->pairs[first];
}

const struct helper_pair *helper_charges_next(const struct helper_charges *charges, const struct helper_pair *pair)
{
    return pair->next == HELPER_NO_PAIR ? NULL : &charges->pairs[pair->next];
}

_Static_assert(HELPER_NO_PAIR == INDEX_MAP_NONE, "a shape's first pair is followed by none");

void helper_charges_add_pair(struct helper_charges *charges, const struct helper_pair *pair)
{
    const uint32_t index = pair_at(charges, pair->shape_id, pair->served);
    if (index == HELPER_NO_PAIR)
        return;
    sum_add(&charges->pairs[index].launches, pair->launches);
    sum_add(&charges->pairs[index].captured, pair->captured);
    sum_add(&charges->pairs[index].replayed, pair->replayed);
}

uint64_t helper_pair_executions(const struct helper_pair *pair)
{
    uint64_t executions = pair->launches > pair->captured ? pair->launches - pair->captured : 0;
    sum_add(&executions, pair->replayed);
    return executions;
}

/* ---- calls that graphs may hold ---- */

/* The later half is kept: what was launched long ago is in a graph by now, or will be in none. */
static void forget_calls(struct helper_charges *charges)
{
    const size_t kept = charges->call_count / 2;
    for (size_t i = 0; i < kept; i++)
        charges->calls[i] = charges->calls[charges->call_count - kept + i];
    charges->call_count = kept;
    index_map_free(&charges->call_map);
    charges->call_map = (struct index_map){0};
    for (size_t i = 0; i < kept; i++)
        *index_map_at(&charges->call_map, charges->calls[i].call_id, 0) = (uint32_t)i;
}

static void remember_call(struct helper_charges *charges, uint64_t call_id, uint32_t pair)
{
    if (!call_id || pair == HELPER_NO_PAIR)
        return;
    if (charges->call_count == HELPER_CALLS_MOST)
        forget_calls(charges);
    uint32_t *index = index_map_at(&charges->call_map, call_id, 0);
    if (*index != INDEX_MAP_NONE)
        return;
    *index = (uint32_t)charges->call_count;
    charges->calls =
        allocate_grow(charges->calls, charges->call_count, &charges->call_capacity, sizeof *charges->calls);
    charges->calls[charges->call_count++] = (struct helper_call){.call_id = call_id, .pair = pair};
}

void helper_charges_capture(struct helper_charges *charges, uint64_t call_id)
{
    const uint32_t index = index_map_find(&charges->call_map, trace_call_without_copy(call_id), 0);
    if (!call_id || index == INDEX_MAP_NONE)
        return;
    struct helper_call *call = &charges->calls[index];
    sum_add(&charges->pairs[call->pair].captured, !call->captured);
    call->captured = true;
}

/* ---- the order ---- */

static struct helper_stream *stream_of(struct helper_charges *charges, const struct helper_event *event)
{
    uint32_t found = index_map_find(&charges->stream_map, event->block->tid, event->stream);
    if (found == INDEX_MAP_NONE) {
        if (charges->stream_count == HELPER_STREAMS_MOST)
            return NULL;
        found = (uint32_t)charges->stream_count;
        charges->streams =
            allocate_grow(charges->streams, charges->stream_count, &charges->stream_capacity, sizeof *charges->streams);
        charges->streams[charges->stream_count++] = (struct helper_stream){0};
        *index_map_at(&charges->stream_map, event->block->tid, event->stream) = found;
    }
    struct helper_stream *stream = &charges->streams[found];
    if (event->block->sequence < stream->block_sequence) /* what is read now does not follow what was read before */
        *stream = (struct helper_stream){0};
    stream->block_sequence = event->block->sequence;
    return stream;
}

static void charge(struct helper_charges *charges, const struct waiting_helper *helper, struct graph_use served)
{
    const uint32_t pair = pair_at(charges, helper->shape_id, served);
    if (pair == HELPER_NO_PAIR)
        return;
    sum_add(&charges->pairs[pair].launches, 1);
    remember_call(charges, helper->call_id, pair);
}

static void serve(struct helper_charges *charges, struct helper_stream *stream, enum helper_served served,
                  const struct helper_event *event)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < stream->waiting_count; i++) {
        const struct waiting_helper *helper = &stream->waiting[i];
        if (!helper->serves[served])
            stream->waiting[left++] = *helper;
        else if (event->read)
            charge(charges, helper, event->use);
    }
    stream->waiting_count = left;
    stream->last[served].known = event->read;
    stream->last[served].use = event->use;
    if (served == HELPER_SERVES_MATMUL)
        stream->narrow = event->narrow;
}

static void wait_for_next(struct helper_stream *stream, const struct waiting_helper *helper)
{
    uint32_t *count = &stream->waiting_count;
    if (*count == HELPERS_WAITING) { /* the oldest of so many is of something that was not seen */
        for (uint32_t i = 1; i < *count; i++)
            stream->waiting[i - 1] = stream->waiting[i];
        --*count;
    }
    stream->waiting[(*count)++] = *helper;
}

static void add_helper(struct helper_charges *charges, struct helper_stream *stream, const struct helper_event *event)
{
    const bool output = event->helper == LAUNCH_SERVES_LAST_OUTPUT && stream->narrow;
    const enum launch_serves serves = output                                       ? LAUNCH_SERVES_LAST_MATMUL
                                      : event->helper == LAUNCH_SERVES_LAST_OUTPUT ? LAUNCH_SERVES_NEXT
                                                                                   : event->helper;
    const struct waiting_helper helper = {
        .shape_id = event->use.id,
        .call_id = event->call_id,
        .serves = {serves == LAUNCH_SERVES_NEXT_MATMUL || serves == LAUNCH_SERVES_NEXT,
                   serves == LAUNCH_SERVES_NEXT_ATTENTION || serves == LAUNCH_SERVES_NEXT},
    };
    const enum helper_served last =
        serves == LAUNCH_SERVES_LAST_ATTENTION ? HELPER_SERVES_ATTENTION : HELPER_SERVES_MATMUL;
    if (helper.serves[HELPER_SERVES_MATMUL] || helper.serves[HELPER_SERVES_ATTENTION])
        wait_for_next(stream, &helper);
    else if (stream->last[last].known)
        charge(charges, &helper, stream->last[last].use);
    stream->narrow &= !output;
}

void helper_charges_add(struct helper_charges *charges, const struct helper_event *event)
{
    const bool any = event->helper || event->served[HELPER_SERVES_MATMUL] || event->served[HELPER_SERVES_ATTENTION];
    struct helper_stream *stream = any ? stream_of(charges, event) : NULL;
    if (!stream)
        return;
    for (int served = 0; served < HELPER_SERVED_COUNT; served++)
        if (event->served[served])
            serve(charges, stream, (enum helper_served)served, event);
    if (event->helper)
        add_helper(charges, stream, event);
}

bool helper_charge_is_narrow(const struct trace_signature *call)
{
    return number_format(call->type[3]).bits == 16;
}

void helper_charges_free(struct helper_charges *charges)
{
    free(charges->pairs);
    free(charges->streams);
    free(charges->calls);
    index_map_free(&charges->pair_map);
    index_map_free(&charges->shape_map);
    index_map_free(&charges->stream_map);
    index_map_free(&charges->call_map);
    *charges = (struct helper_charges){0};
}
