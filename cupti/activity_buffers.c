/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed array of buffers with one state word each. Pages are touched only as CUPTI fills them, so the bound costs
 * address space, not memory. */
#include "cupti/activity_buffers.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "cupti/reserved_memory.h"
#include "trace/trace_writer.h"

enum buffer_state { BUFFER_FREE = 0, BUFFER_HELD, BUFFER_RETURNING, BUFFER_COMPLETED };

/* What a burst took beyond these is given back: a host shall not keep for ever what it had to lend once. */
enum { BUFFERS_RESIDENT = 8 };

struct buffer {
    _Atomic int state;
    size_t valid_bytes; /* written before COMPLETED, read after it */
};

static struct buffer buffers[ACTIVITY_BUFFERS_MAX];
static _Atomic int scratch_held[ACTIVITY_SCRATCH_COUNT];
static uint32_t buffer_count;
static uint32_t buffer_bytes;
static _Atomic uint32_t buffers_touched; /* the lowest that are free are taken first */
static uint8_t *memory;
static uint8_t *scratch; /* ACTIVITY_SCRATCH_COUNT of them, and one more that is handed out any number of times */

bool activity_buffers_open(uint32_t count, uint32_t bytes)
{
    if (memory)
        return true;
    buffer_count = count < 1 ? 1 : count > ACTIVITY_BUFFERS_MAX ? ACTIVITY_BUFFERS_MAX : count;
    buffer_bytes = (bytes < 4096 ? 4096 : bytes) & ~7u;
    scratch = reserved_memory_map((size_t)ACTIVITY_SCRATCH_BYTES * (ACTIVITY_SCRATCH_COUNT + 1));
    memory = scratch ? reserved_memory_map((size_t)buffer_count * buffer_bytes) : NULL;
    return memory != NULL;
}

uint8_t *activity_buffers_request(size_t *bytes)
{
    for (uint32_t i = 0; i < buffer_count; i++) {
        int state = atomic_load_explicit(&buffers[i].state, memory_order_relaxed);
        if (state == BUFFER_FREE &&
            atomic_compare_exchange_strong_explicit(&buffers[i].state, &state, BUFFER_HELD, memory_order_acquire,
                                                    memory_order_relaxed)) {
            if (i >= atomic_load_explicit(&buffers_touched, memory_order_relaxed))
                atomic_store_explicit(&buffers_touched, i + 1, memory_order_relaxed);
            *bytes = buffer_bytes;
            return memory + (size_t)i * buffer_bytes;
        }
    }
    *bytes = ACTIVITY_SCRATCH_BYTES;
    uint32_t i = 0;
    while (i < ACTIVITY_SCRATCH_COUNT && atomic_exchange_explicit(&scratch_held[i], 1, memory_order_relaxed))
        i++;
    return scratch + (size_t)i * ACTIVITY_SCRATCH_BYTES;
}

uint64_t activity_buffers_most_bytes(void)
{
    return (uint64_t)atomic_load_explicit(&buffers_touched, memory_order_relaxed) * buffer_bytes;
}

static void count_lost(void)
{
    __atomic_fetch_add(&trace_writer_counters()->buffers_lost, 1, __ATOMIC_RELAXED);
}

void activity_buffers_complete(uint8_t *buffer, size_t valid_bytes)
{
    size_t offset = (uintptr_t)buffer - (uintptr_t)memory;
    if (offset < (size_t)buffer_count * buffer_bytes) {
        struct buffer *b = &buffers[offset / buffer_bytes];
        int held = BUFFER_HELD;
        if (!atomic_compare_exchange_strong(&b->state, &held, BUFFER_RETURNING))
            return; /* a second time: it is read, or somebody else's by now */
        b->valid_bytes = valid_bytes < buffer_bytes ? valid_bytes : buffer_bytes;
        atomic_store_explicit(&b->state, BUFFER_COMPLETED, memory_order_release);
        return;
    }
    if (valid_bytes)
        count_lost(); /* scratch, or a buffer that another CUPTI client gave out */
    offset = (uintptr_t)buffer - (uintptr_t)scratch;
    if (offset < (size_t)ACTIVITY_SCRATCH_BYTES * ACTIVITY_SCRATCH_COUNT)
        atomic_store_explicit(&scratch_held[offset / ACTIVITY_SCRATCH_BYTES], 0, memory_order_relaxed);
}

/* Of a buffer that is not at page borders its neighbours' pages stay. */
static void give_back(uint32_t index)
{
    const uintptr_t page = 4096, start = (uintptr_t)memory + (size_t)index * buffer_bytes;
    uintptr_t from = (start + page - 1) & ~(page - 1), to = (start + buffer_bytes) & ~(page - 1);
    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

unsigned activity_buffers_take(bool (*consume)(uint8_t *buffer, size_t valid_bytes))
{
    unsigned taken = 0;
    bool more = true;
    for (uint32_t i = 0; i < buffer_count && more; i++) {
        if (atomic_load_explicit(&buffers[i].state, memory_order_acquire) != BUFFER_COMPLETED)
            continue;
        if (buffers[i].valid_bytes)
            more = consume(memory + (size_t)i * buffer_bytes, buffers[i].valid_bytes);
        if (i >= BUFFERS_RESIDENT)
            give_back(i);
        atomic_store_explicit(&buffers[i].state, BUFFER_FREE, memory_order_release);
        taken++;
    }
    return taken;
}
