/* SPDX-License-Identifier: Apache-2.0 */
/* Address ranges and physical memory apart: a range is reserved without access, physical memory is part of a memory
 * file, and mapping joins them, so that two mappings of one handle really alias. */
#include "sim/core/device.h"
#include "sim/core/memory_state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct physical {
    struct object object;
    off_t offset; /* in the one memory file */
    size_t size;
    unsigned references;
    int device; /* ordinal */
};

struct range {
    char *base;
    size_t size;
    struct range *next;
};

struct mapping {
    char *base;
    size_t size;
    struct physical *physical;
    struct mapping *next;
};

static struct object_pool physicals = OBJECT_POOL(physical);
static struct range *ranges;
static struct mapping *mappings;
static int memory_file = -1; /* one file for all: a program may make thousands of handles */
static off_t file_size;

static bool extend_file(size_t size)
{
    if (memory_file < 0)
        memory_file = memfd_create("simgpu", MFD_CLOEXEC);
    if (memory_file < 0 || ftruncate(memory_file, file_size + (off_t)size))
        return false;
    file_size += (off_t)size;
    return true;
}

static bool aligned(size_t value)
{
    return value % SIMGPU_GRANULARITY == 0;
}

int simgpu_range_reserve(size_t size, size_t alignment, void *wanted, void **address)
{
    if (!size || !aligned(size) || (alignment & (alignment - 1)))
        return SIMGPU_INVALID_VALUE;
    if (alignment < SIMGPU_GRANULARITY)
        alignment = SIMGPU_GRANULARITY;
    char *raw = mmap(wanted, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED)
        return SIMGPU_OUT_OF_MEMORY;
    char *base = (char *)(((uintptr_t)raw + alignment - 1) & ~(uintptr_t)(alignment - 1));
    if (base > raw)
        munmap(raw, (size_t)(base - raw));
    char *end = base + size;
    if (end < raw + size + alignment)
        munmap(end, (size_t)(raw + size + alignment - end));
    struct range *range = malloc(sizeof *range);
    if (!range) {
        munmap(base, size);
        return SIMGPU_OUT_OF_MEMORY;
    }
    core_lock();
    *range = (struct range){.base = base, .size = size, .next = ranges};
    ranges = range;
    core_unlock();
    *address = base;
    return SIMGPU_SUCCESS;
}

int simgpu_range_free(void *address, size_t size)
{
    core_lock();
    struct range **link = &ranges;
    while (*link && ((*link)->base != address || (*link)->size != size))
        link = &(*link)->next;
    struct range *range = *link;
    if (range) {
        *link = range->next;
        munmap(address, size);
        free(range);
    }
    core_unlock();
    return range ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

int simgpu_physical_create(int device, size_t size, unsigned long long *handle)
{
    if (!size || !aligned(size) || simgpu_device_board(device) < 0)
        return SIMGPU_INVALID_VALUE;
    int result = SIMGPU_OUT_OF_MEMORY;
    core_lock();
    if (memory_charge(device, size)) {
        struct physical *physical = object_new(&physicals);
        if (physical && extend_file(size)) {
            physical->offset = file_size - (off_t)size;
            physical->size = size;
            physical->device = device;
            physical->references = 1;
            *handle = (unsigned long long)(uintptr_t)physical;
            result = SIMGPU_SUCCESS;
        } else {
            if (physical)
                object_free(&physicals, physical);
            memory_refund(device, size);
        }
    }
    core_unlock();
    return result;
}

static void drop(struct physical *physical)
{
    if (--physical->references)
        return;
    fallocate(memory_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, physical->offset, (off_t)physical->size);
    memory_refund(physical->device, physical->size);
    object_free(&physicals, physical);
}

int simgpu_physical_release(unsigned long long handle)
{
    struct physical *physical = (struct physical *)(uintptr_t)handle;
    core_lock();
    bool known = object_valid(&physicals, physical);
    if (known)
        drop(physical);
    core_unlock();
    return known ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

static bool within_range(const char *base, size_t size)
{
    for (const struct range *range = ranges; range; range = range->next)
        if (base >= range->base && size <= range->size && (size_t)(base - range->base) <= range->size - size)
            return true;
    return false;
}

static struct mapping *mapping_at(const char *address)
{
    for (struct mapping *mapping = mappings; mapping; mapping = mapping->next)
        if (address >= mapping->base && address < mapping->base + mapping->size)
            return mapping;
    return NULL;
}

int simgpu_physical_retain(void *address, unsigned long long *handle)
{
    core_lock();
    struct mapping *mapping = mapping_at(address);
    if (mapping) {
        mapping->physical->references++;
        *handle = (unsigned long long)(uintptr_t)mapping->physical;
    }
    core_unlock();
    return mapping ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

static int map_locked(char *base, size_t size, size_t offset, struct physical *physical)
{
    if (!object_valid(&physicals, physical) || !size || !aligned(size) || !within_range(base, size) ||
        offset > physical->size || size > physical->size - offset || memory_find(base, size))
        return SIMGPU_INVALID_VALUE;
    struct mapping *mapping = malloc(sizeof *mapping);
    if (!mapping)
        return SIMGPU_OUT_OF_MEMORY;
    /* Readable at once: the core checks pointers by its table, not by faults. */
    if (mmap(base, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory_file,
             physical->offset + (off_t)offset) == MAP_FAILED ||
        !memory_insert(physical->device, base, size, SIMGPU_MEMORY_MAPPED)) {
        free(mapping);
        return SIMGPU_OUT_OF_MEMORY;
    }
    *mapping = (struct mapping){.base = base, .size = size, .physical = physical, .next = mappings};
    mappings = mapping;
    physical->references++;
    return SIMGPU_SUCCESS;
}

int simgpu_range_map(void *address, size_t size, size_t offset, unsigned long long handle)
{
    core_lock();
    int result = map_locked(address, size, offset, (struct physical *)(uintptr_t)handle);
    core_unlock();
    return result;
}

/* Several whole mappings may be taken down at once, parts of one may not. */
int simgpu_range_unmap(void *address, size_t size)
{
    char *base = address;
    int result = SIMGPU_SUCCESS;
    core_lock();
    for (char *at = base; at < base + size && !result;) {
        struct mapping *mapping = mapping_at(at);
        if (!mapping || mapping->base != at || mapping->size > (size_t)(base + size - at)) {
            result = SIMGPU_INVALID_VALUE;
            break;
        }
        at += mapping->size;
        struct mapping **link = &mappings;
        while (*link != mapping)
            link = &(*link)->next;
        *link = mapping->next;
        memory_remove(memory_find(mapping->base, mapping->size));
        mmap(mapping->base, mapping->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        drop(mapping->physical);
        free(mapping);
    }
    core_unlock();
    return result;
}

int simgpu_range_access(void *address, size_t size)
{
    char *base = address;
    int result = size ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    core_lock();
    for (char *at = base; at < base + size && !result;) {
        const struct mapping *mapping = mapping_at(at);
        if (mapping)
            at = mapping->base + mapping->size;
        else
            result = SIMGPU_INVALID_VALUE;
    }
    core_unlock();
    return result;
}
