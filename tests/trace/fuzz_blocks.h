/* SPDX-License-Identifier: Apache-2.0 */
/* From a fuzzer's input to a file of blocks. An input is a byte of flags, then blocks as {u16 length, bytes}, each padded with
 * zeros to a block, so that short inputs make files of several blocks. Since no fuzzer guesses commit words, ids and
 * checksums, flags ask for them to be put right; then damage in what they protect is reached. */
#ifndef TESTS_TRACE_FUZZ_BLOCKS_H
#define TESTS_TRACE_FUZZ_BLOCKS_H

#include <stdint.h>
#include <string.h>

#include "trace/checksum.h"
#include "trace/record_types.h"
#include "trace/trace.h"

enum { REPAIR = 1, SEAL = 2, CUT = 4, BLOCKS_MAX = 4 };

static inline void repair_content(struct trace_record *record)
{
    const struct record_type *type = record_type_find(record->type);
    uint64_t *id = (uint64_t *)(void *)(record + 1);
    if (type && type->is_content && record->size >= type->least_bytes)
        *id = trace_hash(id + 1, record->size - 16u);
}

static inline void repair_block(unsigned char *bytes, uint8_t flags)
{
    struct trace_block_header *header = (void *)bytes;
    uint32_t at = TRACE_HEADER_BYTES;
    header->magic = TRACE_MAGIC;
    header->version_major = TRACE_VERSION_MAJOR;
    header->block_bytes = TRACE_BLOCK_BYTES;
    header->kind = header->kind % 2 + 1;
    header->state = header->state % (TRACE_BLOCK_DRAINED + 1);
    while (at + sizeof(struct trace_record) <= TRACE_BLOCK_BYTES) {
        struct trace_record *record = (void *)(bytes + at);
        if (record->size < sizeof *record || record->size % 8 || record->size > TRACE_BLOCK_BYTES - at)
            break;
        repair_content(record);
        record->commit = trace_commit_word(header->sequence, at);
        at += record->size;
    }
    if (flags & SEAL) {
        header->state = TRACE_BLOCK_SEALED;
        header->used_bytes = at;
        header->checksum = trace_checksum(header, at);
    }
}

/* FILE: BLOCKS_MAX blocks of zeros. Returns how many bytes of it are the file. */
static inline size_t lay_out(const uint8_t *data, size_t size, uint8_t flags, unsigned char *file)
{
    size_t blocks = 0, last = 0;
    while (size >= 2 && blocks < BLOCKS_MAX) {
        size_t length = (size_t)data[0] | (size_t)data[1] << 8;
        data += 2, size -= 2;
        length = length < size ? length : size;
        unsigned char *block = file + blocks++ * TRACE_BLOCK_BYTES;
        memcpy(block, data, length);
        data += length, size -= length;
        last = length;
        if (flags & REPAIR)
            repair_block(block, flags);
    }
    return blocks == 0 ? 0 : flags & CUT ? (blocks - 1) * TRACE_BLOCK_BYTES + last : blocks * TRACE_BLOCK_BYTES;
}

#endif
