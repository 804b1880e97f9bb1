/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, at most half full. */
#include "classify/index_map.h"

#include <stdbool.h>
#include <stdlib.h>

#include "classify/allocate.h"

struct index_map_cell {
    uint64_t first, second;
    uint32_t index;
    bool used;
};

static uint32_t start_of(const struct index_map *map, uint64_t first, uint64_t second)
{
    uint64_t h = (first ^ (second * 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull;
    return (uint32_t)(h >> 32) & (map->capacity - 1);
}

static struct index_map_cell *find_cell(const struct index_map *map, uint64_t first, uint64_t second)
{
    uint32_t i = start_of(map, first, second);
    while (map->cells[i].used && (map->cells[i].first != first || map->cells[i].second != second))
        i = (i + 1) & (map->capacity - 1);
    return &map->cells[i];
}

static void grow(struct index_map *map)
{
    struct index_map old = *map;
    map->capacity = old.capacity ? 2 * old.capacity : 64;
    map->cells = allocate(map->capacity, sizeof *map->cells);
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.cells[i].used)
            *find_cell(map, old.cells[i].first, old.cells[i].second) = old.cells[i];
    free(old.cells);
}

uint32_t *index_map_at(struct index_map *map, uint64_t first, uint64_t second)
{
    if (2 * (map->count + 1) > map->capacity)
        grow(map);
    struct index_map_cell *cell = find_cell(map, first, second);
    if (!cell->used) {
        *cell = (struct index_map_cell){first, second, INDEX_MAP_NONE, true};
        map->count++;
    }
    return &cell->index;
}

uint32_t index_map_find(const struct index_map *map, uint64_t first, uint64_t second)
{
    if (!map->capacity)
        return INDEX_MAP_NONE;
    const struct index_map_cell *cell = find_cell(map, first, second);
    return cell->used ? cell->index : INDEX_MAP_NONE;
}

void index_map_free(struct index_map *map)
{
    free(map->cells);
    *map = (struct index_map){0};
}
