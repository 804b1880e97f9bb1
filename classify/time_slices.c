/* SPDX-License-Identifier: Apache-2.0 */
/* Slices begin at multiples of their length, so two of them make exactly one of twice the length. */
#include "classify/time_slices.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"

static void add(struct trace_slice *into, const struct trace_slice *more)
{
    sum_add(&into->all, more->all);
    sum_add(&into->timed, more->timed);
    sum_add(&into->time_ns, more->time_ns);
}

void time_slices_coarsen(struct time_slices *slices, uint32_t shift)
{
    if (!slices->count || shift <= slices->shift || shift > 63)
        return;
    const uint32_t by = shift - slices->shift;
    const uint64_t first = slices->first >> by;
    uint32_t count = 0;
    for (uint32_t i = 0; i < slices->count; i++) {
        const uint32_t at = (uint32_t)(((slices->first + i) >> by) - first);
        const struct trace_slice one = slices->slices[i];
        if (at == i)
            count = i + 1;
        else if (at == count) {
            slices->slices[count++] = one;
        } else
            add(&slices->slices[at], &one);
    }
    memset(slices->slices + count, 0, (slices->room - count) * sizeof slices->slices[0]);
    slices->first = first;
    slices->count = count;
    slices->shift = shift;
}

static void grow_to(struct time_slices *slices, uint32_t count)
{
    uint32_t room = slices->room ? slices->room : 1;
    while (room < count)
        room *= 2;
    if (room == slices->room)
        return;
    struct trace_slice *larger = allocate(room, sizeof larger[0]);
    if (slices->slices)
        memcpy(larger, slices->slices, slices->count * sizeof larger[0]);
    free(slices->slices);
    slices->slices = larger;
    slices->room = room;
}

/* The slice of NS, made if it is new. */
static struct trace_slice *slice_at(struct time_slices *slices, uint64_t ns)
{
    if (!slices->count) {
        slices->shift = slices->shift ? slices->shift : TIME_SLICES_SHIFT_LEAST;
        slices->first = ns >> slices->shift;
        slices->count = 1;
    }
    for (;;) {
        const uint64_t at = ns >> slices->shift, last = slices->first + slices->count - 1;
        const uint64_t low = at < slices->first ? at : slices->first, high = at > last ? at : last;
        if (high - low >= TRACE_SLICES_MOST) {
            time_slices_coarsen(slices, slices->shift + 1);
            continue;
        }
        grow_to(slices, (uint32_t)(high - low) + 1);
        if (low < slices->first) {
            const uint32_t by = (uint32_t)(slices->first - low);
            memmove(slices->slices + by, slices->slices, slices->count * sizeof slices->slices[0]);
            memset(slices->slices, 0, by * sizeof slices->slices[0]);
            slices->first = low;
        }
        slices->count = (uint32_t)(high - low) + 1;
        return &slices->slices[at - slices->first];
    }
}

void time_slices_add(struct time_slices *slices, uint64_t ns, struct trace_slice what)
{
    if (ns)
        add(slice_at(slices, ns), &what);
}

/* Room for all between comes first, so that the length does not change on the way. */
static void make_room(struct time_slices *slices, uint64_t from_ns, uint64_t to_ns)
{
    slice_at(slices, from_ns);
    slice_at(slices, to_ns);
}

void time_slices_spread(struct time_slices *slices, uint64_t from_ns, uint64_t to_ns, uint64_t all)
{
    if (!to_ns || !all)
        return;
    if (!from_ns || from_ns > to_ns)
        from_ns = to_ns;
    make_room(slices, from_ns, to_ns);
    const uint64_t first = from_ns >> slices->shift, last = to_ns >> slices->shift;
    uint64_t given = 0;
    for (uint64_t at = first; at <= last; at++) {
        const uint64_t end_ns = at == last ? to_ns : ((at + 1) << slices->shift);
        const double part = to_ns > from_ns ? (double)(end_ns - from_ns) / (double)(to_ns - from_ns) : 1;
        uint64_t until = at == last ? all : (uint64_t)(part * (double)all);
        if (until > all)
            until = all;
        if (until > given) {
            add(&slices->slices[at - slices->first], &(struct trace_slice){.all = until - given});
            given = until;
        }
    }
}

void time_slices_cover(struct time_slices *slices, uint64_t from_ns, uint64_t to_ns)
{
    if (!from_ns || from_ns >= to_ns)
        return;
    make_room(slices, from_ns, to_ns);
    const uint64_t last = to_ns >> slices->shift;
    for (uint64_t at = from_ns >> slices->shift; at <= last; at++) {
        const uint64_t end_ns = at == last ? to_ns : ((at + 1) << slices->shift);
        add(&slices->slices[at - slices->first], &(struct trace_slice){.time_ns = end_ns - from_ns});
        from_ns = end_ns;
    }
}

void time_slices_add_all(struct time_slices *into, const struct time_slices *more)
{
    if (!more->count)
        return;
    if (into->count)
        time_slices_coarsen(into, more->shift);
    else
        into->shift = more->shift;
    for (uint32_t i = 0; i < more->count; i++)
        add(slice_at(into, (more->first + i) << more->shift), &more->slices[i]);
}

static uint64_t part_of(uint64_t number, uint64_t part, uint64_t whole)
{
    return part == whole ? number : (uint64_t)((double)number * ((double)part / (double)whole));
}

/* What of ALL is lost in rounding goes to the slice with the most. */
void time_slices_add_part(struct time_slices *into, const struct time_slices *more, uint64_t part, uint64_t whole)
{
    struct time_slices scaled = {0};
    uint64_t all = 0;
    uint32_t most = 0;
    if (!whole || !part || !more->count)
        return;
    part = part > whole ? whole : part;
    scaled.slices = allocate(more->count, sizeof scaled.slices[0]);
    scaled.room = more->count;
    scaled.first = more->first;
    scaled.count = more->count;
    scaled.shift = more->shift;
    for (uint32_t i = 0; i < more->count; i++) {
        const struct trace_slice *from = &more->slices[i];
        scaled.slices[i] = (struct trace_slice){part_of(from->all, part, whole), part_of(from->timed, part, whole),
                                                part_of(from->time_ns, part, whole)};
        sum_add(&all, scaled.slices[i].all);
        if (scaled.slices[i].all > scaled.slices[most].all)
            most = i;
    }
    const uint64_t wanted = part_of(time_slices_sum(more).all, part, whole);
    if (wanted > all)
        sum_add(&scaled.slices[most].all, wanted - all);
    time_slices_add_all(into, &scaled);
    time_slices_free(&scaled);
}

struct trace_slice time_slices_sum(const struct time_slices *slices)
{
    struct trace_slice sum = {0};
    for (uint32_t i = 0; i < slices->count; i++)
        add(&sum, &slices->slices[i]);
    return sum;
}

void time_slices_free(struct time_slices *slices)
{
    free(slices->slices);
    *slices = (struct time_slices){0};
}
