/* SPDX-License-Identifier: Apache-2.0 */
/* Slots first: what they count, the blocks that are read later hold. A block that was taken and used again while it was being
 * copied is left out: then it is in the collector's file, which is to be read after this. */
#include "trace/ring_snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/ring_control.h"
#include "trace/trace.h"
#include "trace/trace_reader.h"

struct ring_place {
    uint64_t sequence;
    uint32_t index;
};

static int open_ring(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat found;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid())
        return fd;
    int why = fd >= 0 ? EPERM : errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

bool ring_read_at(int fd, uint32_t index, void *buffer, size_t bytes)
{
    ssize_t got;
    do
        got = pread(fd, buffer, bytes, (off_t)index * TRACE_BLOCK_BYTES);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)bytes;
}

uint32_t ring_block_count(int fd)
{
    struct stat found;
    if (fstat(fd, &found) != 0 || found.st_size <= 0)
        return 0;
    uint64_t blocks = (uint64_t)found.st_size / TRACE_BLOCK_BYTES;
    return blocks < RING_BLOCKS_MOST ? (uint32_t)blocks : RING_BLOCKS_MOST;
}

static bool is_wanted(const struct trace_block_header *header, enum trace_block_kind kind)
{
    return trace_block_header_holds(header) && header->kind == kind &&
           (header->state == TRACE_BLOCK_OPEN || header->state == TRACE_BLOCK_SEALED);
}

static int by_sequence(const void *left, const void *right)
{
    const struct ring_place *a = left, *b = right;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static uint32_t find(int fd, uint32_t blocks, enum trace_block_kind kind, struct ring_place *places)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        struct trace_block_header header;
        if (ring_read_at(fd, i, &header, sizeof header) && is_wanted(&header, kind))
            places[count++] = (struct ring_place){header.sequence, i};
    }
    qsort(places, count, sizeof *places, by_sequence);
    return count;
}

/* The header is read once more behind the copy: it must still be of the same use. */
static bool copy_block(int fd, const struct ring_place *place, enum trace_block_kind kind, unsigned char *copy)
{
    struct trace_block_header after;
    const struct trace_block_header *header = (const void *)copy;
    return ring_read_at(fd, place->index, copy, TRACE_BLOCK_BYTES) && is_wanted(header, kind) &&
           header->sequence == place->sequence && ring_read_at(fd, place->index, &after, sizeof after) &&
           is_wanted(&after, kind) && after.sequence == place->sequence;
}

static void copy_kind(struct ring_snapshot *snapshot, int fd, uint32_t blocks, enum trace_block_kind kind,
                      struct ring_place *places)
{
    uint32_t count = find(fd, blocks, kind, places);
    for (uint32_t i = 0; i < count && snapshot->bytes < (size_t)blocks * TRACE_BLOCK_BYTES; i++)
        if (copy_block(fd, &places[i], kind, snapshot->blocks + snapshot->bytes))
            snapshot->bytes += TRACE_BLOCK_BYTES;
}

static bool read_all(struct ring_snapshot *snapshot, int fd)
{
    uint32_t blocks = ring_block_count(fd);
    struct ring_place *places = malloc((blocks + 1) * sizeof *places);
    snapshot->blocks = malloc((size_t)blocks * TRACE_BLOCK_BYTES + 1);
    if (!places || !snapshot->blocks) {
        free(places);
        ring_snapshot_free(snapshot);
        errno = ENOMEM;
        return false;
    }
    copy_kind(snapshot, fd, blocks, TRACE_BLOCK_SLOTS, places);
    copy_kind(snapshot, fd, blocks, TRACE_BLOCK_RECORDS, places);
    free(places);
    return true;
}

bool ring_snapshot_read(struct ring_snapshot *snapshot, const char *folder, const char *name)
{
    *snapshot = (struct ring_snapshot){0};
    int fd = open_ring(folder, name);
    if (fd < 0)
        return false;
    bool done = read_all(snapshot, fd);
    int why = errno;
    close(fd);
    errno = why;
    return done;
}

void ring_snapshot_free(struct ring_snapshot *snapshot)
{
    free(snapshot->blocks);
    *snapshot = (struct ring_snapshot){0};
}

/* A collector says who it is when it has the lock, which goes with it. Before that only the launcher's sign of life tells. */
bool ring_snapshot_has_collector(const char *folder)
{
    struct ring_control page;
    int fd = open_ring(folder, RING_CONTROL_FILE);
    bool there = fd >= 0 && pread(fd, &page, sizeof page, 0) == (ssize_t)sizeof page;
    if (there && !page.collector_pid)
        there = ring_control_is_fresh(&page);
    else if (there)
        there = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return there;
}
