/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: the reader on anything. An input is a byte of flags, then blocks as {u16 length, bytes}, each padded
 * with zeros to a block, so that short inputs make files of several blocks. Since no fuzzer guesses commit words, ids and
 * checksums, flags ask for them to be put right; then damage in what they protect is reached. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/checksum.h"
#include "trace/record_types.h"
#include "trace/trace_reader.h"

enum { REPAIR = 1, SEAL = 2, CUT = 4, BLOCKS_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink; /* so that no read of a record is optimised away */

static void repair_content(struct trace_record *record)
{
    const struct record_type *type = record_type_find(record->type);
    uint64_t *id = (uint64_t *)(void *)(record + 1);
    if (type && type->is_content && record->size >= type->least_bytes)
        *id = trace_hash(id + 1, record->size - 16u);
}

static void repair_block(unsigned char *bytes, uint8_t flags)
{
    struct trace_block_header *header = (void *)bytes;
    uint32_t at = TRACE_HEADER_BYTES;
    header->magic = TRACE_MAGIC;
    header->version_major = TRACE_VERSION_MAJOR;
    header->block_bytes = TRACE_BLOCK_BYTES;
    header->kind = header->kind % 2 + 1;
    header->state = header->state % 3;
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

static size_t lay_out(const uint8_t *data, size_t size, uint8_t flags, unsigned char *file)
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

static uint64_t touch(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += p[i];
    return sum;
}

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What trace_reader.h promises of an item. */
static uint64_t use(const struct trace_item *item)
{
    const unsigned char *block = (const void *)item->block, *record = (const void *)item->record;
    require(record == block + item->offset && item->offset + item->record->size <= TRACE_BLOCK_BYTES);
    require(item->record->size >= record_type_find(item->record->type)->least_bytes);
    uint64_t sum = touch(record, item->record->size);
    if (item->record->type == TRACE_RECORD_CALL || item->record->type == TRACE_RECORD_CALL_FAILED) {
        require(item->signature && (const unsigned char *)item->signature < record);
        sum += touch(item->signature, sizeof *item->signature);
    }
    if (item->record->type == TRACE_RECORD_LAUNCH) {
        require(item->shape && (const unsigned char *)item->shape < record);
        sum += touch(item->shape, sizeof *item->shape);
    }
    if (item->text) {
        require(item->text >= (const char *)record &&
                item->text + item->text_bytes <= (const char *)record + item->record->size);
        sum += touch(item->text, item->text_bytes);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_error error;
    struct trace_item item;
    uint8_t flags = size ? data[0] : 0;
    /* Exactly as large as the file, so that a read behind it is seen. */
    unsigned char *file = calloc(BLOCKS_MAX, TRACE_BLOCK_BYTES);
    if (!file)
        return 0;
    size_t file_size = size ? lay_out(data + 1, size - 1, flags, file) : 0;
    unsigned char *exact = realloc(file, file_size ? file_size : 1);
    struct trace_reader *reader = trace_reader_open_memory(exact, file_size, &error);
    if (reader) {
        uint64_t items = 0, sum = 0;
        for (; trace_reader_next(reader, &item); items++)
            sum += use(&item);
        const struct trace_reader_stats *stats = trace_reader_stats(reader);
        require(stats->records == items && stats->file_bytes == file_size);
        sum += touch(trace_reader_counters(reader), sizeof(struct trace_counters));
        for (size_t i = 0; i < trace_reader_slot_count(reader); i++)
            sum += touch(trace_reader_slot(reader, i), sizeof(struct trace_slot));
        require(!trace_reader_next(reader, &item));
        sink = sum;
        trace_reader_close(reader);
    } else {
        require(error.text[0] && !strchr(error.text, '\n'));
    }
    free(exact);
    return 0;
}
