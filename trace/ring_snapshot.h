/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of what a ring holds at one moment, for a reader, while its process goes on writing and its collector taking. */
#ifndef TRACE_RING_SNAPSHOT_H
#define TRACE_RING_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

struct ring_snapshot {
    unsigned char *blocks; /* whole ones: slots, then records in the order of their sequence; malloc()ed; NULL: none */
    size_t bytes;
};

/* FOLDER/NAME, which must be this user's alone. False with errno set if there is no such ring, or no memory. */
bool ring_snapshot_read(struct ring_snapshot *snapshot, const char *folder, const char *name);
void ring_snapshot_free(struct ring_snapshot *snapshot);
/* A collector is at work on the rings in FOLDER, or about to begin. */
bool ring_snapshot_has_collector(const char *folder);

#endif
