/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of handles. Memory of a pool never goes back to the system, so a stale or foreign handle is told apart from
 * a live one without touching memory that may be gone. Callers hold the core's lock. */
#ifndef SIM_CORE_OBJECT_H
#define SIM_CORE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First member of every pooled struct. */
struct object {
    uint32_t live;
    struct object *next_free;
};

struct object_pool {
    size_t size; /* of one object */
    unsigned chunk_count;
    char *chunk[24]; /* chunk i holds OBJECT_CHUNK << i objects */
    struct object *free;
};

#define OBJECT_POOL(type)                                                                                              \
    {                                                                                                                  \
        .size = sizeof(struct type)                                                                                    \
    }

void *object_new(struct object_pool *pool); /* zeroed; NULL: out of memory */
void object_free(struct object_pool *pool, void *object);
bool object_valid(const struct object_pool *pool, const void *object);
/* Calls VISIT for each live object until it returns false. */
void object_each(const struct object_pool *pool, bool (*visit)(void *object, void *data), void *data);

#endif
