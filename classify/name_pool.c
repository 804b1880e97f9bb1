/* SPDX-License-Identifier: Apache-2.0 */
/* The first name that comes for an id stays. */
#include "classify/name_pool.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"

const char *name_pool_find(const struct name_pool *pool, uint64_t id)
{
    uint32_t index = id ? index_map_find(&pool->map, id, 0) : INDEX_MAP_NONE;
    return index == INDEX_MAP_NONE ? NULL : pool->names[index];
}

void name_pool_add(struct name_pool *pool, uint64_t id, char *name)
{
    uint32_t *index = index_map_at(&pool->map, id, 0);
    if (*index != INDEX_MAP_NONE) {
        free(name);
        return;
    }
    *index = (uint32_t)pool->count;
    pool->bytes += strlen(name) + 1;
    pool->names = allocate_grow(pool->names, pool->count, &pool->capacity, sizeof *pool->names);
    pool->ids = allocate_grow(pool->ids, pool->count, &pool->id_capacity, sizeof *pool->ids);
    pool->ids[pool->count] = id;
    pool->names[pool->count++] = name;
}

void name_pool_free(struct name_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        free(pool->names[i]);
    free(pool->names);
    free(pool->ids);
    index_map_free(&pool->map);
}
