/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of handles: growing chunks, a free list, and a check that an address is a live object of the pool. */
#include "sim/core/object.h"

#include <stdlib.h>
#include <string.h>

#define OBJECT_CHUNK 64u
#define OBJECT_LIVE  0x51a4b1e5u

static size_t chunk_objects(unsigned chunk)
{
    return (size_t)OBJECT_CHUNK << chunk;
}

static bool grow(struct object_pool *pool)
{
    unsigned chunk = pool->chunk_count;
    if (chunk == sizeof pool->chunk / sizeof *pool->chunk)
        return false;
    char *memory = calloc(chunk_objects(chunk), pool->size);
    if (!memory)
        return false;
    pool->chunk[chunk] = memory;
    pool->chunk_count = chunk + 1;
    for (size_t i = chunk_objects(chunk); i-- > 0;) {
        struct object *object = (struct object *)(memory + i * pool->size);
        object->next_free = pool->free;
        pool->free = object;
    }
    return true;
}

void *object_new(struct object_pool *pool)
{
    if (!pool->free && !grow(pool))
        return NULL;
    struct object *object = pool->free;
    pool->free = object->next_free;
    memset(object, 0, pool->size);
    object->live = OBJECT_LIVE;
    return object;
}

void object_free(struct object_pool *pool, void *freed)
{
    struct object *object = freed;
    object->live = 0;
    object->next_free = pool->free;
    pool->free = object;
}

bool object_valid(const struct object_pool *pool, const void *object)
{
    const char *address = object;
    for (unsigned i = 0; i < pool->chunk_count; i++) {
        const char *first = pool->chunk[i];
        if (address < first || address >= first + chunk_objects(i) * pool->size)
            continue;
        if ((size_t)(address - first) % pool->size)
            return false;
        return ((const struct object *)address)->live == OBJECT_LIVE;
    }
    return false;
}

void object_each(const struct object_pool *pool, bool (*visit)(void *object, void *data), void *data)
{
    for (unsigned i = 0; i < pool->chunk_count; i++)
        for (size_t k = 0; k < chunk_objects(i); k++) {
            struct object *object = (struct object *)(pool->chunk[i] + k * pool->size);
            if (object->live == OBJECT_LIVE && !visit(object, data))
                return;
        }
}
