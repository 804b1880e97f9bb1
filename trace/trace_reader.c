/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a trace file one block at a time into a buffer of its own: with pread, since a file that is cut while it is read
 * would make a mapping fault. Every offset, size and length is checked before it is used; what does not hold is counted. */
#include "trace/trace_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/checksum.h"
#include "trace/record_types.h"
#include "trace/trace_sums.h"

enum {
    PARTS_MOST = 3,
    SLOTS_AT = TRACE_HEADER_BYTES + sizeof(struct trace_counters),
};

struct part {
    const unsigned char *memory; /* NULL: a file */
    size_t memory_bytes;
    int fd;
};

struct slot_place {
    uint32_t part;
    uint64_t offset;
};

struct trace_reader {
    union {
        struct trace_block_header header;
        _Alignas(64) unsigned char bytes[TRACE_BLOCK_BYTES];
    } block;
    /* Of each 8 bytes of the block: the content type of the good record that starts there, 0: none. */
    unsigned char content_at[TRACE_BLOCK_BYTES / 8];
    struct trace_signature older; /* what signature_at() makes of one of an older version */
    struct part part[PARTS_MOST];
    uint32_t parts, at_part;
    uint32_t more_part; /* the file in which the process went on; PARTS_MOST: there is none */
    bool more_summed;   /* the first part says that it holds what is in that one */
    uint64_t *in_ring;  /* sequences of blocks that the first part need not tell, sorted */
    size_t in_ring_count;
    uint64_t next_block; /* offset in the part */
    uint64_t this_block;
    uint64_t bytes_before; /* of the parts before this one */
    uint32_t position;     /* of the next record; == limit: the block is done */
    uint32_t limit;
    bool sealed; /* this block is, so a gap in it is damage */
    bool finished;
    struct trace_reader_stats stats;
    struct slot_place slot_block[TRACE_SLOT_BLOCKS_MOST]; /* a file that says more is not believed */
    size_t slot_blocks;
    struct trace_counters counters;
    struct trace_slot *slots;
    size_t slot_count;
};

static __attribute__((format(printf, 2, 3))) void say(struct trace_error *error, const char *format, ...)
{
    va_list arguments;
    if (!error)
        return;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
}

/* ---- bytes ---- */

/* Up to a block from OFFSET on; what is missing is zero. Returns what there was; -1 with errno set. */
static ssize_t read_at(const struct part *part, uint64_t offset, unsigned char *buffer)
{
    size_t have = 0;
    if (part->memory) {
        if (offset < part->memory_bytes) {
            size_t left = part->memory_bytes - offset;
            have = left < TRACE_BLOCK_BYTES ? left : TRACE_BLOCK_BYTES;
            memcpy(buffer, part->memory + offset, have);
        }
    } else {
        while (have < TRACE_BLOCK_BYTES) {
            ssize_t got = pread(part->fd, buffer + have, TRACE_BLOCK_BYTES - have, (off_t)(offset + have));
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                return -1;
            if (got == 0)
                break;
            have += (size_t)got;
        }
    }
    memset(buffer + have, 0, TRACE_BLOCK_BYTES - have);
    return (ssize_t)have;
}

/* ---- blocks ---- */

enum block_verdict { BLOCK_FREE, BLOCK_RECORDS, BLOCK_SLOTS, BLOCK_DAMAGED };

static bool is_zero(const void *memory, size_t bytes)
{
    const unsigned char *p = memory;
    return bytes == 0 || (p[0] == 0 && memcmp(p, p + 1, bytes - 1) == 0);
}

bool trace_block_header_holds(const struct trace_block_header *header)
{
    return header->magic == TRACE_MAGIC && header->version_major == TRACE_VERSION_MAJOR &&
           header->block_bytes == TRACE_BLOCK_BYTES && header->state <= TRACE_BLOCK_DRAINED &&
           (header->kind == TRACE_BLOCK_RECORDS || header->kind == TRACE_BLOCK_SLOTS);
}

/* A block that is sealed but cut by the end of the file, or whose length can't be, is read like an open one. */
static void judge_seal(struct trace_reader *reader, size_t have)
{
    const struct trace_block_header *header = &reader->block.header;
    bool possible =
        header->used_bytes >= sizeof *header && header->used_bytes <= TRACE_BLOCK_BYTES && header->used_bytes % 8 == 0;
    reader->stats.blocks_sealed++;
    if (possible && header->used_bytes <= have) {
        reader->sealed = true;
        reader->limit = header->used_bytes;
    }
    if (!possible || (reader->sealed && trace_checksum(header, header->used_bytes) != header->checksum))
        reader->stats.blocks_damaged++;
}

/* In HAVE bytes of the block. Sets where its records end and whether gaps in them are damage. */
static enum block_verdict judge_block(struct trace_reader *reader, size_t have)
{
    const struct trace_block_header *header = &reader->block.header;
    if (header->magic == 0 && header->state == TRACE_BLOCK_FREE)
        return BLOCK_FREE; /* space that was allocated ahead, or whose header was being written: magic comes last */
    if (have < sizeof *header || !trace_block_header_holds(header))
        return BLOCK_DAMAGED;
    if (header->state == TRACE_BLOCK_FREE || header->state == TRACE_BLOCK_DRAINED)
        return BLOCK_FREE;
    if (header->kind == TRACE_BLOCK_SLOTS)
        return BLOCK_SLOTS;
    reader->limit = (uint32_t)have & ~7u;
    reader->sealed = false;
    if (header->state == TRACE_BLOCK_SEALED)
        judge_seal(reader, have);
    else
        reader->stats.blocks_open++;
    return BLOCK_RECORDS;
}

static void start_records(struct trace_reader *reader)
{
    reader->position = TRACE_HEADER_BYTES;
    memset(reader->content_at, 0, sizeof reader->content_at);
}

static int by_value(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* It lay in the ring when that was copied, and was taken since; or the collector was killed while it wrote it. */
static bool ring_has_it(const struct trace_reader *reader, size_t have)
{
    const struct trace_block_header *header = &reader->block.header;
    if (!reader->in_ring_count || reader->at_part != 0)
        return false;
    if (have < sizeof *header)
        return true;
    return trace_block_header_holds(header) &&
           bsearch(&header->sequence, reader->in_ring, reader->in_ring_count, sizeof header->sequence, by_value);
}

static bool next_part(struct trace_reader *reader)
{
    reader->bytes_before += reader->next_block;
    reader->next_block = 0;
    if (++reader->at_part == reader->more_part && reader->more_summed)
        reader->at_part++;
    return reader->at_part < reader->parts;
}

/* Takes up the next block that has records. False: the last part has ended. */
static bool next_block(struct trace_reader *reader)
{
    while (reader->at_part < reader->parts) {
        ssize_t have = read_at(&reader->part[reader->at_part], reader->next_block, reader->block.bytes);
        if (have <= 0) {
            if (have < 0)
                reader->stats.cut_short = true;
            if (next_part(reader))
                continue;
            return false;
        }
        reader->this_block = reader->next_block;
        reader->next_block += (uint64_t)have;
        reader->stats.file_bytes = reader->bytes_before + reader->next_block;
        if (ring_has_it(reader, (size_t)have))
            continue;
        reader->stats.blocks++;
        switch (judge_block(reader, (size_t)have)) {
        case BLOCK_FREE:
            reader->stats.blocks_free++;
            break;
        case BLOCK_DAMAGED:
            reader->stats.blocks_damaged++;
            break;
        case BLOCK_SLOTS:
            reader->stats.blocks_open++;
            if (reader->slot_blocks < TRACE_SLOT_BLOCKS_MOST)
                reader->slot_block[reader->slot_blocks++] = (struct slot_place){reader->at_part, reader->this_block};
            else
                reader->stats.blocks_damaged++;
            break;
        case BLOCK_RECORDS:
            start_records(reader);
            if (have < TRACE_BLOCK_BYTES)
                reader->stats.cut_short = true;
            return true;
        }
        if (have < TRACE_BLOCK_BYTES) {
            reader->stats.cut_short = true;
            if (!next_part(reader))
                return false;
        }
    }
    return false;
}

/* ---- slots ---- */

static bool slot_used(const struct trace_slot *slot)
{
    return !is_zero(slot, sizeof *slot);
}

static void add_counters(struct trace_counters *sum, const struct trace_counters *more)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)more;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        if (__builtin_add_overflow(to[i], from[i], &to[i]))
            to[i] = UINT64_MAX;
}

static void take_slots(struct trace_reader *reader, size_t have)
{
    if (have >= SLOTS_AT)
        add_counters(&reader->counters, (const void *)(reader->block.bytes + TRACE_HEADER_BYTES));
    for (size_t at = SLOTS_AT; at + sizeof(struct trace_slot) <= have; at += sizeof(struct trace_slot)) {
        const struct trace_slot *slot = (const void *)(reader->block.bytes + at);
        if (slot_used(slot))
            reader->slots[reader->slot_count++] = *slot;
    }
}

/* Once, when the records have ended: a trace that is still written has changed its slots meanwhile. */
static void read_slots(struct trace_reader *reader)
{
    const size_t in_block = (TRACE_BLOCK_BYTES - SLOTS_AT) / sizeof(struct trace_slot);
    if (reader->slot_blocks == 0)
        return;
    reader->slots = malloc(reader->slot_blocks * in_block * sizeof *reader->slots);
    if (!reader->slots)
        return;
    for (size_t i = 0; i < reader->slot_blocks; i++) {
        const struct slot_place *place = &reader->slot_block[i];
        ssize_t have = read_at(&reader->part[place->part], place->offset, reader->block.bytes);
        if (have >= TRACE_HEADER_BYTES && trace_block_header_holds(&reader->block.header) &&
            reader->block.header.kind == TRACE_BLOCK_SLOTS)
            take_slots(reader, (size_t)have);
    }
}

/* ---- records ---- */

static const struct trace_record *record_at(const struct trace_reader *reader, uint32_t offset)
{
    return (const void *)(reader->block.bytes + offset);
}

static bool committed(const struct trace_reader *reader, uint32_t offset)
{
    return record_at(reader, offset)->commit == trace_commit_word(reader->block.header.sequence, offset);
}

static bool size_fits(const struct trace_reader *reader, const struct trace_record *record)
{
    return record->size >= sizeof *record && record->size % 8 == 0 && record->size <= reader->limit - reader->position;
}

/* In a sealed block every byte belonged to a record: look for the next commit word that fits its place. */
static void skip_damage(struct trace_reader *reader)
{
    reader->stats.records_damaged++;
    do
        reader->position += 8;
    while (reader->position < reader->limit && !committed(reader, reader->position));
}

/* The signature at OFFSET. One of an older version is shorter: what that did not write is unknown. */
static const struct trace_signature *signature_at(struct trace_reader *reader, uint32_t offset)
{
    const struct trace_record *record = record_at(reader, offset);
    struct trace_signature *older = &reader->older;
    if (record->size >= sizeof *older)
        return (const void *)record;
    *older = (struct trace_signature){
        .plane_offset = {TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN},
    };
    memcpy(older, record, record->size);
    return older;
}

/* Its content record, in *item; false if it refers to none. */
static bool resolve(struct trace_reader *reader, const struct record_type *type, struct trace_item *item)
{
    uint32_t offset;
    memcpy(&offset, item->record + 1, sizeof offset);
    if (offset % 8 != 0 || offset >= item->offset || reader->content_at[offset / 8] != type->refers_to)
        return false;
    if (type->refers_to == TRACE_RECORD_SIGNATURE)
        item->signature = signature_at(reader, offset);
    else
        item->shape = (const void *)record_at(reader, offset);
    return true;
}

static bool content_holds(const struct trace_record *record)
{
    const uint64_t *id = (const void *)(record + 1);
    return *id == trace_hash(id + 1, record->size - (uint32_t)sizeof *record - (uint32_t)sizeof *id);
}

/* True if the record is to be handed out. */
static bool accept(struct trace_reader *reader, struct trace_item *item)
{
    const struct record_type *type = record_type_find(item->record->type);
    struct record_text text = {NULL, 0};
    if (!type) {
        reader->stats.records_unknown++;
        return false;
    }
    if (item->record->size < type->least_bytes || (type->check && !type->check(item->record, &text)) ||
        (type->refers_to && !resolve(reader, type, item)) || (type->is_content && !content_holds(item->record))) {
        reader->stats.records_damaged++;
        return false;
    }
    if (type->is_content)
        reader->content_at[item->offset / 8] = (unsigned char)type->type;
    if (type->type == TRACE_RECORD_SIGNATURE)
        item->signature = signature_at(reader, item->offset);
    if (type->type == TRACE_RECORD_END)
        reader->stats.ended = true;
    if (type->type == TRACE_RECORD_SUM_PROCESS &&
        ((const struct trace_sum_process *)(const void *)item->record)->more_summed)
        reader->more_summed = true;
    item->text = text.text;
    item->text_bytes = text.bytes;
    reader->stats.records++;
    return true;
}

static void finish(struct trace_reader *reader)
{
    reader->finished = true;
    read_slots(reader);
    if (!reader->stats.ended)
        reader->stats.cut_short = true;
}

/* The next record of this block, whatever it is; NULL: the block is done. */
static const struct trace_record *next_record(struct trace_reader *reader)
{
    while (reader->position < reader->limit) {
        const struct trace_record *record = record_at(reader, reader->position);
        if (!committed(reader, reader->position)) {
            if (!reader->sealed)
                break; /* what was written so far ends here */
            skip_damage(reader);
        } else if (size_fits(reader, record)) {
            return record;
        } else if (reader->limit < TRACE_BLOCK_BYTES && !reader->sealed) {
            break; /* the file ends in it */
        } else {
            skip_damage(reader);
        }
    }
    reader->position = reader->limit;
    return NULL;
}

bool trace_reader_next(struct trace_reader *reader, struct trace_item *item)
{
    if (reader->finished)
        return false;
    for (;;) {
        const struct trace_record *record = next_record(reader);
        if (!record) {
            if (next_block(reader))
                continue;
            finish(reader);
            return false;
        }
        *item = (struct trace_item){.block = &reader->block.header,
                                    .offset = reader->position,
                                    .file_offset = reader->this_block + reader->position,
                                    .record = record};
        reader->position += record->size;
        if (accept(reader, item))
            return true;
    }
}

/* ---- opening ---- */

/* The first block decides whether this is a trace at all. Leaves nothing taken up. */
static bool check_first(struct trace_reader *reader, uint32_t part, const char *name, struct trace_error *error)
{
    const struct trace_block_header *header = &reader->block.header;
    ssize_t have = read_at(&reader->part[part], 0, reader->block.bytes);
    if (have < 0)
        say(error, "%s: cannot be read: %s", name, strerror(errno));
    else if (have == 0)
        say(error, "%s: empty file: expected a rooftap trace; it may be removed", name);
    else if ((size_t)have < sizeof header->magic || header->magic != TRACE_MAGIC)
        say(error,
            "%s: no rooftap trace: expected \"ROOFTAP\" at offset 0; give the folder or file that `rooftap record` "
            "wrote",
            name);
    else if ((size_t)have < sizeof *header)
        say(error, "%s: cut inside the first block header: expected at least %u bytes, found %zd; it holds nothing",
            name, TRACE_HEADER_BYTES, have);
    else if (header->version_major > TRACE_VERSION_MAJOR) {
        say(error, "%s: trace format %u.%u at offset 8: this rooftap reads major version %u; use a newer rooftap", name,
            header->version_major, header->version_minor, TRACE_VERSION_MAJOR);
        if (error)
            error->newer_major = true;
    } else if (!trace_block_header_holds(header))
        say(error,
            "%s: damaged first block header: version %u.%u, block size %u, kind %u, state %u; expected %u.x, %u, 1 or "
            "2, "
            "0 to 3; record again",
            name, header->version_major, header->version_minor, header->block_bytes, header->kind, header->state,
            TRACE_VERSION_MAJOR, TRACE_BLOCK_BYTES);
    else
        return true;
    return false;
}

static struct trace_reader *allocate(struct trace_error *error)
{
    if (error)
        *error = (struct trace_error){.newer_major = false};
    struct trace_reader *reader = aligned_alloc(64, (sizeof *reader + 63) / 64 * 64);
    if (!reader) {
        say(error, "out of memory: expected %zu bytes for a trace reader", sizeof *reader);
        return NULL;
    }
    memset(reader, 0, sizeof *reader);
    reader->more_part = PARTS_MOST;
    return reader;
}

static struct trace_reader *checked(struct trace_reader *reader, const char *name, struct trace_error *error)
{
    if (check_first(reader, 0, name, error))
        return reader;
    trace_reader_close(reader);
    return NULL;
}

static bool add_file(struct trace_reader *reader, const char *path, struct trace_error *error)
{
    struct stat found;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a pipe must not block */
    if (fd < 0 || fstat(fd, &found) != 0)
        say(error, "%s: cannot be opened: %s; expected a rooftap trace", path, strerror(errno));
    else if (!S_ISREG(found.st_mode))
        say(error, "%s: not a regular file: expected a rooftap trace", path);
    else {
        reader->part[reader->parts++] = (struct part){.fd = fd};
        return true;
    }
    if (fd >= 0)
        close(fd);
    return false;
}

static void add_memory(struct trace_reader *reader, const void *bytes, size_t size)
{
    reader->part[reader->parts++] =
        (struct part){.memory = size ? bytes : (const void *)"", .memory_bytes = size, .fd = -1};
}

struct trace_reader *trace_reader_open(const char *path, struct trace_error *error)
{
    struct trace_reader *reader = allocate(error);
    if (!reader)
        return NULL;
    if (add_file(reader, path, error))
        return checked(reader, path, error);
    trace_reader_close(reader);
    return NULL;
}

static bool note_ring(struct trace_reader *reader, const unsigned char *ring, size_t bytes)
{
    reader->in_ring = malloc((bytes / TRACE_BLOCK_BYTES + 1) * sizeof *reader->in_ring);
    if (!reader->in_ring)
        return false;
    for (size_t at = 0; at + TRACE_BLOCK_BYTES <= bytes; at += TRACE_BLOCK_BYTES) {
        struct trace_block_header header;
        memcpy(&header, ring + at, sizeof header);
        reader->in_ring[reader->in_ring_count++] = header.sequence;
    }
    qsort(reader->in_ring, reader->in_ring_count, sizeof *reader->in_ring, by_value);
    return true;
}

/* Empty ones and those that are not there are left out. */
static bool add_part(struct trace_reader *reader, const char *path, struct trace_error *error)
{
    struct stat found;
    bool is_there = path && stat(path, &found) == 0;
    if (!path || (!is_there && errno == ENOENT) || (is_there && S_ISREG(found.st_mode) && found.st_size == 0))
        return true;
    if (!add_file(reader, path, error))
        return false;
    return check_first(reader, reader->parts - 1, path, error);
}

struct trace_reader *trace_reader_open_parts(const char *path, const void *ring, size_t ring_bytes, const char *more,
                                             struct trace_error *error)
{
    struct trace_reader *reader = allocate(error);
    if (!reader)
        return NULL;
    bool good = add_part(reader, path, error);
    bool has_file = reader->parts == 1;
    if (good && ring_bytes) {
        add_memory(reader, ring, ring_bytes);
        good = !has_file || note_ring(reader, ring, ring_bytes);
        if (!good)
            say(error, "out of memory: expected to note the blocks of a ring");
    }
    uint32_t parts = reader->parts;
    good = good && add_part(reader, more, error);
    if (reader->parts > parts)
        reader->more_part = parts;
    if (good && reader->parts)
        return reader;
    if (good)
        say(error, "%s: empty file: expected a rooftap trace; it may be removed", path ? path : more);
    trace_reader_close(reader);
    return NULL;
}

struct trace_reader *trace_reader_open_memory(const void *bytes, size_t size, struct trace_error *error)
{
    struct trace_reader *reader = allocate(error);
    if (!reader)
        return NULL;
    add_memory(reader, bytes, size);
    return checked(reader, "(memory)", error);
}

const struct trace_reader_stats *trace_reader_stats(const struct trace_reader *reader)
{
    return &reader->stats;
}

const struct trace_counters *trace_reader_counters(const struct trace_reader *reader)
{
    return &reader->counters;
}

size_t trace_reader_slot_count(const struct trace_reader *reader)
{
    return reader->slot_count;
}

const struct trace_slot *trace_reader_slot(const struct trace_reader *reader, size_t index)
{
    return index < reader->slot_count ? &reader->slots[index] : NULL;
}

void trace_reader_close(struct trace_reader *reader)
{
    if (!reader)
        return;
    for (uint32_t i = 0; i < reader->parts; i++)
        if (reader->part[i].fd >= 0)
            close(reader->part[i].fd);
    free(reader->in_ring);
    free(reader->slots);
    free(reader);
}
