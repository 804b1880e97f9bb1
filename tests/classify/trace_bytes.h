/* SPDX-License-Identifier: Apache-2.0 */
/* A trace file out of the structs of trace.h, for tests that make more records than a description can hold. */
#ifndef TESTS_CLASSIFY_TRACE_BYTES_H
#define TESTS_CLASSIFY_TRACE_BYTES_H

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

struct trace_bytes {
    _Alignas(8) unsigned char block[TRACE_BLOCK_BYTES];
    FILE *out;
    uint64_t sequence, anchor_ns; /* of each block, on both clocks */
    uint32_t used;
};

static inline void trace_bytes_end_block(struct trace_bytes *trace)
{
    if (trace->used && fwrite(trace->block, TRACE_BLOCK_BYTES, 1, trace->out) != 1)
        abort();
    trace->used = 0;
}

static inline void trace_bytes_begin_block(struct trace_bytes *trace)
{
    struct trace_block_header header = {
        .magic = TRACE_MAGIC,
        .version_major = TRACE_VERSION_MAJOR,
        .version_minor = TRACE_VERSION_MINOR,
        .block_bytes = TRACE_BLOCK_BYTES,
        .kind = TRACE_BLOCK_RECORDS,
        .state = TRACE_BLOCK_OPEN,
        .process_id_hash = 77,
        .pid = 77,
        .tid = 77,
        .sequence = ++trace->sequence,
        .clock = TRACE_CLOCK_MONOTONIC,
        .ticks_per_second = 1000000000,
        .anchor_ticks = trace->anchor_ns,
        .anchor_realtime_ns = trace->anchor_ns,
    };
    trace_bytes_end_block(trace);
    memset(trace->block, 0, sizeof trace->block);
    memcpy(trace->block, &header, sizeof header);
    trace->used = TRACE_HEADER_BYTES;
}

static inline void trace_bytes_room(struct trace_bytes *trace, size_t bytes)
{
    if (!trace->used || trace->used + bytes > TRACE_BLOCK_BYTES)
        trace_bytes_begin_block(trace);
}

/* Zeroed; its type and size filled in. */
static inline void *trace_bytes_put(struct trace_bytes *trace, enum trace_record_type type, size_t bytes)
{
    bytes = (bytes + 7) & ~(size_t)7;
    trace_bytes_room(trace, bytes);
    struct trace_record *record = (struct trace_record *)(void *)(trace->block + trace->used);
    record->type = (uint16_t)type;
    record->size = (uint16_t)bytes;
    record->commit = trace_commit_word(trace->sequence, trace->used);
    trace->used += (uint32_t)bytes;
    return record;
}

static inline void trace_bytes_open(struct trace_bytes *trace, const char *path, uint64_t anchor_ns)
{
    memset(trace, 0, sizeof *trace);
    trace->anchor_ns = anchor_ns;
    trace->out = fopen(path, "wb");
    if (!trace->out)
        abort();
}

static inline void trace_bytes_close(struct trace_bytes *trace)
{
    trace_bytes_end_block(trace);
    if (fclose(trace->out))
        abort();
}

#endif
