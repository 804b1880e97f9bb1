/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks are appended; slots are written again in their place. A block that could be written only in part is written over by
 * the next, so the file stays one of whole blocks. Few files are open at a time, however many processes there are. */
#include "collect/trace_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/block_file.h"
#include "trace/trace_reader.h"

enum { OPEN_FILES_MOST = 64 };

struct placed_slots {
    uint64_t sequence;
    off_t at;
};

struct kept_trace {
    struct sink_process process;
    struct kept_trace *next;
    char name[NAME_MAX + 1];
    int fd;        /* -1: not open now */
    uint64_t used; /* the sink's count when it was last */
    off_t end;
    struct placed_slots slots[TRACE_SLOT_BLOCKS_MOST];
    unsigned slot_count;
    uint64_t *there; /* sequences of blocks that an earlier collector wrote, sorted */
    size_t there_count;
};

struct trace_sink {
    struct sink sink;
    struct kept_trace *traces;
    unsigned open_files;
    uint64_t uses;
    bool go_on;
    char folder[PATH_MAX];
};

static struct trace_sink *sink_of(const struct kept_trace *trace)
{
    return (struct trace_sink *)(void *)trace->process.sink;
}

static struct kept_trace *trace_of(struct sink_process *process)
{
    return (struct kept_trace *)(void *)process;
}

/* ---- files ---- */

static void close_file(struct kept_trace *trace)
{
    if (trace->fd < 0)
        return;
    close(trace->fd);
    trace->fd = -1;
    sink_of(trace)->open_files--;
}

static void close_least_used(struct trace_sink *sink)
{
    struct kept_trace *least = NULL;
    for (struct kept_trace *trace = sink->traces; trace; trace = trace->next)
        if (trace->fd >= 0 && (!least || trace->used < least->used))
            least = trace;
    if (least)
        close_file(least);
}

/* FLAGS: O_CREAT | O_EXCL for a new one. */
static bool open_file(struct kept_trace *trace, int flags)
{
    struct trace_sink *sink = sink_of(trace);
    char path[PATH_MAX];
    trace->used = ++sink->uses;
    if (trace->fd >= 0)
        return true;
    if (snprintf(path, sizeof path, "%s/%s", sink->folder, trace->name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (sink->open_files >= OPEN_FILES_MOST)
        close_least_used(sink);
    trace->fd = block_file_open(path, flags | O_RDWR);
    if (trace->fd < 0)
        return false;
    sink->open_files++;
    return true;
}

static bool write_block(const struct kept_trace *trace, const unsigned char *block, off_t at)
{
    return block_file_write_at(trace->fd, (uint64_t)at, block, TRACE_BLOCK_BYTES);
}

/* What was written of a block that found no room counts as lost, so nobody shall read it. The room of the first is taken, and
 * kept. */
static bool append(struct kept_trace *trace, const unsigned char *block)
{
    if (!open_file(trace, 0))
        return false;
    if (write_block(trace, block, trace->end)) {
        trace->end += TRACE_BLOCK_BYTES;
        return true;
    }
    int why = errno;
    if (trace->end && ftruncate(trace->fd, trace->end) != 0) {
        /* then the next block is written over it, or it is read as one that was cut */
    }
    errno = why;
    return false;
}

/* A trace that has not even its first block is none. With the room taken, slots can tell at the end what was lost. */
static bool begin_file(struct kept_trace *trace)
{
    fchmod(trace->fd, 0600); /* whatever the umask is */
    if (fallocate(trace->fd, FALLOC_FL_KEEP_SIZE, 0, TRACE_BLOCK_BYTES) == 0 || errno == EOPNOTSUPP || errno == ENOSYS)
        return true;
    char path[PATH_MAX];
    int why = errno;
    if (snprintf(path, sizeof path, "%s/%s", sink_of(trace)->folder, trace->name) < PATH_MAX)
        unlink(path);
    errno = why;
    return false;
}

/* ---- what an earlier collector left ---- */

static int by_value(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static bool note_there(struct kept_trace *trace, uint64_t sequence)
{
    if ((trace->there_count & (trace->there_count - 1)) == 0) { /* full at each power of two */
        size_t capacity = trace->there_count ? trace->there_count * 2 : 1;
        uint64_t *grown = realloc(trace->there, capacity * sizeof *grown);
        if (!grown)
            return false;
        trace->there = grown;
    }
    trace->there[trace->there_count++] = sequence;
    return true;
}

/* A block that was cut is written again. */
static bool read_what_is_there(struct kept_trace *trace)
{
    struct stat found;
    struct trace_block_header header;
    if (fstat(trace->fd, &found) != 0)
        return false;
    for (trace->end = 0; trace->end + TRACE_BLOCK_BYTES <= found.st_size; trace->end += TRACE_BLOCK_BYTES) {
        if (pread(trace->fd, &header, sizeof header, trace->end) != (ssize_t)sizeof header)
            return false;
        if (!trace_block_header_holds(&header))
            continue;
        if (header.kind == TRACE_BLOCK_RECORDS && !note_there(trace, header.sequence))
            return false;
        if (header.kind == TRACE_BLOCK_SLOTS && trace->slot_count < TRACE_SLOT_BLOCKS_MOST)
            trace->slots[trace->slot_count++] = (struct placed_slots){header.sequence, trace->end};
    }
    if (trace->there)
        qsort(trace->there, trace->there_count, sizeof *trace->there, by_value);
    return true;
}

static bool is_there(const struct kept_trace *trace, uint64_t sequence)
{
    return trace->there_count && bsearch(&sequence, trace->there, trace->there_count, sizeof sequence, by_value);
}

/* ---- the sink ---- */

static void forget(struct kept_trace *trace)
{
    struct kept_trace **link = &sink_of(trace)->traces;
    while (*link != trace)
        link = &(*link)->next;
    *link = trace->next;
    close_file(trace);
    free(trace->there);
    free(trace);
}

static struct sink_process *open_process(struct sink *base, const char *file_name)
{
    struct trace_sink *sink = (struct trace_sink *)(void *)base;
    struct kept_trace *trace = strlen(file_name) < sizeof trace->name ? calloc(1, sizeof *trace) : NULL;
    if (!trace) {
        errno = ENOMEM;
        return NULL;
    }
    trace->process.sink = base;
    trace->fd = -1;
    strcpy(trace->name, file_name);
    trace->next = sink->traces;
    sink->traces = trace;
    bool done = open_file(trace, O_CREAT | O_EXCL);
    if (done)
        done = begin_file(trace);
    else if (errno == EEXIST && sink->go_on)
        done = open_file(trace, 0) && read_what_is_there(trace);
    if (done)
        return &trace->process;
    int why = errno;
    forget(trace);
    errno = why;
    return NULL;
}

static bool keep_records(struct sink_process *process, const unsigned char *block)
{
    struct kept_trace *trace = trace_of(process);
    const struct trace_block_header *header = (const void *)block;
    return is_there(trace, header->sequence) || append(trace, block);
}

static bool keep_slots(struct sink_process *process, unsigned index, const unsigned char *block)
{
    struct kept_trace *trace = trace_of(process);
    const struct trace_block_header *header = (const void *)block;
    (void)index;
    for (unsigned i = 0; i < trace->slot_count; i++)
        if (trace->slots[i].sequence == header->sequence)
            return open_file(trace, 0) && write_block(trace, block, trace->slots[i].at);
    if (trace->slot_count == TRACE_SLOT_BLOCKS_MOST) {
        errno = EOVERFLOW;
        return false;
    }
    trace->slots[trace->slot_count] = (struct placed_slots){header->sequence, trace->end};
    if (!append(trace, block))
        return false;
    trace->slot_count++;
    return true;
}

/* What was written of a last block that found no room goes. */
static void close_process(struct sink_process *process, bool died)
{
    struct kept_trace *trace = trace_of(process);
    struct stat found;
    (void)died;
    if (open_file(trace, 0) && fstat(trace->fd, &found) == 0 && found.st_size > trace->end &&
        ftruncate(trace->fd, trace->end) != 0) {
        /* then it is read as a block that was cut */
    }
    forget(trace);
}

static bool tick(struct sink *sink, uint64_t now_ns)
{
    (void)sink, (void)now_ns;
    return true;
}

static void end(struct sink *base)
{
    struct trace_sink *sink = (struct trace_sink *)(void *)base;
    while (sink->traces)
        forget(sink->traces);
    free(sink);
}

struct sink *trace_sink_make(const char *folder, bool go_on)
{
    struct trace_sink *sink = calloc(1, sizeof *sink);
    if (!sink)
        return NULL;
    sink->sink = (struct sink){open_process, keep_records, keep_slots, close_process, tick, end, NULL, NULL};
    sink->go_on = go_on;
    snprintf(sink->folder, sizeof sink->folder, "%s", folder);
    return &sink->sink;
}
