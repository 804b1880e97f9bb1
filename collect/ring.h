/* SPDX-License-Identifier: Apache-2.0 */
/* One process's ring, seen from the collector: a stranger's file of blocks, of which nothing is believed. It is read with
 * pread(), so that one who cuts it can't make this process fault. */
#ifndef COLLECT_RING_H
#define COLLECT_RING_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/owner.h"
#include "trace/ring_control.h"
#include "trace/trace.h"

/* What is done with a copy of a block. INDEX: which of the ring's slots blocks. The block is marked drained after
 * take_records() has returned, whatever it did. */
struct ring_taker {
    void (*take_records)(void *context, const unsigned char *block);
    void (*take_slots)(void *context, unsigned index, const unsigned char *block);
    void *context;
};

struct ring {
    char name[NAME_MAX + 1];
    int fd;
    dev_t device;
    ino_t inode;
    struct owner owner;
    uint64_t process_id_hash; /* of its first good block; 0: none yet */
    uint64_t begun_ticks;     /* of its first slots block; 0: not known */
    uint32_t slots_at[TRACE_SLOT_BLOCKS_MOST];
    uint32_t slot_blocks;
    uint64_t *unmarked;   /* by place: sequence of a block that was taken and could not be marked; NULL: none */
    uint64_t sealed_seen; /* the host's own count, a hint when to look */
    uint64_t looked_ns;
};

/* NAME in the folder behind descriptor FOLDER. False with errno set: EPERM for a file that is not this user's alone. */
bool ring_open(struct ring *ring, int folder, const char *name);
/* What is sealed, in the order of its sequence; returns how many blocks. SLOTS: the blocks of slots, first. */
uint32_t ring_drain(struct ring *ring, const struct ring_taker *taker, uint64_t now_ns, bool slots);
/* Of an owner that writes no more: the open blocks as well. */
uint32_t ring_drain_rest(struct ring *ring, const struct ring_taker *taker);
void ring_close(struct ring *ring);

#endif
