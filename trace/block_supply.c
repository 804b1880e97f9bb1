/* SPDX-License-Identifier: Apache-2.0 */
/* Where the helper gets blocks from: ahead of demand out of a file that grows, or out of a ring in shared memory, where the
 * collector empties what is sealed. The ring starts small, grows as the demand asks and the memory allows, and then goes
 * round. While the collector gives no sign of life, new blocks come from a second file in the session's folder. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/trace_writer.h"
#include "trace/writer_state.h"

enum {
    READY_LEAST = 32,        /* 2 MiB: about 30 000 calls until the helper comes back */
    READY_TIGHT = 8,         /* where shared memory is short */
    READY_MOST = 2048,       /* 128 MiB: a burst of CUPTI's buffers */
    GROW_BLOCKS = 64,        /* per step, so that the first of many is ready soon */
    REFUSED_TIMES = 8,       /* what is kept ready grows by that once too little was */
    TENDS_UNTIL_LESS = 1024, /* without demand before fewer blocks are kept ready */
    TENDS_UNTIL_GROWTH = 64, /* until a ring that found no room tries again */
    HEARTBEAT_LOOK_MS = 200, /* looks are counted, not time: a process that was stopped has seen nothing meanwhile */
};

_Static_assert(RING_BYTES_MOST / TRACE_BLOCK_BYTES <= READY_BLOCKS, "all blocks of a ring can be ready");

/* ---- growth ---- */

static uint64_t ring_bytes(const struct ring_control *control)
{
    uint64_t bytes = control->ring_bytes;
    bytes = bytes < RING_BYTES_LEAST ? RING_BYTES_LEAST : bytes > RING_BYTES_MOST ? RING_BYTES_MOST : bytes;
    return bytes - bytes % TRACE_BLOCK_BYTES;
}

uint64_t block_supply_ring_most(const struct ring_control *control)
{
    return ring_bytes(control) + (uint64_t)(TRACE_SLOT_BLOCKS_MOST - 1) * TRACE_BLOCK_BYTES;
}

static bool in_ring(const struct writer *writer)
{
    return writer->control != NULL;
}

/* Under its name from the start: the first block is formatted before anything is in it, and a reader takes zeros as free. */
static bool make_more(struct writer *writer)
{
    char name[sizeof writer->stem + sizeof TRACE_MORE_SUFFIX];
    snprintf(name, sizeof name, "%s" TRACE_MORE_SUFFIX, writer->stem);
    return trace_file_create(&writer->more, writer->folder, name,
                             writer->control->more_bytes & ~(uint64_t)(TRACE_BLOCK_BYTES - 1));
}

static unsigned char *grow_more(struct writer *writer, uint64_t bytes)
{
    bool begins = !writer->more.windows;
    if (begins && !make_more(writer))
        return NULL;
    unsigned char *block = trace_file_grow(&writer->more, bytes);
    if (block && begins) {
        block_format(writer, block, TRACE_BLOCK_RECORDS);
        if (!trace_file_publish(&writer->more))
            block = NULL;
    }
    if (!block && begins) {
        int why = errno;
        trace_file_remove(&writer->more);
        trace_file_unmap(&writer->more);
        errno = why;
    }
    return block;
}

unsigned char *block_supply_grow(struct writer *writer, uint64_t bytes)
{
    return writer->alone ? grow_more(writer, bytes) : trace_file_grow(&writer->file, bytes);
}

static void remember_namespace(struct writer *writer)
{
    struct stat found;
    if (stat("/proc/self/ns/pid", &found) == 0)
        writer->first->pid_namespace = found.st_ino;
}

static bool add_threads(struct writer *writer)
{
    struct trace_thread *threads = map_zeros(SLOTS_PER_BLOCK * sizeof *threads);
    if (threads) /* what threads don't use of their states costs no memory only in small pages */
        madvise(threads, SLOTS_PER_BLOCK * sizeof *threads, MADV_NOHUGEPAGE);
    unsigned char *block = threads ? block_supply_grow(writer, TRACE_BLOCK_BYTES) : NULL;
    if (!block) {
        int why = errno;
        if (threads)
            munmap(threads, SLOTS_PER_BLOCK * sizeof *threads);
        errno = why;
        return false;
    }
    if (in_ring(writer) && !writer->first) {
        writer->first = (struct trace_block_header *)(void *)block;
        remember_namespace(writer);
    }
    block_format(writer, block, TRACE_BLOCK_SLOTS);
    if (!writer->counters)
        writer->counters = (struct trace_counters *)(void *)(block + TRACE_HEADER_BYTES);
    thread_pool_add(writer, block, threads);
    return true;
}

static bool add_blocks(struct writer *writer, uint64_t count)
{
    unsigned char *first = block_supply_grow(writer, count * TRACE_BLOCK_BYTES);
    if (!first)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        block_format(writer, first + i * TRACE_BLOCK_BYTES, TRACE_BLOCK_RECORDS);
        block_queue_push(&writer->ready, first + i * TRACE_BLOCK_BYTES);
    }
    return true;
}

/* In blocks. Slots may go beyond: without them a thread is not recorded at all. */
static uint64_t ring_room(const struct writer *writer)
{
    uint64_t most_bytes = ring_bytes(writer->control);
    return most_bytes > writer->file.bytes ? (most_bytes - writer->file.bytes) / TRACE_BLOCK_BYTES : 0;
}

/* In blocks. Where a session is to keep to a size, what is beyond is dropped and counted. */
static uint64_t more_room(const struct writer *writer)
{
    uint64_t most_bytes = writer->control->more_bytes;
    if (!most_bytes)
        return UINT64_MAX;
    return most_bytes > writer->more.bytes ? (most_bytes - writer->more.bytes) / TRACE_BLOCK_BYTES : 0;
}

bool block_supply_begin(struct writer *writer)
{
    uint64_t count = READY_LEAST + 1;
    writer->ready_target = READY_LEAST;
    if (in_ring(writer) && ring_room(writer) < count)
        count = ring_room(writer);
    return add_blocks(writer, count) || (in_ring(writer) && count > READY_TIGHT && add_blocks(writer, READY_TIGHT));
}

/* ---- demand ---- */

/* A demand that takes half of what is ready between two visits doubles it. One that was not met was larger than what was
 * taken tells: short-lived threads take a block each, and come by the hundred. */
uint64_t block_supply_follow_demand(struct writer *writer)
{
    uint64_t sequence = __atomic_load_n(&writer->sequence, __ATOMIC_RELAXED);
    uint64_t taken = sequence - writer->sequence_seen;
    writer->sequence_seen = sequence;
    writer->idle_tends = taken ? 0 : writer->idle_tends + 1;
    uint64_t refusals = __atomic_load_n(&writer->refusals, __ATOMIC_RELAXED);
    uint64_t factor = refusals != writer->refusals_seen ? REFUSED_TIMES : taken * 2 > writer->ready_target ? 2 : 1;
    writer->refusals_seen = refusals;
    writer->ready_target = writer->ready_target * factor < READY_MOST ? writer->ready_target * factor : READY_MOST;
    if (writer->idle_tends >= TENDS_UNTIL_LESS && writer->ready_target > READY_LEAST) {
        writer->ready_target /= 2;
        writer->idle_tends = 0;
    }
    return taken;
}

/* How many blocks to add of those that are MISSING; 0: the ring is as large as it may be, or as /dev/shm has room. */
static uint64_t next_step(const struct writer *writer, uint64_t missing)
{
    uint64_t step = missing < GROW_BLOCKS ? missing : GROW_BLOCKS;
    if (!in_ring(writer))
        return step;
    if (writer->alone)
        return step < more_room(writer) ? step : more_room(writer);
    if (writer->tends < writer->grow_after_tends)
        return 0;
    return step < ring_room(writer) ? step : ring_room(writer);
}

/* A ring that can't grow goes round as it is: others may give back what they have of the memory. */
static bool ring_may_stay(struct writer *writer)
{
    if (!in_ring(writer) || writer->alone)
        return false;
    if (!writer->ring_errno)
        writer->ring_news |= RING_NEWS_FULL;
    writer->ring_errno = errno ? errno : EIO;
    writer->grow_after_tends = writer->tends + TENDS_UNTIL_GROWTH;
    return true;
}

bool block_supply_add_threads(struct writer *writer)
{
    if (writer->slot_blocks && in_ring(writer) && !writer->alone && writer->tends < writer->grow_after_tends)
        return true;
    if (writer->alone && !more_room(writer))
        return true;
    return add_threads(writer) || (writer->slot_blocks && ring_may_stay(writer));
}

bool block_supply_fill(struct writer *writer)
{
    uint64_t ready = block_queue_count(&writer->ready), step;
    while (ready + writer->ready_target / 4 <= writer->ready_target &&
           (step = next_step(writer, writer->ready_target - ready)) > 0) {
        if (!add_blocks(writer, step))
            return ring_may_stay(writer);
        ready += step;
        if (writer->ring_news)
            break; /* said first: a large file takes its time */
    }
    return true;
}

/* ---- full blocks ---- */

/* What goes round stays in memory; what goes into a file is not touched again. */
static void keep_for_collector(struct writer *writer, unsigned char *block)
{
    writer->sealed[writer->sealed_count++] = block;
    __atomic_fetch_add(&writer->first->sealed_blocks, 1, __ATOMIC_RELEASE);
}

void block_supply_seal(struct writer *writer)
{
    unsigned char *block;
    while ((block = block_queue_pop(&writer->full))) {
        block_seal(block);
        if (in_ring(writer) && trace_file_holds(&writer->file, block))
            keep_for_collector(writer, block);
        else
            trace_file_forget(block, TRACE_BLOCK_BYTES);
    }
}

/* Free before it is formatted: a block must never be seen as open or sealed with what it held last. */
static bool take_back(struct writer *writer, unsigned char *block)
{
    struct trace_block_header *header = (struct trace_block_header *)(void *)block;
    if (__atomic_load_n(&header->state, __ATOMIC_ACQUIRE) != TRACE_BLOCK_DRAINED)
        return false;
    __atomic_store_n(&header->state, TRACE_BLOCK_FREE, __ATOMIC_RELEASE);
    block_format(writer, block, TRACE_BLOCK_RECORDS);
    block_queue_push(&writer->ready, block);
    return true;
}

static void take_back_drained(struct writer *writer)
{
    uint32_t kept = 0;
    uint64_t room = READY_BLOCKS - block_queue_count(&writer->ready); /* nobody else adds to it */
    for (uint32_t i = 0; i < writer->sealed_count; i++)
        if (room && take_back(writer, writer->sealed[i]))
            room--;
        else
            writer->sealed[kept++] = writer->sealed[i];
    writer->sealed_count = kept;
}

static void look_at_heartbeat(struct writer *writer)
{
    uint64_t now_ns = clock_monotonic_ns(), beat = __atomic_load_n(&writer->control->heartbeat_ns, __ATOMIC_ACQUIRE);
    if (now_ns - writer->heartbeat_looked_ns < HEARTBEAT_LOOK_MS * UINT64_C(1000000))
        return;
    writer->heartbeat_looked_ns = now_ns;
    writer->heartbeat_still = beat == writer->heartbeat_seen ? writer->heartbeat_still + 1 : 0;
    writer->heartbeat_seen = beat;
    bool alone = writer->heartbeat_still >= RING_STALE_MS / HEARTBEAT_LOOK_MS;
    if (alone && !writer->alone && !writer->more.windows)
        writer->ring_news |= RING_NEWS_ALONE;
    writer->alone = alone;
}

void block_supply_watch(struct writer *writer)
{
    if (!in_ring(writer))
        return;
    take_back_drained(writer);
    look_at_heartbeat(writer);
}
