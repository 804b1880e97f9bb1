/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel names by trace_hash(): the same in every process, so shared. */
#ifndef CLASSIFY_NAME_POOL_H
#define CLASSIFY_NAME_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "classify/index_map.h"

struct name_pool {
    struct index_map map;
    char **names;
    uint64_t *ids;
    size_t count, capacity, id_capacity;
    size_t bytes; /* of all of them */
};

const char *name_pool_find(const struct name_pool *pool, uint64_t id); /* NULL if no record gave it */
/* Takes NAME, which was allocated. */
void name_pool_add(struct name_pool *pool, uint64_t id, char *name);
void name_pool_free(struct name_pool *pool);

#endif
