/* SPDX-License-Identifier: Apache-2.0 */
/* What happened to buffers of lengths, in the order in which it did: written by calls, read by the timing's thread. Bounded
 * and without locks; where it was full, everything up to the next look is forgotten, and known to be. */
#ifndef CUPTI_LENGTH_LOG_H
#define CUPTI_LENGTH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LENGTH_LOG_ITEMS = 8192,
    LENGTH_BUFFER_BYTES = 16384, /* of a buffer that is watched, at most */
};

enum length_log_kind {
    LENGTH_LOG_FILLED = 1, /* a copy from the host into a buffer: SNAPSHOT has its bytes */
    LENGTH_LOG_SPOILED,    /* something that is not known was written there */
    LENGTH_LOG_LAUNCH,     /* a kernel that reads READER was launched, by CALL_ID */
    LENGTH_LOG_GRAPH,      /* an executable graph, GRAPH_ID, was */
    LENGTH_LOG_NODE,       /* its node NODE_ID is now what CALL_ID captured */
};

struct length_log_item {
    uint8_t kind; /* enum length_log_kind */
    uint16_t buffer, reader;
    uint16_t snapshot;      /* + 1; 0: none */
    uint32_t offset, bytes; /* in the buffer */
    uint32_t graph_id;
    uint64_t call_id, node_id;
};

/* Maps the memory. May be called again. */
bool length_log_open(void);

/* Any thread. False: no room, and everything is lost until the next length_log_begin(). A snapshot that ITEM holds is freed. */
bool length_log_put(const struct length_log_item *item);

/* Memory for BYTES, LENGTH_BUFFER_BYTES at most; 0: none free, else its number + 1. Free it, or put it. */
unsigned length_log_snapshot(size_t bytes);
void *length_log_bytes(unsigned snapshot);
void length_log_free(unsigned snapshot);

/* One thread: whether something was lost since the last time; then all that is there, for what is gone belongs between. */
bool length_log_begin(void);
bool length_log_take(struct length_log_item *item); /* whoever takes it frees its snapshot */
void length_log_end(bool lost);

#endif
