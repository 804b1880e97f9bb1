/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: the reader on anything, laid out as fuzz_blocks.h says. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_blocks.h"
#include "trace/trace_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink; /* so that no read of a record is optimised away */

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
