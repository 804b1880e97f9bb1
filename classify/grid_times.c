/* SPDX-License-Identifier: Apache-2.0 */
/* A list of grids, and a map from owner, name and blocks to their place in it. */
#include "classify/grid_times.h"

#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"

bool grid_times_add(struct grid_times *times, uint32_t owner, uint64_t name_id, uint64_t blocks, uint64_t time_ns,
                    size_t most)
{
    uint64_t what[2] = {name_id, blocks}, key = trace_hash(what, (uint32_t)sizeof what);
    if (times->count >= most && index_map_find(&times->map, key, owner) == INDEX_MAP_NONE)
        return false;
    uint32_t *index = index_map_at(&times->map, key, owner);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)times->count;
        times->grids = allocate_grow(times->grids, times->count, &times->capacity, sizeof *times->grids);
        times->grids[times->count++] = (struct grid_time){owner, name_id, blocks, 0};
    }
    sum_add(&times->grids[*index].time_ns, time_ns);
    return true;
}

const struct grid_time **grid_times_longest(const struct grid_times *times, size_t owners)
{
    const struct grid_time **longest = allocate(owners, sizeof *longest);
    for (size_t i = 0; i < times->count; i++) {
        const struct grid_time *grid = &times->grids[i], **best = &longest[grid->owner];
        if (!*best || grid->time_ns > (*best)->time_ns ||
            (grid->time_ns == (*best)->time_ns && grid->blocks > (*best)->blocks))
            *best = grid;
    }
    return longest;
}

void grid_times_free(struct grid_times *times)
{
    free(times->grids);
    index_map_free(&times->map);
    *times = (struct grid_times){0};
}
