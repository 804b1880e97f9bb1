/* SPDX-License-Identifier: Apache-2.0 */
/* A call that a stream captured has a record like any other. Graphs that hold it tell: what they hold did not run when it
 * was called. */
#include "classify/execution_book.h"

#include <stdlib.h>

#include "classify/allocate.h"

static struct execution_count *count_at(struct execution_book *book, struct graph_use use)
{
    uint32_t *index = index_map_at(&book->map, use.id, use.of);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)book->count;
        book->counts = allocate_grow(book->counts, book->count, &book->capacity, sizeof *book->counts);
        book->counts[book->count++] = (struct execution_count){.use = use};
    }
    return &book->counts[*index];
}

const struct execution_count *execution_book_find(const struct execution_book *book, struct graph_use use)
{
    const uint32_t index = index_map_find(&book->map, use.id, use.of);
    return index == INDEX_MAP_NONE ? NULL : &book->counts[index];
}

/* At most LEFT of them, from slice FROM on backwards, then forwards. Returns what could not be taken. */
static uint64_t take(struct time_slices *slices, int64_t from, uint64_t left)
{
    if (from >= (int64_t)slices->count)
        from = (int64_t)slices->count - 1;
    for (int64_t step = 0; step < 2 * (int64_t)slices->count && left; step++) {
        const int64_t at = step <= from ? from - step : step;
        if (at < 0 || at >= (int64_t)slices->count)
            continue;
        uint64_t *all = &slices->slices[at].all;
        const uint64_t here = *all < left ? *all : left;
        *all -= here;
        left -= here;
    }
    return left;
}

/* The captured calls leave the slices in which they were made, or the nearest ones before. */
static void take_captured(struct execution_count *count, const struct time_slices *replays)
{
    for (uint32_t i = 0; i < replays->count; i++) {
        const uint64_t captured = replays->slices[i].timed;
        if (!captured || !count->slices.count)
            continue;
        const uint64_t end_ns = ((replays->first + i) << replays->shift) + ((1ull << replays->shift) - 1);
        take(&count->slices, (int64_t)(end_ns >> count->slices.shift) - (int64_t)count->slices.first, captured);
    }
}

static void add_replays(struct execution_book *book, const struct replay_count *replays)
{
    struct execution_count *count = count_at(book, replays->use);
    const struct trace_slice sum = time_slices_sum(&replays->slices);
    struct time_slices executed = {0};
    take_captured(count, &replays->slices);
    count->executions -= sum.timed < count->executions ? sum.timed : count->executions;
    sum_add(&count->executions, sum.all);
    time_slices_add_part(&executed, &replays->slices, 1, 1);
    for (uint32_t i = 0; i < executed.count; i++)
        executed.slices[i].timed = 0;
    time_slices_add_all(&count->slices, &executed);
    time_slices_free(&executed);
}

struct execution_book execution_book_of(const struct operator_join *join)
{
    struct execution_book book = {0};
    for (size_t i = 0; i < join->signature_count; i++) {
        const struct joined_signature *signature = &join->signatures[i];
        struct execution_count *count = count_at(&book, (struct graph_use){USE_CALL, signature->id});
        sum_add(&count->executions, signature->calls);
        time_slices_add_all(&count->slices, &signature->slices);
    }
    for (size_t i = 0; i < join->launch_share_count; i++) {
        const struct launch_share *share = &join->launch_shares[i];
        const struct joined_launches *launches = &join->launches[share->row];
        struct execution_count *count = count_at(&book, launch_share_use(join, share));
        sum_add(&count->executions, share->launches);
        time_slices_add_part(&count->slices, &launches->slices, share->launches, launches->launches);
    }
    for (size_t i = 0; i < join->replays.count_count; i++)
        add_replays(&book, &join->replays.counts[i]);
    return book;
}

void execution_book_free(struct execution_book *book)
{
    for (size_t i = 0; i < book->count; i++)
        time_slices_free(&book->counts[i].slices);
    free(book->counts);
    index_map_free(&book->map);
    *book = (struct execution_book){0};
}
