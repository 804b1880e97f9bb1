/* SPDX-License-Identifier: Apache-2.0 */
/* What the writer's files share: the state of one process incarnation and of each of its threads. Private to trace/.
 *
 * `writer_gate` lies in a page that the kernel wipes on fork. Everything else of an incarnation hangs below it, so a
 * forked child, whatever its parent's threads were doing, finds nothing open and starts anew. */
#ifndef TRACE_WRITER_STATE_H
#define TRACE_WRITER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "trace/block_queue.h"
#include "trace/name_table.h"
#include "trace/ring_control.h"
#include "trace/trace.h"
#include "trace/trace_file.h"
#include "trace/trace_thread.h"

enum {
    READY_BLOCKS = 4096, /* capacity; how many are kept ready follows the demand */
    FULL_BLOCKS = 8192,  /* a full block that finds no room here stays open in the file: readable, not sealed */
    SLOTS_PER_BLOCK =
        (TRACE_BLOCK_BYTES - TRACE_HEADER_BYTES - sizeof(struct trace_counters)) / sizeof(struct trace_slot),
    CALL_ID_BITS = 40, /* per slot; the slot's number stands above */
};

enum { RING_NEWS_FULL = 1, RING_NEWS_ALONE = 2 };

struct writer {
    uint64_t incarnation; /* trace_block_header.process_id_hash */
    uint32_t pid;
    uint32_t clock;
    struct trace_counters *counters;
    struct block_queue ready, full;
    uint64_t sequence;         /* last one given */
    uint64_t refusals;         /* times that no block was ready */
    uint64_t ticks_per_second; /* 0: not known yet */

    /* threads: a free list with a count in its upper half against ABA, of those that were given back */
    uint64_t free_threads;
    uint32_t threads_used; /* were taken once; the pages of the others are untouched, which children are spared of */
    uint32_t free_count;   /* these and those */
    uint32_t slot_blocks;
    struct trace_thread *threads[TRACE_SLOT_BLOCKS_MOST];

    struct name_table names;

    /* below: only under `tending` */
    uint32_t tending;
    struct trace_file file;
    unsigned char *spare; /* for the note that says that there are no more blocks */
    uint64_t ready_target;
    uint64_t sequence_seen, refusals_seen;
    uint64_t tends;
    uint32_t idle_tends;
    int growth_errno; /* not 0: growth is switched off */
    bool growth_noted;

    /* a ring: `file` lies in shared memory, and the collector empties it. NULL: a file of the session's folder */
    struct ring_control *control;
    struct trace_file more;           /* once the collector is gone; no windows: not made */
    struct trace_block_header *first; /* of the ring's first slots block */
    uint32_t sealed_count;            /* of the ring's blocks, not seen drained yet */
    bool alone;                       /* the collector gives no sign of life */
    uint32_t ring_news;               /* to be noted */
    int ring_errno;                   /* why it could not grow */
    uint64_t grow_after_tends;
    uint64_t heartbeat_seen, heartbeat_looked_ns;
    uint32_t heartbeat_still; /* looks since it changed */
    char stem[80];            /* of the file's name */
    char folder[PATH_MAX];    /* of the session, absolute */
    uint64_t open_ticks, open_monotonic_ns;

    struct block_queue_cell ready_cells[READY_BLOCKS];
    struct block_queue_cell full_cells[FULL_BLOCKS];
    unsigned char *sealed[RING_BYTES_MOST / TRACE_BLOCK_BYTES];
    char command[16384];
};

static inline void *map_zeros(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* NULL when closed. */
static inline struct writer *writer_now(void)
{
    return writer_incarnation() ? __atomic_load_n(&writer_gate, __ATOMIC_ACQUIRE)->writer : NULL;
}

static inline void add_relaxed(uint64_t *counter, uint64_t amount)
{
    __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

/* For fields that one thread writes and others read. */
static inline void bump(uint64_t *field)
{
    __atomic_store_n(field, __atomic_load_n(field, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

/* thread_pool.c */
bool thread_pool_prepare_key(void);
void thread_pool_add(struct writer *writer, unsigned char *slots_block, struct trace_thread *threads);
struct trace_thread *thread_pool_attach(struct writer *writer); /* the calling thread's; NULL counted */
void thread_pool_collect_dead(struct writer *writer);
bool thread_pool_any_busy(const struct writer *writer);

/* block_use.c */
void block_format(struct writer *writer, unsigned char *block, enum trace_block_kind kind);
void block_start(struct trace_thread *thread, unsigned char *block);
bool block_next(struct trace_thread *thread);
void block_retire(struct trace_thread *thread);
void block_seal(unsigned char *block);

/* block_supply.c: only under `tending`, or before the writer is published */
uint64_t block_supply_ring_most(const struct ring_control *control);     /* bytes of the file */
bool block_supply_begin(struct writer *writer);                          /* the first blocks of records */
bool block_supply_add_threads(struct writer *writer);                    /* states, with a block of slots */
unsigned char *block_supply_grow(struct writer *writer, uint64_t bytes); /* NULL with errno set */
void block_supply_seal(struct writer *writer);                           /* what threads gave back full */
void block_supply_watch(struct writer *writer);             /* what the collector drained; whether it lives */
uint64_t block_supply_follow_demand(struct writer *writer); /* how many were taken since the last time */
bool block_supply_fill(struct writer *writer);

/* trace_writer.c: without asking the gate, for a writer that isn't published yet */
void *writer_reserve(struct trace_thread *thread, enum trace_record_type type, size_t size);
void writer_commit(struct trace_thread *thread, void *record);

#endif
