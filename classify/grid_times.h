/* SPDX-License-Identifier: Apache-2.0 */
/* How long each owner's kernels of one name and grid took. Of several kernels that one call launches, such as a product and
 * the sum of its splits, or of two that a library chose for one shape, the one that took most of the time is what is judged. */
#ifndef CLASSIFY_GRID_TIMES_H
#define CLASSIFY_GRID_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/index_map.h"

struct grid_time {
    uint32_t owner; /* a number of the caller's */
    uint64_t name_id, blocks;
    uint64_t time_ns;
};

struct grid_times { /* zeroed: empty */
    struct grid_time *grids;
    size_t count, capacity;
    struct index_map map;
};

/* False: there are MOST grids, and this is a new one. */
bool grid_times_add(struct grid_times *times, uint32_t owner, uint64_t name_id, uint64_t blocks, uint64_t time_ns,
                    size_t most);

/* The longest of each owner, of two equal ones the wider, by owner's number below OWNERS; NULL: it has none. Freed with free(),
 * valid until the next grid is added. */
const struct grid_time **grid_times_longest(const struct grid_times *times, size_t owners);

void grid_times_free(struct grid_times *times);

#endif
