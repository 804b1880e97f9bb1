/* SPDX-License-Identifier: Apache-2.0 */
/* The file behind a writer: made, grown and mapped here; all of the writer's system calls on it are in this file. Slow
 * path only, one caller at a time. Keeps no descriptor. */
#ifndef TRACE_TRACE_FILE_H
#define TRACE_TRACE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRACE_FILE_WINDOWS = 4096 };

struct trace_file {
    char path[PATH_MAX]; /* absolute: the host may change its directory */
    dev_t device;
    ino_t inode;
    uint64_t bytes;        /* allocated so far */
    uint64_t most_bytes;   /* 0: no limit of its own */
    uint64_t window_bytes; /* address range that the next mapping takes */
    uint64_t window_used;  /* of the last window */
    uint32_t windows;
    bool populate_unknown; /* this kernel has no MADV_POPULATE_WRITE */
    struct {
        unsigned char *address;
        uint64_t bytes;
    } window[TRACE_FILE_WINDOWS];
};

/* Makes FOLDER/NAME.part, to be renamed by trace_file_publish() when its first block can be read. MOST_BYTES it may have, 0:
 * as many as there is room for. False with errno set. */
bool trace_file_create(struct trace_file *file, const char *folder, const char *name, uint64_t most_bytes);
bool trace_file_publish(struct trace_file *file);
/* BYTES more (a multiple of the page size): mapped, zero and really allocated, so that writing there can't be SIGBUS.
 * NULL with errno set: nothing changed. */
unsigned char *trace_file_grow(struct trace_file *file, uint64_t bytes);
/* These bytes are not touched again soon: take them out of the host's resident set. */
void trace_file_forget(void *address, uint64_t bytes);
bool trace_file_holds(const struct trace_file *file, const void *address);
void trace_file_remove(struct trace_file *file);
void trace_file_unmap(struct trace_file *file);

#endif
