/* SPDX-License-Identifier: Apache-2.0 */
/* The ring before the file: what is taken out of the one meanwhile is in the other, and known by its sequence. A file of sums
 * does not tell which blocks it sums up; but it is put in its place as a whole, so one that was there before the ring was copied
 * has none of the blocks in that copy. */
#include "classify/trace_parts.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { TRIES_MOST = 16 }; /* sums are written some seconds apart */

/* Which file stands under a name: not the bytes in it, for one that holds records only grows. An inode's number alone does
 * not tell, since the next but one to be made gets it again. */
struct file_identity {
    uint64_t inode; /* 0: there is no file */
    struct statx_timestamp made;
};

static struct file_identity identity_of(const char *path)
{
    struct statx found;
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME | STATX_CTIME, &found) != 0)
        return (struct file_identity){0};
    /* A file system that does not keep when a file was made: one that grows is read again then, to no harm. */
    return (struct file_identity){found.stx_ino, found.stx_mask & STATX_BTIME ? found.stx_btime : found.stx_ctime};
}

static bool is_still(const char *path, const struct file_identity *before)
{
    struct file_identity now = identity_of(path);
    return now.inode == before->inode && now.made.tv_sec == before->made.tv_sec &&
           now.made.tv_nsec == before->made.tv_nsec;
}

static struct trace_reader *open_once(struct ring_snapshot *ring, const char *path, const char *ring_folder,
                                      const char *name, const char *more, struct trace_error *error)
{
    struct stat found;
    *ring = (struct ring_snapshot){0};
    if (ring_folder)
        ring_snapshot_read(ring, ring_folder, name);
    if (more && stat(more, &found) != 0)
        more = NULL;
    return ring->bytes || more ? trace_reader_open_parts(path, ring->blocks, ring->bytes, more, error)
                               : trace_reader_open(path, error);
}

struct trace_reader *trace_parts_open(struct ring_snapshot *ring, const char *path, const char *ring_folder,
                                      const char *name, const char *more, struct trace_error *error)
{
    for (int tries = 0; tries < TRIES_MOST; tries++) {
        struct file_identity before = identity_of(path);
        struct trace_reader *reader = open_once(ring, path, ring_folder, name, more, error);
        if (is_still(path, &before))
            return reader;
        trace_reader_close(reader);
        ring_snapshot_free(ring);
    }
    /* Sums that are written faster than they are read: without the ring the newest calls are missing, but none is there twice. */
    return open_once(ring, path, NULL, name, more, error);
}
