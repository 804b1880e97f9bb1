/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a block: formatted by the helper, taken by a thread, retired when full or when the thread ends, sealed by
 * the helper. Taking and retiring are on the call path, once in about a thousand calls. */
#include "trace/checksum.h"
#include "trace/clock.h"
#include "trace/writer_state.h"

static struct trace_block_header *header_of(unsigned char *block)
{
    return (struct trace_block_header *)(void *)block;
}

/* Magic comes behind the other fields and the state of slots, OPEN, behind that: a process may be killed at any line, and
 * a header without magic and state is read as free. */
void block_format(struct writer *writer, unsigned char *block, enum trace_block_kind kind)
{
    struct trace_block_header *header = header_of(block);
    header->version_major = TRACE_VERSION_MAJOR;
    header->version_minor = TRACE_VERSION_MINOR;
    header->block_bytes = TRACE_BLOCK_BYTES;
    header->kind = kind;
    header->process_id_hash = writer->incarnation;
    header->pid = writer->pid;
    header->clock = writer->clock;
    if (kind == TRACE_BLOCK_SLOTS) {
        header->sequence = __atomic_add_fetch(&writer->sequence, 1, __ATOMIC_RELAXED);
        header->ticks_per_second = __atomic_load_n(&writer->ticks_per_second, __ATOMIC_RELAXED);
        header->anchor_ticks = clock_ticks();
        header->anchor_realtime_ns = clock_realtime_ns();
    }
    __atomic_store_n(&header->magic, TRACE_MAGIC, __ATOMIC_RELEASE);
    if (kind == TRACE_BLOCK_SLOTS)
        __atomic_store_n(&header->state, TRACE_BLOCK_OPEN, __ATOMIC_RELEASE);
}

void block_start(struct trace_thread *thread, unsigned char *block)
{
    struct writer *writer = thread->writer;
    struct trace_block_header *header = header_of(block);
    uint64_t sequence = __atomic_add_fetch(&writer->sequence, 1, __ATOMIC_RELAXED);
    header->tid = thread->tid;
    header->sequence = sequence;
    header->used_bytes = 0;
    header->ticks_per_second = __atomic_load_n(&writer->ticks_per_second, __ATOMIC_RELAXED);
    header->anchor_ticks = clock_ticks();
    header->anchor_realtime_ns = clock_realtime_ns();
    __atomic_store_n(&header->state, TRACE_BLOCK_OPEN, __ATOMIC_RELEASE);
    thread->block = block;
    thread->sequence = sequence;
    thread->position = TRACE_HEADER_BYTES;
    thread->generation += 1ull << 32;
}

/* False: none is ready; the thread keeps what it has, since a smaller record may still fit there. */
bool block_next(struct trace_thread *thread)
{
    unsigned char *block = block_queue_pop(&thread->writer->ready);
    if (!block) {
        add_relaxed(&thread->writer->refusals, 1);
        return false;
    }
    block_retire(thread);
    block_start(thread, block);
    return true;
}

void block_retire(struct trace_thread *thread)
{
    unsigned char *block = thread->block;
    if (!block)
        return;
    header_of(block)->used_bytes = thread->position;
    thread->block = NULL;
    thread->position = TRACE_BLOCK_BYTES;
    thread->generation += 1ull << 32;
    block_queue_push(&thread->writer->full, block);
}

void block_seal(unsigned char *block)
{
    struct trace_block_header *header = header_of(block);
    header->checksum = trace_checksum(header, header->used_bytes);
    __atomic_store_n(&header->state, TRACE_BLOCK_SEALED, __ATOMIC_RELEASE);
}
