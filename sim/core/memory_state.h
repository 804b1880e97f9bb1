/* SPDX-License-Identifier: Apache-2.0 */
/* The memory table as the core's own files see it. The lock is held. */
#ifndef SIM_CORE_MEMORY_STATE_H
#define SIM_CORE_MEMORY_STATE_H

#include "sim/core/memory.h"
#include "sim/core/state.h"

/* Any allocation that overlaps the bytes; NULL: none. */
struct simgpu_memory *memory_find(const void *address, size_t size);
struct simgpu_memory *memory_insert(int device, void *base, size_t size, enum simgpu_memory_kind kind);
void memory_remove(struct simgpu_memory *memory);
bool memory_charge(int device, size_t size); /* false: the device is full */
void memory_refund(int device, size_t size);
int memory_allocate(int device, enum simgpu_memory_kind kind, size_t size, unsigned flags, void *pool, void **address);
void pool_freed(void *pool, size_t size);
int memory_device(void); /* ordinal of the one that the thread's allocations are on */

#endif
