/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations: large ones are mappings of their own, small ones are cut from slabs by power-of-two classes. A search
 * tree by address finds the allocation of any pointer; a budget makes memory run out as on the real device. */
#include "sim/core/memory_state.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SMALL_ALIGNMENT 512u
#define SMALL_LARGEST   ((size_t)1 << 20)
#define SLAB_BYTES      ((size_t)16 << 20)
#define CLASSES         12 /* 512 B ... 1 MiB */
#define BUDGET_GRAIN    ((size_t)1 << 9)

struct free_block {
    struct free_block *next;
    void *address;
};

static void *tree;
static struct free_block *free_small[CLASSES];
static char *slab;
static size_t slab_left;
static uint64_t used_bytes[SIMGPU_DEVICES_MOST], last_id;

static int compare(const void *left, const void *right)
{
    const struct simgpu_memory *a = left, *b = right;
    if (a->base + a->size <= b->base)
        return -1;
    return a->base >= b->base + b->size;
}

struct simgpu_memory *memory_find(const void *address, size_t size)
{
    struct simgpu_memory key = {.base = (char *)address, .size = size ? size : 1};
    struct simgpu_memory **found = tfind(&key, &tree, compare);
    return found ? *found : NULL;
}

struct simgpu_memory *memory_insert(int device, void *base, size_t size, enum simgpu_memory_kind kind)
{
    struct simgpu_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    *memory = (struct simgpu_memory){.base = base, .size = size, .kind = kind, .id = ++last_id, .device = device};
    struct simgpu_memory **kept = tsearch(memory, &tree, compare);
    if (kept && *kept == memory)
        return memory;
    free(memory);
    return NULL;
}

void memory_remove(struct simgpu_memory *memory)
{
    tdelete(memory, &tree, compare);
    free(memory);
}

bool memory_charge(int device, size_t size)
{
    if (size > simgpu_device()->memory_bytes || used_bytes[device] > simgpu_device()->memory_bytes - size)
        return false;
    used_bytes[device] += size;
    return true;
}

void memory_refund(int device, size_t size)
{
    used_bytes[device] -= size;
}

int memory_device(void)
{
    const struct context *context = context_current();
    return context ? context->device : 0;
}

static int class_of(size_t size)
{
    int class = 0;
    while (((size_t)SMALL_ALIGNMENT << class) < size)
        class ++;
    return class;
}

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void *small_block(int class)
{
    size_t size = (size_t)SMALL_ALIGNMENT << class;
    struct free_block *block = free_small[class];
    if (block) {
        void *address = block->address;
        free_small[class] = block->next;
        free(block);
        return address;
    }
    if (slab_left < size) {
        slab = map(SLAB_BYTES);
        slab_left = slab ? SLAB_BYTES : 0;
        if (!slab)
            return NULL;
    }
    void *address = slab;
    slab += size;
    slab_left -= size;
    return address;
}

static size_t charged(size_t size)
{
    return (size + BUDGET_GRAIN - 1) / BUDGET_GRAIN * BUDGET_GRAIN;
}

static void give_back(void *address, size_t size)
{
    if (size > SMALL_LARGEST) {
        munmap(address, size);
        return;
    }
    struct free_block *block = malloc(sizeof *block);
    if (!block)
        return;
    int class = class_of(size);
    *block = (struct free_block){.next = free_small[class], .address = address};
    free_small[class] = block;
}

static bool on_device(enum simgpu_memory_kind kind)
{
    return kind == SIMGPU_MEMORY_DEVICE || kind == SIMGPU_MEMORY_MANAGED;
}

int memory_allocate(int device, enum simgpu_memory_kind kind, size_t size, unsigned flags, void *pool, void **address)
{
    if (on_device(kind) && !memory_charge(device, charged(size)))
        return SIMGPU_OUT_OF_MEMORY;
    void *base = size > SMALL_LARGEST ? map(size) : small_block(class_of(size));
    struct simgpu_memory *memory = base ? memory_insert(device, base, size, kind) : NULL;
    if (!memory) {
        if (base)
            give_back(base, size);
        if (on_device(kind))
            memory_refund(device, charged(size));
        return SIMGPU_OUT_OF_MEMORY;
    }
    memory->flags = flags;
    memory->pool = pool;
    *address = base;
    return SIMGPU_SUCCESS;
}

int simgpu_memory_allocate(enum simgpu_memory_kind kind, size_t size, unsigned flags, void *pool, void **address)
{
    core_lock();
    int result = memory_allocate(memory_device(), kind, size, flags, pool, address);
    core_unlock();
    return result;
}

int simgpu_memory_free(enum simgpu_memory_kind kind, void *address)
{
    core_lock();
    struct simgpu_memory *memory = memory_find(address, 1);
    bool ours = memory && memory->base == address &&
                (on_device(kind) ? on_device(memory->kind) : memory->kind == SIMGPU_MEMORY_HOST);
    if (ours) {
        size_t size = memory->size;
        if (on_device(memory->kind))
            memory_refund(memory->device, charged(size));
        if (memory->pool)
            pool_freed(memory->pool, size);
        memory_remove(memory);
        give_back(address, size);
    }
    core_unlock();
    return ours ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

int simgpu_memory_register(void *address, size_t size, unsigned flags)
{
    if (!address || !size)
        return SIMGPU_INVALID_VALUE;
    core_lock();
    int result = SIMGPU_SUCCESS;
    struct simgpu_memory *memory = NULL;
    if (memory_find(address, size))
        result = SIMGPU_HOST_MEMORY_ALREADY_REGISTERED;
    else if (!(memory = memory_insert(memory_device(), address, size, SIMGPU_MEMORY_REGISTERED)))
        result = SIMGPU_OUT_OF_MEMORY;
    else
        memory->flags = flags;
    core_unlock();
    return result;
}

int simgpu_memory_unregister(void *address)
{
    core_lock();
    struct simgpu_memory *memory = memory_find(address, 1);
    bool ours = memory && memory->base == address && memory->kind == SIMGPU_MEMORY_REGISTERED;
    if (ours)
        memory_remove(memory);
    core_unlock();
    return ours ? SIMGPU_SUCCESS : SIMGPU_HOST_MEMORY_NOT_REGISTERED;
}

bool simgpu_memory_find(const void *address, struct simgpu_memory *found)
{
    core_lock();
    const struct simgpu_memory *memory = memory_find(address, 1);
    if (memory)
        *found = *memory;
    core_unlock();
    return memory != NULL;
}

void simgpu_memory_info(int device, size_t *free_bytes, size_t *total_bytes)
{
    core_lock();
    *total_bytes = simgpu_device()->memory_bytes;
    *free_bytes = *total_bytes - (device >= 0 ? used_bytes[device] : 0);
    core_unlock();
}
