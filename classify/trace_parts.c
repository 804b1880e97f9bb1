/* SPDX-License-Identifier: Apache-2.0 */
/* The ring before the file: what is taken out of the one meanwhile is in the other, and known by its sequence. A file of sums
 * does not tell which blocks it sums up; but it is put in its place as a whole, so one that was there before the ring was copied
 * has none of the blocks in that copy. */
#include "classify/trace_parts.h"

#include <errno.h>
#include <sys/stat.h>

enum { TRIES_MOST = 16 }; /* sums are written some seconds apart */

struct file_identity {
    dev_t device;
    ino_t inode; /* 0: there is no file. Its number is used again for the next but one */
    struct timespec changed;
};

static struct file_identity identity_of(const char *path)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return (struct file_identity){0, 0, {0, 0}};
    return (struct file_identity){found.st_dev, found.st_ino, found.st_ctim};
}

static bool is_still(const char *path, const struct file_identity *before)
{
    struct file_identity now = identity_of(path);
    return now.device == before->device && now.inode == before->inode && now.changed.tv_sec == before->changed.tv_sec &&
           now.changed.tv_nsec == before->changed.tv_nsec;
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
    for (int tries = 1;; tries++) {
        struct file_identity before = identity_of(path);
        struct trace_reader *reader = open_once(ring, path, ring_folder, name, more, error);
        if (tries == TRIES_MOST || is_still(path, &before))
            return reader;
        trace_reader_close(reader);
        ring_snapshot_free(ring);
    }
}
