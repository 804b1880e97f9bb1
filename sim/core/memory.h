/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory is the host's, reserved and touched only where a program touches it. */
#ifndef SIM_CORE_MEMORY_H
#define SIM_CORE_MEMORY_H

#include "sim/core/simgpu.h"

enum simgpu_memory_kind {
    SIMGPU_MEMORY_UNKNOWN, /* pageable host memory */
    SIMGPU_MEMORY_HOST,    /* allocated page-locked */
    SIMGPU_MEMORY_REGISTERED,
    SIMGPU_MEMORY_DEVICE,
    SIMGPU_MEMORY_MANAGED,
    SIMGPU_MEMORY_MAPPED, /* part of a reserved address range */
};

struct simgpu_memory {
    char *base;
    size_t size;
    enum simgpu_memory_kind kind;
    unsigned flags;
    void *pool; /* stream-ordered allocations */
    uint64_t id;
    int device; /* ordinal: whose it is; of host memory, whose context made it known */
};

SIMGPU_API int simgpu_memory_allocate(enum simgpu_memory_kind kind, size_t size, unsigned flags, void *pool,
                                      void **address);
/* KIND: what the caller's free function is for, device (also managed and pooled) or host. */
SIMGPU_API int simgpu_memory_free(enum simgpu_memory_kind kind, void *address);
SIMGPU_API int simgpu_memory_register(void *address, size_t size, unsigned flags);
SIMGPU_API int simgpu_memory_unregister(void *address);
SIMGPU_API bool simgpu_memory_find(const void *address, struct simgpu_memory *memory);
SIMGPU_API void simgpu_memory_info(int device, size_t *free_bytes,
                                   size_t *total_bytes); /* negative: unused all of it */

/* Address ranges: reserve, create, map. Handles are numbers as the driver's are. */
SIMGPU_API int simgpu_range_reserve(size_t size, size_t alignment, void *wanted, void **address);
SIMGPU_API int simgpu_range_free(void *address, size_t size);
SIMGPU_API int simgpu_physical_create(int device, size_t size, unsigned long long *handle);
SIMGPU_API int simgpu_physical_retain(void *address, unsigned long long *handle);
SIMGPU_API int simgpu_physical_release(unsigned long long handle);
SIMGPU_API int simgpu_range_map(void *address, size_t size, size_t offset, unsigned long long handle);
SIMGPU_API int simgpu_range_unmap(void *address, size_t size);
SIMGPU_API int simgpu_range_access(void *address, size_t size);
#define SIMGPU_GRANULARITY ((size_t)2 << 20)

/* Pools of stream-ordered memory, each of one device. */
struct simgpu_pool;
SIMGPU_API struct simgpu_pool *simgpu_pool_default(int device);
SIMGPU_API struct simgpu_pool *simgpu_pool_create(int device, size_t most_bytes);
SIMGPU_API int simgpu_pool_device(struct simgpu_pool *pool); /* negative: no such pool */
SIMGPU_API int simgpu_pool_destroy(struct simgpu_pool *pool);
SIMGPU_API int simgpu_pool_allocate(struct simgpu_pool *pool, size_t size, void **address);
SIMGPU_API int simgpu_pool_get(struct simgpu_pool *pool, int attribute, void *value);
SIMGPU_API int simgpu_pool_set(struct simgpu_pool *pool, int attribute, const void *value);
SIMGPU_API int simgpu_pool_trim(struct simgpu_pool *pool, size_t keep);
SIMGPU_API struct simgpu_pool *simgpu_pool_current(int device);
SIMGPU_API int simgpu_pool_make_current(int device, struct simgpu_pool *pool);

#endif
