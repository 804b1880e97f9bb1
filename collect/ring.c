/* SPDX-License-Identifier: Apache-2.0 */
/* Headers first, then the blocks in order. The blocks of a thread are sealed in the order of their sequence, and the order of
 * its calls tells something, so one is not taken before those that come before it. */
#include "collect/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/ring_snapshot.h"
#include "trace/trace_reader.h"

enum { LOOK_ANYWAY_NS = 1000000000 }; /* whatever the host's count says */

struct found_block {
    uint64_t sequence;
    uint32_t index;
    uint32_t tid;
};

bool ring_open(struct ring *ring, int folder, const char *name)
{
    struct stat found;
    *ring = (struct ring){.fd = -1};
    if (!owner_of_name(&ring->owner, name) || strlen(name) >= sizeof ring->name) {
        errno = EINVAL;
        return false;
    }
    strcpy(ring->name, name);
    ring->fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (ring->fd < 0)
        return false;
    if (fstat(ring->fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
        !(found.st_mode & (S_IRWXG | S_IRWXO))) {
        ring->device = found.st_dev;
        ring->inode = found.st_ino;
        return true;
    }
    ring_close(ring);
    errno = EPERM;
    return false;
}

void ring_close(struct ring *ring)
{
    if (ring->fd >= 0)
        close(ring->fd);
    ring->fd = -1;
    free(ring->unmarked);
    ring->unmarked = NULL;
}

/* All blocks of a ring are of one process incarnation. */
static bool is_ours(struct ring *ring, const struct trace_block_header *header)
{
    if (!trace_block_header_holds(header) || !header->process_id_hash)
        return false;
    if (!ring->process_id_hash)
        ring->process_id_hash = header->process_id_hash;
    return header->process_id_hash == ring->process_id_hash;
}

static void note_slots(struct ring *ring, uint32_t index, const struct trace_block_header *header)
{
    for (uint32_t i = 0; i < ring->slot_blocks; i++)
        if (ring->slots_at[i] == index)
            return;
    if (ring->slot_blocks == TRACE_SLOT_BLOCKS_MOST)
        return;
    if (!ring->slot_blocks) {
        ring->owner.pid_namespace = header->pid_namespace;
        ring->begun_ticks = header->anchor_ticks;
    }
    ring->slots_at[ring->slot_blocks++] = index;
}

static int by_sequence(const void *left, const void *right)
{
    const struct found_block *a = left, *b = right;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* Sealed blocks of records, and OPEN ones too if asked. Notes where slots are. */
static uint32_t find_blocks(struct ring *ring, struct found_block *list, bool open)
{
    uint32_t count = 0;
    for (uint32_t i = 0, blocks = ring_block_count(ring->fd); i < blocks; i++) {
        struct trace_block_header header;
        if (!ring_read_at(ring->fd, i, &header, sizeof header) || !is_ours(ring, &header))
            continue;
        if (header.kind == TRACE_BLOCK_SLOTS)
            note_slots(ring, i, &header);
        else if (header.state == TRACE_BLOCK_SEALED || (open && header.state == TRACE_BLOCK_OPEN))
            list[count++] = (struct found_block){header.sequence, i, header.tid};
    }
    return count;
}

static int by_thread(const void *left, const void *right)
{
    const struct found_block *a = left, *b = right;
    return a->tid != b->tid ? (a->tid < b->tid ? -1 : 1) : by_sequence(left, right);
}

/* BLOCK, or one of its thread behind it, is in LIST, which is sorted by thread. */
static bool is_covered(const struct found_block *block, const struct found_block *list, uint32_t count)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_thread(&list[middle], block) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list[low].tid == block->tid;
}

/* What a first look found, and what it missed since that was sealed behind its back: a block that stands further on may be
 * sealed later and be seen earlier. All that comes before a block of the first look is sealed by the time of the second. */
static uint32_t find_in_order(struct ring *ring, struct found_block *list)
{
    static struct found_block first[RING_BLOCKS_MOST];
    uint32_t first_count = find_blocks(ring, first, false), kept = 0;
    if (!first_count)
        return 0;
    qsort(first, first_count, sizeof *first, by_thread);
    uint32_t count = find_blocks(ring, list, false);
    for (uint32_t i = 0; i < count; i++)
        if (is_covered(&list[i], first, first_count))
            list[kept++] = list[i];
    return kept;
}

static bool has_records(const unsigned char *block)
{
    const struct trace_block_header *header = (const void *)block;
    const struct trace_record *first = (const void *)(block + TRACE_HEADER_BYTES);
    return first->commit == trace_commit_word(header->sequence, TRACE_HEADER_BYTES);
}

/* Where a limit on the size of files, narrower than the host's own, forbids to write: the host doesn't get its block back, but
 * it must not be taken again. */
static void remember(struct ring *ring, const struct found_block *block)
{
    if (!ring->unmarked)
        ring->unmarked = calloc(RING_BLOCKS_MOST, sizeof *ring->unmarked);
    if (ring->unmarked)
        ring->unmarked[block->index] = block->sequence;
}

static bool is_taken(const struct ring *ring, const struct found_block *block)
{
    return ring->unmarked && ring->unmarked[block->index] == block->sequence;
}

/* One byte of the state, so that nobody ever sees half of it; what was copied was copied before. */
static void mark_drained(struct ring *ring, const struct found_block *block)
{
    const unsigned char drained = TRACE_BLOCK_DRAINED;
    ssize_t wrote;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    do
        wrote = pwrite(ring->fd, &drained, sizeof drained,
                       (off_t)block->index * TRACE_BLOCK_BYTES + (off_t)offsetof(struct trace_block_header, state));
    while (wrote < 0 && errno == EINTR);
    if (wrote != (ssize_t)sizeof drained)
        remember(ring, block);
}

/* The copy is of the block that was found, or of none. */
static bool copy_block(struct ring *ring, const struct found_block *block, unsigned char *copy)
{
    const struct trace_block_header *header = (const void *)copy;
    return ring_read_at(ring->fd, block->index, copy, TRACE_BLOCK_BYTES) && is_ours(ring, header) &&
           header->kind == TRACE_BLOCK_RECORDS && header->sequence == block->sequence &&
           (header->state == TRACE_BLOCK_SEALED || header->state == TRACE_BLOCK_OPEN);
}

static void copy_slots(struct ring *ring, const struct ring_taker *taker, unsigned char *copy)
{
    const struct trace_block_header *header = (const void *)copy;
    for (uint32_t i = 0; i < ring->slot_blocks; i++)
        if (ring_read_at(ring->fd, ring->slots_at[i], copy, TRACE_BLOCK_BYTES) && is_ours(ring, header) &&
            header->kind == TRACE_BLOCK_SLOTS && header->state == TRACE_BLOCK_OPEN)
            taker->take_slots(taker->context, i, copy);
}

static uint32_t take(struct ring *ring, const struct ring_taker *taker, const struct found_block *list, uint32_t count,
                     unsigned char *copy)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct trace_block_header *header = (const void *)copy;
        if (is_taken(ring, &list[i]) || !copy_block(ring, &list[i], copy))
            continue;
        if (header->state == TRACE_BLOCK_SEALED || has_records(copy)) {
            taker->take_records(taker->context, copy);
            taken++;
        }
        mark_drained(ring, &list[i]);
    }
    return taken;
}

static uint32_t drain(struct ring *ring, const struct ring_taker *taker, bool slots, bool open)
{
    static struct found_block list[RING_BLOCKS_MOST];
    static _Alignas(64) unsigned char copy[TRACE_BLOCK_BYTES];
    uint32_t count;
    if (slots) { /* before the records: what slots count, the file then holds, or soon */
        if (!ring->slot_blocks)
            find_blocks(ring, list, false);
        copy_slots(ring, taker, copy);
    }
    count = open ? find_blocks(ring, list, true) : find_in_order(ring, list);
    qsort(list, count, sizeof *list, by_sequence);
    return take(ring, taker, list, count, copy);
}

uint32_t ring_drain(struct ring *ring, const struct ring_taker *taker, uint64_t now_ns, bool slots)
{
    struct trace_block_header header = {0};
    uint64_t sealed = 0;
    if (ring->slot_blocks && ring_read_at(ring->fd, ring->slots_at[0], &header, sizeof header))
        sealed = header.sealed_blocks;
    if (!slots && ring->slot_blocks && sealed == ring->sealed_seen && now_ns - ring->looked_ns < LOOK_ANYWAY_NS)
        return 0;
    ring->sealed_seen = sealed;
    ring->looked_ns = now_ns;
    return drain(ring, taker, slots, false);
}

uint32_t ring_drain_rest(struct ring *ring, const struct ring_taker *taker)
{
    return drain(ring, taker, true, true);
}
