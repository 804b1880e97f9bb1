/* SPDX-License-Identifier: Apache-2.0 */
/* One line a process; the last line takes all for which there is none. */
#include "collect/loss_book.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/clock.h"
#include "trace/trace.h"

static const char others[] = "others";

/* What a record without its contents can't be read with is no record more. */
static bool is_content(uint16_t type)
{
    return type == TRACE_RECORD_SIGNATURE || type == TRACE_RECORD_LAUNCH_SHAPE || type == TRACE_RECORD_GROUPS;
}

/* Committed ones, as a host counts what it drops, up to the first that can't be. */
static uint64_t count_records(const unsigned char *block)
{
    const struct trace_block_header *header = (const void *)block;
    uint64_t count = 0;
    for (uint32_t at = TRACE_HEADER_BYTES; at + sizeof(struct trace_record) <= TRACE_BLOCK_BYTES;) {
        const struct trace_record *record = (const void *)(block + at);
        if (record->commit != trace_commit_word(header->sequence, at) || record->size < sizeof *record ||
            record->size % 8 != 0)
            break;
        count += !is_content(record->type);
        at += record->size;
    }
    return count;
}

void loss_book_open(struct loss_book *book, const char *folder)
{
    *book = (struct loss_book){.folder = folder};
    book->count = (unsigned)losses_read(folder, book->lines);
}

static unsigned line_of(struct loss_book *book, const char *name)
{
    for (unsigned i = 0; i < book->count; i++)
        if (strcmp(book->lines[i].name, name) == 0)
            return i;
    if (book->count == LOSS_SLOTS)
        return LOSS_SLOTS - 1;
    snprintf(book->lines[book->count].name, LOSS_NAME_BYTES, "%s",
             book->count == LOSS_SLOTS - 1 || strlen(name) >= LOSS_NAME_BYTES ? others : name);
    return book->count++;
}

void loss_book_add(struct loss_book *book, const char *name, const unsigned char *block, int error)
{
    loss_book_add_many(book, name, 1, count_records(block), error);
}

void loss_book_add_many(struct loss_book *book, const char *name, uint64_t blocks, uint64_t records, int error)
{
    unsigned at = line_of(book, name);
    struct loss *line = &book->lines[at];
    int64_t now_ns = (int64_t)clock_realtime_ns();
    if (!line->error) {
        line->error = error > 0 && error < 4096 ? error : EIO;
        line->first_realtime_ns = now_ns;
    }
    if (!book->first_errno)
        book->first_errno = error > 0 ? error : (int)line->error;
    line->last_realtime_ns = now_ns;
    line->blocks += (int64_t)blocks;
    line->records += (int64_t)records;
    book->records += records;
    book->changed[at] = true;
}

void loss_book_write(struct loss_book *book)
{
    for (unsigned i = 0; i < book->count; i++)
        if (book->changed[i] && losses_set(book->folder, i, &book->lines[i]))
            book->changed[i] = false;
}
