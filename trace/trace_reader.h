/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one trace file block by block; trusts nothing in it. Memory is constant in the file's length. */
#ifndef TRACE_TRACE_READER_H
#define TRACE_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

enum { TRACE_ERROR_BYTES = 512 };
struct trace_error {
    char text[TRACE_ERROR_BYTES]; /* one line: what, where, what was expected, what to do */
    bool newer_major;             /* the file is of a newer major version */
};

struct trace_reader;

/* What happened on the way; all counted, all shown. */
struct trace_reader_stats {
    uint64_t file_bytes;
    uint64_t blocks, blocks_free, blocks_open, blocks_sealed;
    uint64_t blocks_damaged; /* bad magic, impossible header: skipped; wrong checksum: read with care */
    uint64_t records;
    uint64_t records_unknown; /* of types this reader does not know: skipped */
    uint64_t records_damaged; /* of a size or content that can't be: skipped */
    bool cut_short;           /* the file ends inside a block, or no END record was seen */
    bool ended;               /* an END record was seen */
};

struct trace_item {
    const struct trace_block_header *block;
    uint32_t offset; /* of the record in its block */
    uint64_t file_offset;
    const struct trace_record *record; /* points into the reader's buffer: valid until the next call */
    /* Of SIGNATURE itself, and of CALL and CALL_FAILED: resolved, never NULL there. Whole, whatever version wrote it. */
    const struct trace_signature *signature;
    const struct trace_launch_shape *shape; /* of LAUNCH: resolved, never NULL there */
    const char *text;                       /* of records that end in text; text_bytes checked; not NUL-terminated */
    uint32_t text_bytes;
};

/* Magic, version, size, kind and state can be. */
bool trace_block_header_holds(const struct trace_block_header *header);
/* NULL and *error filled if PATH can't be read or its first block is no trace block. */
struct trace_reader *trace_reader_open(const char *path, struct trace_error *error);
/* The same over memory, for tests and the fuzzer; BYTES is borrowed. */
struct trace_reader *trace_reader_open_memory(const void *bytes, size_t size, struct trace_error *error);
/* The parts of one process's trace as one: the file that its collector wrote, what is still in the ring (a copy, borrowed), and
 * the file in which it went on. Each may be missing (NULL; 0 bytes; no such file), but not all. Blocks of the first that the ring
 * holds as well are the ring's. */
struct trace_reader *trace_reader_open_parts(const char *path, const void *ring, size_t ring_bytes, const char *more,
                                             struct trace_error *error);
/* Next committed record whose size fits its type. False at the end. */
bool trace_reader_next(struct trace_reader *reader, struct trace_item *item);
const struct trace_reader_stats *trace_reader_stats(const struct trace_reader *reader);
/* Slots blocks as they were last written: counters summed over the file's slots blocks, then each used slot. Ask at the end. */
const struct trace_counters *trace_reader_counters(const struct trace_reader *reader);
size_t trace_reader_slot_count(const struct trace_reader *reader);
const struct trace_slot *trace_reader_slot(const struct trace_reader *reader, size_t index);
void trace_reader_close(struct trace_reader *reader);

#endif
