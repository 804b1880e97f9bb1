/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of stream-ordered memory. An allocation is usable at once and freed at once, since kernels never touch it. */
#include "sim/core/memory_state.h"

struct simgpu_pool {
    struct object object;
    uint64_t used, used_high, reserved_high, threshold, most_bytes;
    int device;   /* ordinal */
    int reuse[3]; /* follow event dependencies, opportunistic, internal dependencies */
};

enum { REUSE_FIRST = 1, RELEASE_THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH = 6, USED = 7, USED_HIGH = 8 };

static struct object_pool pools = OBJECT_POOL(simgpu_pool);
static struct simgpu_pool *first[SIMGPU_DEVICES_MOST], *current[SIMGPU_DEVICES_MOST];

static struct simgpu_pool *make(int device, size_t most_bytes)
{
    struct simgpu_pool *pool = object_new(&pools);
    if (!pool)
        return NULL;
    pool->device = device;
    pool->most_bytes = most_bytes;
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    return pool;
}

struct simgpu_pool *simgpu_pool_default(int device)
{
    core_lock();
    if (!first[device])
        first[device] = make(device, 0);
    core_unlock();
    return first[device];
}

struct simgpu_pool *simgpu_pool_current(int device)
{
    struct simgpu_pool *fallback = simgpu_pool_default(device);
    core_lock();
    struct simgpu_pool *pool = current[device] ? current[device] : fallback;
    core_unlock();
    return pool;
}

int simgpu_pool_make_current(int device, struct simgpu_pool *pool)
{
    core_lock();
    bool known = object_valid(&pools, pool) && pool->device == device;
    if (known)
        current[device] = pool;
    core_unlock();
    return known ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

struct simgpu_pool *simgpu_pool_create(int device, size_t most_bytes)
{
    core_lock();
    struct simgpu_pool *pool = make(device, most_bytes);
    core_unlock();
    return pool;
}

int simgpu_pool_device(struct simgpu_pool *pool)
{
    core_lock();
    int device = object_valid(&pools, pool) ? pool->device : -1;
    core_unlock();
    return device;
}

int simgpu_pool_destroy(struct simgpu_pool *pool)
{
    core_lock();
    bool known = object_valid(&pools, pool) && pool != first[pool->device];
    if (known) {
        if (current[pool->device] == pool)
            current[pool->device] = NULL;
        object_free(&pools, pool);
    }
    core_unlock();
    return known ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

int simgpu_pool_allocate(struct simgpu_pool *pool, size_t size, void **address)
{
    core_lock();
    int result = SIMGPU_INVALID_VALUE;
    if (object_valid(&pools, pool)) {
        bool fits = !pool->most_bytes || (size <= pool->most_bytes && pool->used <= pool->most_bytes - size);
        result =
            fits ? memory_allocate(pool->device, SIMGPU_MEMORY_DEVICE, size, 0, pool, address) : SIMGPU_OUT_OF_MEMORY;
    }
    if (!result) {
        pool->used += size;
        if (pool->used > pool->used_high)
            pool->used_high = pool->used;
        if (pool->used > pool->reserved_high)
            pool->reserved_high = pool->used;
    }
    core_unlock();
    return result;
}

void pool_freed(void *freed_from, size_t size)
{
    struct simgpu_pool *pool = freed_from;
    if (object_valid(&pools, pool))
        pool->used -= size;
}

int simgpu_pool_get(struct simgpu_pool *pool, int attribute, void *value)
{
    core_lock();
    int result = object_valid(&pools, pool) ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    if (!result) {
        if (attribute >= REUSE_FIRST && attribute < RELEASE_THRESHOLD)
            *(int *)value = pool->reuse[attribute - REUSE_FIRST];
        else if (attribute == RELEASE_THRESHOLD)
            *(uint64_t *)value = pool->threshold;
        else if (attribute == RESERVED || attribute == USED)
            *(uint64_t *)value = pool->used;
        else if (attribute == RESERVED_HIGH)
            *(uint64_t *)value = pool->reserved_high;
        else if (attribute == USED_HIGH)
            *(uint64_t *)value = pool->used_high;
        else
            result = SIMGPU_INVALID_VALUE;
    }
    core_unlock();
    return result;
}

int simgpu_pool_set(struct simgpu_pool *pool, int attribute, const void *value)
{
    core_lock();
    int result = object_valid(&pools, pool) ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    if (!result) {
        if (attribute >= REUSE_FIRST && attribute < RELEASE_THRESHOLD)
            pool->reuse[attribute - REUSE_FIRST] = *(const int *)value;
        else if (attribute == RELEASE_THRESHOLD)
            pool->threshold = *(const uint64_t *)value;
        else if (attribute == RESERVED_HIGH && !*(const uint64_t *)value)
            pool->reserved_high = pool->used;
        else if (attribute == USED_HIGH && !*(const uint64_t *)value)
            pool->used_high = pool->used;
        else
            result = SIMGPU_INVALID_VALUE;
    }
    core_unlock();
    return result;
}

int simgpu_pool_trim(struct simgpu_pool *pool, size_t keep)
{
    (void)keep; /* nothing is held beyond what is used */
    core_lock();
    bool known = object_valid(&pools, pool);
    core_unlock();
    return known ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}
