/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of what a ring holds at one moment, for a reader, while its process goes on writing and its collector taking. */
#ifndef TRACE_RING_SNAPSHOT_H
#define TRACE_RING_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_snapshot {
    unsigned char *blocks; /* whole ones: slots, then records in the order of their sequence; malloc()ed; NULL: none */
    size_t bytes;
};

/* FOLDER/NAME, which must be this user's alone. False with errno set if there is no such ring, or no memory. */
bool ring_snapshot_read(struct ring_snapshot *snapshot, const char *folder, const char *name);
void ring_snapshot_free(struct ring_snapshot *snapshot);
/* Whole blocks in the ring that FD is open on, as far as anybody reads: at most RING_BLOCKS_MOST. 0 also where it can't be asked. */
uint32_t ring_block_count(int fd);
/* The first BYTES of block INDEX. False: there are not as many. With pread(), since a ring that is cut would make a mapping fault. */
bool ring_read_at(int fd, uint32_t index, void *buffer, size_t bytes);
/* A collector is at work on the rings in FOLDER, or about to begin. */
bool ring_snapshot_has_collector(const char *folder);

#endif
