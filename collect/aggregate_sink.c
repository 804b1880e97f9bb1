/* SPDX-License-Identifier: Apache-2.0 */
/* Each drained block is read like a file of one block and joined as a report would; what a report makes of the join is
 * decided when one is asked for. */
#include "collect/aggregate_sink.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "classify/allocate.h"
#include "classify/join_sums.h"
#include "collect/block_file.h"
#include "collect/loss_book.h"
#include "collect/record_samples.h"
#include "collect/sums_file.h"
#include "trace/clock.h"
#include "trace/ring_control.h"
#include "trace/trace_name.h"
#include "trace/trace_reader.h"

struct aggregate_sink {
    struct sink sink;
    struct aggregate_process *processes;
    char folder[PATH_MAX];
};

struct aggregate_process {
    struct sink_process process;
    struct aggregate_process *next;
    char *name;
    struct name_pool names;
    struct operator_join join;
    struct joined_sums sums;
    struct record_samples samples;
    struct trace_block_header like; /* magic 0: no block has come yet */
    bool ended, changed;
    uint64_t blocks_written, records_written; /* of the sums, when the file was last written */
    uint64_t end_ns;                          /* CLOCK_REALTIME */
    uint64_t write_at_ns;                     /* CLOCK_BOOTTIME; 0: it was never asked */
    unsigned char *slots[TRACE_SLOT_BLOCKS_MOST];
};

static struct aggregate_sink *sink_of(const struct aggregate_process *process)
{
    return (struct aggregate_sink *)process->process.sink;
}

/* ---- writing ---- */

static void put_end(const struct aggregate_process *process, struct sums_file *file)
{
    struct trace_end end = {.record = {.type = TRACE_RECORD_END, .size = sizeof end}, .ticks = process->end_ns};
    if (process->ended)
        sums_file_put(file, NULL, &end.record);
}

/* Sets *BYTES to the size of the file. */
static bool write_file(struct aggregate_process *process, bool final, uint64_t *bytes)
{
    struct sums_file *file = allocate(1, sizeof *file);
    struct joined_sums sums = process->sums;
    sums.final = final;
    sums.written_realtime_ns = clock_realtime_ns();
    sums.samples_of = process->samples.offered;
    sums_file_open(file, sink_of(process)->folder, process->name, &process->like);
    helper_nodes_count(&process->join);
    join_sums_write(&process->join, &sums, sums_file_put, file);
    record_samples_write(&process->samples, sums_file_put, file);
    put_end(process, file);
    for (unsigned i = 0; i < TRACE_SLOT_BLOCKS_MOST; i++)
        if (process->slots[i])
            sums_file_put_block(file, process->slots[i]);
    bool written = sums_file_close(file);
    *bytes = file->bytes;
    free(file);
    if (written) {
        process->changed = false;
        process->blocks_written = sums.blocks;
        process->records_written = sums.records;
    }
    return written;
}

/* ---- the calls of a sink ---- */

static struct sink_process *open_process(struct sink *sink, const char *file_name)
{
    struct aggregate_sink *aggregate = (struct aggregate_sink *)sink;
    struct aggregate_process *process = allocate(1, sizeof *process);
    process->process.sink = sink;
    process->name = allocate_text(file_name);
    operator_join_open_bounded(&process->join, &process->names);
    record_samples_open(&process->samples, trace_hash(file_name, (uint32_t)strlen(file_name)));
    process->next = aggregate->processes;
    aggregate->processes = process;
    return &process->process;
}

static void take_stats(struct joined_sums *sums, const struct trace_reader_stats *stats)
{
    sums->blocks++;
    sums->records += stats->records;
    sums->blocks_damaged += stats->blocks_damaged;
    sums->records_damaged += stats->records_damaged;
    sums->records_unknown += stats->records_unknown;
}

static uint64_t end_ns_of(const struct trace_item *item)
{
    const struct trace_block_header *block = item->block;
    double ticks = (double)(int64_t)(((const struct trace_end *)item->record)->ticks - block->anchor_ticks);
    double ns = block->ticks_per_second ? ticks / (double)block->ticks_per_second * 1e9 : 0;
    return block->anchor_realtime_ns + (uint64_t)(ns > 0 && ns < 9e18 ? ns : 0);
}

static bool add_records(struct sink_process *sink_process, const unsigned char *block)
{
    struct aggregate_process *process = (struct aggregate_process *)sink_process;
    struct trace_item item;
    struct trace_reader *reader = trace_reader_open_memory(block, TRACE_BLOCK_BYTES, NULL);
    process->changed = true;
    if (!reader) {
        process->sums.blocks++;
        process->sums.blocks_damaged++;
        return true;
    }
    if (!process->like.magic)
        memcpy(&process->like, block, sizeof process->like);
    while (trace_reader_next(reader, &item)) {
        operator_join_add(&process->join, &item);
        record_samples_offer(&process->samples, &item);
        if (item.record->type == TRACE_RECORD_END) {
            process->ended = true;
            process->end_ns = end_ns_of(&item);
        }
    }
    take_stats(&process->sums, trace_reader_stats(reader));
    trace_reader_close(reader);
    return true;
}

static bool take_slots(struct sink_process *sink_process, unsigned index, const unsigned char *block)
{
    struct aggregate_process *process = (struct aggregate_process *)sink_process;
    if (index >= TRACE_SLOT_BLOCKS_MOST) {
        errno = EOVERFLOW;
        return false;
    }
    if (!process->slots[index])
        process->slots[index] = allocate(TRACE_BLOCK_BYTES, 1);
    else if (!memcmp(process->slots[index], block, TRACE_BLOCK_BYTES))
        return true;
    memcpy(process->slots[index], block, TRACE_BLOCK_BYTES);
    if (!process->like.magic)
        memcpy(&process->like, block, sizeof process->like);
    process->changed = true;
    return true;
}

static void free_process(struct aggregate_process *process)
{
    operator_join_close(&process->join);
    name_pool_free(&process->names);
    record_samples_close(&process->samples);
    for (unsigned i = 0; i < TRACE_SLOT_BLOCKS_MOST; i++)
        free(process->slots[i]);
    free(process->name);
    free(process);
}

/* What the process wrote itself while it took the collector for gone: summed as well, once it writes no more. */
static void sum_more(struct aggregate_process *process, const char *path)
{
    static _Alignas(64) unsigned char block[TRACE_BLOCK_BYTES];
    const struct trace_block_header *header = (const void *)block;
    unsigned slots = 0;
    while (slots < sizeof process->slots / sizeof process->slots[0] && process->slots[slots])
        slots++;
    for (size_t place = 0; block_file_read(path, place, block); place++) {
        if (process->process.sink->control)
            ring_control_beat(process->process.sink->control);
        if (!trace_block_header_holds(header) || header->process_id_hash != process->like.process_id_hash)
            continue;
        process->sums.more_summed = true;
        if (header->kind == TRACE_BLOCK_SLOTS)
            take_slots(&process->process, slots++, block);
        else if (header->state == TRACE_BLOCK_OPEN || header->state == TRACE_BLOCK_SEALED)
            add_records(&process->process, block);
    }
    if (errno != ENOENT && errno != ENODATA) /* its end */
        process->sums.blocks_damaged++;
}

static void lose(const struct aggregate_process *process, const struct joined_sums *taken, int error)
{
    if (process->process.sink->losses)
        loss_book_add_many(process->process.sink->losses, process->name, taken->blocks - process->blocks_written,
                           taken->records - process->records_written, error);
}

/* The file that was summed as well goes last: until then the sums tell readers to leave it out. */
static void write_last(struct aggregate_process *process, bool died)
{
    const struct joined_sums taken = process->sums;
    char more[PATH_MAX];
    uint64_t bytes;
    size_t stem = trace_name_stem(process->name, TRACE_FILE_SUFFIX);
    bool has_path = snprintf(more, sizeof more, "%s/%.*s" TRACE_MORE_SUFFIX, sink_of(process)->folder, (int)stem,
                             process->name) < (int)sizeof more;
    if (died && has_path)
        sum_more(process, more);
    operator_join_end(&process->join);
    if (!write_file(process, died, &bytes))
        lose(process, &taken, errno);
    else if (process->sums.more_summed)
        unlink(more);
}

static void close_process(struct sink_process *sink_process, bool died)
{
    struct aggregate_process *process = (struct aggregate_process *)sink_process;
    struct aggregate_process **at = &sink_of(process)->processes;
    if (process->like.magic)
        write_last(process, died);
    while (*at != process)
        at = &(*at)->next;
    *at = process->next;
    free_process(process);
}

static bool tick(struct sink *sink, uint64_t now_ns)
{
    bool all = true;
    int error = 0;
    for (struct aggregate_process *p = ((struct aggregate_sink *)sink)->processes; p; p = p->next) {
        uint64_t bytes, wait_ns;
        if (!p->changed || !p->like.magic || now_ns < p->write_at_ns)
            continue;
        if (!write_file(p, false, &bytes)) {
            all = false;
            error = errno;
        }
        wait_ns = bytes * (1000000000 / AGGREGATE_BYTES_PER_SECOND);
        p->write_at_ns = now_ns + (wait_ns > AGGREGATE_PERIOD_NS ? wait_ns : AGGREGATE_PERIOD_NS);
    }
    errno = error;
    return all;
}

static void end(struct sink *sink)
{
    struct aggregate_sink *aggregate = (struct aggregate_sink *)sink;
    while (aggregate->processes)
        close_process(&aggregate->processes->process, false);
    free(aggregate);
}

struct sink *aggregate_sink_make(const char *folder)
{
    struct aggregate_sink *aggregate = calloc(1, sizeof *aggregate);
    if (!aggregate)
        return NULL;
    aggregate->sink = (struct sink){open_process, add_records, take_slots, close_process, tick, end, NULL, NULL};
    snprintf(aggregate->folder, sizeof aggregate->folder, "%s", folder);
    return &aggregate->sink;
}
