/* SPDX-License-Identifier: Apache-2.0 */
/* A list of all blocks of records, the oldest first. Where there is no room for a new one, the oldest goes: in the same file
 * the new one takes its place; in another file, the last block there does, and that file becomes a block shorter. */
#include "collect/rotation_sink.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "classify/allocate.h"
#include "classify/launch_shapes.h"
#include "collect/block_census.h"
#include "collect/block_file.h"
#include "trace/checksum.h"
#include "trace/trace_sums.h"

enum {
    OTHERS_GROW = 4 * TRACE_BLOCK_BYTES, /* of the files that are not the sink's, between two ticks and at the end */
};

enum place_kind { PLACE_EMPTY, PLACE_RECORDS, PLACE_SLOTS, PLACE_KEPT };

struct rotated_trace;

/* What is at a place of a file. */
struct place {
    enum place_kind kind;
    uint64_t slots_sequence;
    struct rotated_trace *trace; /* of records; so for all that follows */
    size_t index;
    struct place *older, *newer;
    struct block_census census;
    uint64_t begun_realtime_ns;
};

/* Records that are said once, taken out of blocks that went. The first of these blocks begins with the ROTATED record, which
 * is brought up to date in place, so it is never sealed. */
struct kept_records {
    size_t first, index; /* places of the first block and of the one that is being filled */
    uint32_t used;       /* of that one; 0: there is no block yet */
    uint64_t sequence;
    union {
        struct trace_block_header header;
        _Alignas(64) unsigned char bytes[TRACE_BLOCK_BYTES];
    } block;
};

struct rotated_trace {
    struct sink_process process;
    struct rotated_trace *next;
    char path[PATH_MAX];
    const char *name; /* in it */
    struct place **places;
    size_t count, capacity;
    struct trace_rotated rotated;
    struct place *spare;       /* empty: a block could not be written there; NULL: none */
    struct kept_records *kept; /* NULL: nothing was rotated out */
    struct index_map shapes;   /* ids of launch shapes among what is kept */
};

struct rotation_sink {
    struct sink sink;
    char folder[PATH_MAX];
    uint64_t most, others; /* bytes; others: of files that are not the sink's, as last seen */
    size_t blocks;         /* in all files */
    size_t kept_blocks;
    struct place *oldest, *newest;
    struct rotated_trace *traces; /* closed ones, too: their blocks may have to go later */
};

static struct rotation_sink *sink_of(const struct rotated_trace *trace)
{
    return (struct rotation_sink *)(void *)trace->process.sink;
}

static size_t blocks_most(const struct rotation_sink *sink)
{
    uint64_t taken = sink->others + OTHERS_GROW;
    return taken < sink->most ? (size_t)((sink->most - taken) / TRACE_BLOCK_BYTES) : 0;
}

/* ---- the list ---- */

static void list_append(struct rotation_sink *sink, struct place *place)
{
    place->newer = NULL;
    place->older = sink->newest;
    *(sink->newest ? &sink->newest->newer : &sink->oldest) = place;
    sink->newest = place;
}

static void list_remove(struct rotation_sink *sink, struct place *place)
{
    *(place->older ? &place->older->newer : &sink->oldest) = place->newer;
    *(place->newer ? &place->newer->older : &sink->newest) = place->older;
    place->older = place->newer = NULL;
}

/* ---- what is kept of blocks that go ---- */

static void begin_kept_block(struct rotated_trace *trace, size_t index)
{
    struct kept_records *kept = trace->kept;
    uint64_t sequence = kept->sequence + 1;
    struct trace_block_header like = kept->block.header;
    memset(kept->block.bytes, 0, sizeof kept->block.bytes);
    like.kind = TRACE_BLOCK_RECORDS;
    like.state = TRACE_BLOCK_OPEN;
    like.sequence = kept->sequence = sequence;
    like.used_bytes = 0;
    like.checksum = 0;
    kept->block.header = like;
    kept->index = index;
    kept->used = TRACE_HEADER_BYTES;
    trace->places[index]->kind = PLACE_KEPT;
    sink_of(trace)->kept_blocks++;
}

static void append_kept(struct kept_records *kept, const struct trace_record *record)
{
    struct trace_record *copy = (struct trace_record *)(kept->block.bytes + kept->used);
    memcpy(copy, record, record->size);
    copy->commit = trace_commit_word(kept->sequence, kept->used);
    kept->used += record->size;
}

static bool write_kept(const struct rotated_trace *trace)
{
    return block_file_write(trace->path, trace->kept->index, 0, trace->kept->block.bytes, TRACE_BLOCK_BYTES);
}

/* A full one that is not the first, which stays open. */
static bool seal_kept(struct rotated_trace *trace)
{
    struct kept_records *kept = trace->kept;
    if (kept->index == kept->first)
        return write_kept(trace);
    kept->block.header.used_bytes = kept->used;
    kept->block.header.checksum = trace_checksum(&kept->block.header, kept->used);
    kept->block.header.state = TRACE_BLOCK_SEALED;
    return write_kept(trace);
}

/* The first block that goes makes room for what is kept of all. */
static void make_kept(struct rotated_trace *trace, const unsigned char *like, size_t index)
{
    trace->kept = allocate(1, sizeof *trace->kept);
    trace->kept->sequence = TRACE_SUMS_SEQUENCE;
    memcpy(&trace->kept->block.header, like, sizeof trace->kept->block.header);
    begin_kept_block(trace, index);
    trace->kept->first = index;
    trace->rotated.record = (struct trace_record){.type = TRACE_RECORD_ROTATED, .size = sizeof trace->rotated};
    append_kept(trace->kept, &trace->rotated.record);
}

static bool write_rotated(struct rotated_trace *trace)
{
    struct kept_records *kept = trace->kept;
    struct trace_record *record = &trace->rotated.record;
    record->commit = trace_commit_word(TRACE_SUMS_SEQUENCE + 1, TRACE_HEADER_BYTES);
    if (kept->index == kept->first) /* it is in memory still */
        memcpy(kept->block.bytes + TRACE_HEADER_BYTES, record, record->size);
    return block_file_write(trace->path, kept->first, TRACE_HEADER_BYTES, record, record->size);
}

/* On the way of a block's records into those that are kept. */
struct keeping {
    struct rotated_trace *trace;
    size_t index;  /* of the block, whose place may be taken for a new block of kept ones */
    bool taken;    /* it was */
    bool may_take; /* there is room for one more of them */
    bool failed;
};

/* Each block says its shapes again: one of them is enough, of as many as a report tells apart. */
static bool is_kept_already(struct rotated_trace *trace, const struct trace_record *record)
{
    if (record->type != TRACE_RECORD_LAUNCH_SHAPE)
        return false;
    const uint64_t id = ((const struct trace_launch_shape *)(const void *)record)->id;
    if (trace->shapes.count >= LAUNCH_SHAPES_MOST)
        return true;
    uint32_t *known = index_map_at(&trace->shapes, id, 0);
    const bool is_kept = *known != INDEX_MAP_NONE;
    *known = 0;
    return is_kept;
}

static void keep_record(void *context, const struct trace_record *record)
{
    struct keeping *keeping = context;
    if (is_kept_already(keeping->trace, record))
        return;
    struct kept_records *kept = keeping->trace->kept;
    if (kept->used + record->size > TRACE_BLOCK_BYTES) {
        if (keeping->taken || !keeping->may_take) {
            keeping->trace->rotated.said_once_lost++;
            return;
        }
        keeping->failed |= !seal_kept(keeping->trace);
        begin_kept_block(keeping->trace, keeping->index);
        keeping->taken = true;
    }
    append_kept(kept, record);
}

static void count_rotated(struct trace_rotated *rotated, const struct place *place)
{
    rotated->blocks++;
    rotated->calls += place->census.calls;
    rotated->failed_calls += place->census.failed_calls;
    rotated->launches += place->census.launches;
    rotated->kernels += place->census.kernels;
    rotated->copies += place->census.copies;
    if (!rotated->first_realtime_ns || place->begun_realtime_ns < rotated->first_realtime_ns)
        rotated->first_realtime_ns = place->begun_realtime_ns;
    if (place->begun_realtime_ns > rotated->last_realtime_ns)
        rotated->last_realtime_ns = place->begun_realtime_ns;
}

/* PLACE goes: afterwards it is empty, or holds kept records. False: the file can't be read or written. */
static bool rotate_out(struct place *place)
{
    static _Alignas(64) unsigned char block[TRACE_BLOCK_BYTES];
    struct rotated_trace *trace = place->trace;
    struct rotation_sink *sink = sink_of(trace);
    struct keeping keeping = {.trace = trace, .index = place->index};
    const bool holds_kept = place->census.said_once || place->census.shapes;
    bool read = (!holds_kept && trace->kept) || block_file_read(trace->path, place->index, block);
    list_remove(sink, place);
    place->kind = PLACE_EMPTY;
    count_rotated(&trace->rotated, place);
    if (!read) {
        trace->rotated.said_once_lost += place->census.said_once;
        return trace->kept && write_rotated(trace);
    }
    if (!trace->kept) {
        make_kept(trace, block, place->index);
        keeping.taken = true;
    }
    keeping.may_take = sink->kept_blocks < blocks_most(sink) / 4;
    if (holds_kept)
        block_census_of(block, keep_record, &keeping);
    bool changed = holds_kept || keeping.taken;
    return (!changed || write_kept(trace)) && write_rotated(trace) && !keeping.failed;
}

/* ---- places ---- */

/* The last block of the file takes the place INDEX, and the file becomes shorter. Cut first: a kill between the two loses
 * that block, which shows; a block that is there twice would not. */
static bool close_gap(struct rotated_trace *trace, size_t index)
{
    static _Alignas(64) unsigned char block[TRACE_BLOCK_BYTES];
    size_t last = trace->count - 1;
    struct place *gap = trace->places[index], *moved = trace->places[last];
    if (last != index && moved->kind != PLACE_EMPTY && !block_file_read(trace->path, last, block))
        return false;
    if (!block_file_cut(trace->path, last))
        return false;
    trace->count--;
    sink_of(trace)->blocks--;
    if (trace->spare == gap)
        trace->spare = NULL;
    free(gap);
    if (last == index)
        return true;
    trace->places[index] = moved;
    moved->index = index;
    if (trace->kept && trace->kept->first == last)
        trace->kept->first = index;
    if (trace->kept && trace->kept->index == last)
        trace->kept->index = index;
    return moved->kind == PLACE_EMPTY || block_file_write(trace->path, index, 0, block, TRACE_BLOCK_BYTES);
}

/* Makes the sink one block shorter than it is, or FOR_TRACE a place to write over. */
static bool rotate(struct rotation_sink *sink, const struct rotated_trace *for_trace, struct place **place)
{
    while (sink->oldest) {
        struct place *oldest = sink->oldest;
        struct rotated_trace *trace = oldest->trace;
        rotate_out(oldest); /* where that fails, what it could not keep is lost, and counted */
        if (oldest->kind == PLACE_KEPT)
            continue;
        if (trace == for_trace) {
            *place = oldest;
            return true;
        }
        if (close_gap(trace, oldest->index))
            return true;
    }
    errno = ENOSPC;
    return false;
}

static struct place *append_place(struct rotated_trace *trace)
{
    trace->places = allocate_grow(trace->places, trace->count, &trace->capacity, sizeof *trace->places);
    struct place *place = allocate(1, sizeof *place);
    *place = (struct place){.trace = trace, .index = trace->count};
    trace->places[trace->count++] = place;
    sink_of(trace)->blocks++;
    return place;
}

/* For a new block; NULL with errno set: nothing more can go. */
static struct place *find_place(struct rotated_trace *trace)
{
    struct rotation_sink *sink = sink_of(trace);
    struct place *place = NULL;
    if (trace->spare)
        return trace->spare;
    while (sink->blocks >= blocks_most(sink)) {
        if (!rotate(sink, trace, &place))
            return NULL;
        if (place && sink->blocks <= blocks_most(sink))
            return place;
        if (place && !close_gap(trace, place->index)) /* too many still */
            return NULL;
        place = NULL;
    }
    return append_place(trace);
}

/* ---- the calls of a sink ---- */

static bool put_block(struct rotated_trace *trace, struct place *place, enum place_kind kind,
                      const unsigned char *block)
{
    bool written = block_file_write(trace->path, place->index, 0, block, TRACE_BLOCK_BYTES);
    place->kind = written ? kind : PLACE_EMPTY;
    trace->spare = written ? NULL : place;
    return written;
}

static bool keep_records(struct sink_process *process, const unsigned char *block)
{
    struct rotated_trace *trace = (struct rotated_trace *)(void *)process;
    const struct trace_block_header *header = (const void *)block;
    struct place *place = find_place(trace);
    if (!place || !put_block(trace, place, PLACE_RECORDS, block))
        return false;
    place->census = block_census_of(block, NULL, NULL);
    place->begun_realtime_ns = header->anchor_realtime_ns;
    list_append(sink_of(trace), place);
    return true;
}

static bool keep_slots(struct sink_process *process, unsigned index, const unsigned char *block)
{
    struct rotated_trace *trace = (struct rotated_trace *)(void *)process;
    const struct trace_block_header *header = (const void *)block;
    unsigned slots = 0;
    (void)index;
    for (size_t i = 0; i < trace->count; i++) {
        struct place *place = trace->places[i];
        slots += place->kind == PLACE_SLOTS;
        if (place->kind == PLACE_SLOTS && place->slots_sequence == header->sequence)
            return block_file_write(trace->path, i, 0, block, TRACE_BLOCK_BYTES);
    }
    if (slots == TRACE_SLOT_BLOCKS_MOST) {
        errno = EOVERFLOW;
        return false;
    }
    struct place *place = find_place(trace);
    if (!place || !put_block(trace, place, PLACE_SLOTS, block))
        return false;
    place->slots_sequence = header->sequence;
    return true;
}

static struct sink_process *open_process(struct sink *base, const char *file_name)
{
    struct rotation_sink *sink = (struct rotation_sink *)(void *)base;
    struct rotated_trace *trace = allocate(1, sizeof *trace);
    trace->process.sink = base;
    int length = snprintf(trace->path, sizeof trace->path, "%s/%s", sink->folder, file_name);
    errno = ENAMETOOLONG;
    if (length >= (int)sizeof trace->path || !block_file_make(trace->path)) {
        int why = errno;
        free(trace);
        errno = why;
        return NULL;
    }
    trace->name = trace->path + strlen(sink->folder) + 1;
    trace->next = sink->traces;
    sink->traces = trace;
    return &trace->process;
}

static void close_process(struct sink_process *process, bool died)
{
    (void)process, (void)died; /* its blocks grow old like others */
}

/* ---- room that others take ---- */

static bool is_own(const struct rotation_sink *sink, const char *name)
{
    for (const struct rotated_trace *trace = sink->traces; trace; trace = trace->next)
        if (!strcmp(trace->name, name))
            return true;
    return false;
}

static void measure_others(struct rotation_sink *sink)
{
    DIR *folder = opendir(sink->folder);
    uint64_t bytes = 0;
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        struct stat found;
        if (!is_own(sink, entry->d_name) && !fstatat(dirfd(folder), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) &&
            S_ISREG(found.st_mode))
            bytes += (uint64_t)found.st_size;
    }
    if (folder) {
        closedir(folder);
        sink->others = bytes;
    }
}

static bool tick(struct sink *base, uint64_t now_ns)
{
    struct rotation_sink *sink = (struct rotation_sink *)(void *)base;
    struct place *place = NULL;
    (void)now_ns;
    measure_others(sink);
    while (sink->blocks > blocks_most(sink))
        if (!rotate(sink, NULL, &place))
            return false;
    return true;
}

static void end(struct sink *base)
{
    struct rotation_sink *sink = (struct rotation_sink *)(void *)base;
    struct rotated_trace *trace;
    while ((trace = sink->traces)) {
        sink->traces = trace->next;
        for (size_t i = 0; i < trace->count; i++)
            free(trace->places[i]);
        free(trace->places);
        free(trace->kept);
        index_map_free(&trace->shapes);
        free(trace);
    }
    free(sink);
}

struct sink *rotation_sink_make(const char *folder, uint64_t most)
{
    struct rotation_sink *sink = calloc(1, sizeof *sink);
    if (!sink)
        return NULL;
    sink->sink = (struct sink){open_process, keep_records, keep_slots, close_process, tick, end, NULL, NULL};
    sink->most = most;
    snprintf(sink->folder, sizeof sink->folder, "%s", folder);
    measure_others(sink);
    return &sink->sink;
}
