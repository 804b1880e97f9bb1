/* SPDX-License-Identifier: Apache-2.0 */
/* Finds an element of an array by a pair of 64-bit keys. Grows with the number of different keys, never with that of
 * look-ups. */
#ifndef CLASSIFY_INDEX_MAP_H
#define CLASSIFY_INDEX_MAP_H

#include <stdint.h>

#define INDEX_MAP_NONE UINT32_MAX

struct index_map_cell;

struct index_map { /* zeroed: empty */
    struct index_map_cell *cells;
    uint32_t capacity, count;
};

/* The key's place for an index. A key that is new is entered, with INDEX_MAP_NONE there: the caller sets it. Valid until
 * the next call. */
uint32_t *index_map_at(struct index_map *map, uint64_t first, uint64_t second);

/* INDEX_MAP_NONE if the key is not there. */
uint32_t index_map_find(const struct index_map *map, uint64_t first, uint64_t second);

void index_map_free(struct index_map *map);

#endif
