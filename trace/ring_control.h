/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of rings: made by the launcher in memory-backed shared memory, one file in it for each recorded process, and
 * this page, which all of them and the collector map. Nobody waits for what is in it. */
#ifndef TRACE_RING_CONTROL_H
#define TRACE_RING_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

#define RING_FOLDER_PREFIX "/dev/shm/rooftap-"
#define RING_CONTROL_FILE  "control"
#define RING_CONTROL_MAGIC 0x0a474e4952544652ull /* "RFTRING\n" */

enum {
    RING_FOLDER_DIGITS = 16, /* hexadecimal, behind the prefix and the user's number */
    RING_CONTROL_VERSION = 1,
    RING_CONTROL_BYTES = 4096,
    RING_BYTES_LEAST = 1 << 20,
    RING_BYTES_DEFAULT = 16 << 20,
    RING_BYTES_MOST = 256 << 20, /* as many blocks as a process's queue of ready ones holds */
    RING_BLOCKS_MOST = RING_BYTES_MOST / TRACE_BLOCK_BYTES + TRACE_SLOT_BLOCKS_MOST,
    RING_STALE_MS = 2000, /* a collector whose heartbeat stands still for so long is taken for gone */
};

struct ring_control {
    uint64_t magic;
    uint32_t version;
    uint32_t collector_pid; /* as the collector sees itself; 0: none yet */
    uint64_t ring_bytes;    /* most that one process takes */
    uint64_t heartbeat_ns;  /* atomic; CLOCK_BOOTTIME when the collector was last seen at work */
    uint64_t folder_id;     /* trace_hash() of the session's folder, as ROOFTAP_DIR names it */
    uint64_t more_bytes; /* most that one process writes itself while nobody drains; 0: as much as there is room for */
    uint64_t reserved[506];
};

/* In FOLDER, with a heartbeat of now, for the session in SESSION_FOLDER. False with errno set. */
bool ring_control_make(const char *folder, uint64_t ring_bytes, const char *session_folder);
/* FOLDER is named as the launcher names such folders, and is this user's alone. */
bool ring_control_is_own_folder(const char *folder);
uint64_t ring_control_folder_id(const char *session_folder);
/* FOLDER and its page must be this user's, and nobody else may have rights in them. NULL with errno set: EPERM if not so,
 * EPROTO for a page of another make. Keeps no descriptor. */
struct ring_control *ring_control_map(const char *folder);
void ring_control_unmap(struct ring_control *control);

uint64_t ring_control_now_ns(void);
void ring_control_beat(struct ring_control *control);
/* Not for a decision on a live writer, whose clock may have been set off in a time namespace: it looks whether the value
 * changes. */
bool ring_control_is_fresh(const struct ring_control *control);

#endif
