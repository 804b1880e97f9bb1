/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the log: copies change contents, launches find what stands there. A run is a reader in one executable graph, or
 * in eager calls, over launches in a row that found the same. */
#include "cupti/length_runs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cupti/length_reads.h"
#include "trace/clock.h"
#include "trace/trace_writer.h"

enum { WORD = 4, WORDS = LENGTH_BUFFER_BYTES / WORD, WRITE_TRIES = 20 };
static const uint64_t lasting_ns = 1000000000;

struct content {
    unsigned char bytes[LENGTH_BUFFER_BYTES];
    bool known[WORDS];
};

struct values {
    int64_t least, most, sum;
};

struct run {
    uint64_t node_id; /* of the first of the nodes that read it; 0: eager */
    uint64_t call_id;
    uint64_t launches, first_ticks, first_ns;
    struct values values;
    uint32_t graph_id;
    uint16_t reader;
    bool ended; /* the node is another call's now */
};

static struct content *contents[LENGTHS_BUFFERS_MOST];
static struct run runs[LENGTH_RUNS_MOST];
static unsigned run_count;
static uint64_t unknown_launches;

/* ---- contents ---- */

static struct content *content_of(unsigned buffer)
{
    if (buffer < LENGTHS_BUFFERS_MOST && !contents[buffer])
        contents[buffer] = calloc(1, sizeof **contents);
    return buffer < LENGTHS_BUFFERS_MOST ? contents[buffer] : NULL;
}

/* A word is known when all of it was written at once. */
static void fill(const struct length_log_item *item)
{
    struct content *content = content_of(item->buffer);
    if (!content || item->bytes > LENGTH_BUFFER_BYTES || item->offset > LENGTH_BUFFER_BYTES - item->bytes)
        return;
    uint32_t first = item->offset / WORD, end = (item->offset + item->bytes + WORD - 1) / WORD;
    memset(&content->known[first], 0, (end - first) * sizeof content->known[0]);
    if (item->kind != LENGTH_LOG_FILLED || !item->snapshot)
        return;
    memcpy(content->bytes + item->offset, length_log_bytes(item->snapshot), item->bytes);
    first = (item->offset + WORD - 1) / WORD;
    end = (item->offset + item->bytes) / WORD;
    for (uint32_t i = first; i < end; i++)
        content->known[i] = true;
}

static int64_t element_at(const unsigned char *bytes, uint32_t element_bytes, uint32_t index)
{
    int32_t narrow;
    int64_t wide;
    if (element_bytes == sizeof wide) {
        memcpy(&wide, bytes + (size_t)index * sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, bytes + (size_t)index * sizeof narrow, sizeof narrow);
    return narrow;
}

/* False: what stands there can be no lengths. */
static bool values_in(const struct length_reader *reader, const unsigned char *bytes, struct values *values)
{
    *values = (struct values){.least = INT64_MAX, .most = INT64_MIN};
    for (uint32_t i = 0; i < reader->count; i++) {
        int64_t length = element_at(bytes, reader->element_bytes, i);
        if (reader->cumulative &&
            __builtin_sub_overflow(element_at(bytes, reader->element_bytes, i + 1), length, &length))
            return false;
        values->least = length < values->least ? length : values->least;
        values->most = length > values->most ? length : values->most;
        if (length < 0 || __builtin_add_overflow(values->sum, length, &values->sum))
            return false;
    }
    return true;
}

static bool values_now(const struct length_reader *reader, struct values *values)
{
    const struct content *content = contents[reader->buffer];
    uint32_t words = (reader->count + reader->cumulative) * (reader->element_bytes / WORD);
    for (uint32_t i = 0; content && i < words; i++)
        if (!content->known[i])
            return false;
    return content && values_in(reader, content->bytes, values);
}

/* ---- records ---- */

static struct trace_lengths *reserve(struct trace_thread *thread)
{
    struct trace_lengths *record = thread ? trace_reserve(thread, TRACE_RECORD_LENGTHS, sizeof *record) : NULL;
    for (unsigned i = 0; thread && !record && i < WRITE_TRIES; i++) { /* this thread may wait for blocks */
        __atomic_fetch_sub(&trace_thread_slot(thread)->records_dropped, 1, __ATOMIC_RELAXED);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        record = trace_reserve(thread, TRACE_RECORD_LENGTHS, sizeof *record);
    }
    return record;
}

static void write(const struct run *run, const struct length_reader *reader, struct values values, uint64_t launches,
                  enum trace_lengths_how how)
{
    struct trace_thread *thread = trace_thread_get();
    struct trace_lengths *record = reserve(thread);
    if (!record)
        return;
    record->ticks = run->first_ticks;
    record->call_id = run->call_id;
    record->address = reader->address;
    record->how = how;
    record->graph_id = run->graph_id;
    record->count = reader->count;
    record->cumulative = reader->cumulative;
    record->least = values.least;
    record->most = values.most;
    record->sum = values.sum;
    record->launches = launches;
    trace_commit(thread, record);
}

static void end_run(struct run *run)
{
    const struct length_reader *reader = run->launches ? lengths_reader(run->reader) : NULL;
    if (reader)
        write(run, reader, run->values, run->launches, TRACE_LENGTHS_COPIED);
    run->launches = 0;
}

/* ---- launches ---- */

/* Whether its lengths are known. */
static bool launched(struct run *run, uint64_t call_id)
{
    struct values values;
    const struct length_reader *reader = lengths_reader(run->reader);
    if (!reader || !values_now(reader, &values)) {
        end_run(run);
        unknown_launches++;
        return false;
    }
    if (run->launches && memcmp(&values, &run->values, sizeof values) != 0)
        end_run(run);
    if (!run->launches) {
        run->values = values;
        run->call_id = call_id;
        run->first_ticks = clock_ticks();
        run->first_ns = clock_monotonic_ns();
    }
    run->launches++;
    return true;
}

static struct run *run_of(unsigned reader, uint32_t graph_id)
{
    for (unsigned i = 0; i < run_count; i++)
        if (runs[i].reader == reader && runs[i].graph_id == graph_id && !runs[i].ended)
            return &runs[i];
    for (unsigned i = 0; i < run_count; i++)
        if (runs[i].ended) {
            runs[i] = (struct run){.reader = (uint16_t)reader, .graph_id = graph_id};
            return &runs[i];
        }
    if (run_count == LENGTH_RUNS_MOST)
        return NULL;
    runs[run_count] = (struct run){.reader = (uint16_t)reader, .graph_id = graph_id};
    return &runs[run_count++];
}

/* The node was another call's until now, if it was any's. */
static void node_changed(const struct length_log_item *item)
{
    uint32_t graph_id = (uint32_t)(item->node_id >> 32);
    for (unsigned i = 0; i < run_count; i++)
        if (runs[i].node_id == item->node_id && !runs[i].ended && runs[i].call_id != item->call_id) {
            end_run(&runs[i]);
            runs[i].ended = true;
        }
    const struct length_reader *reader = item->call_id ? lengths_reader(item->reader) : NULL;
    struct run *run = reader ? run_of(item->reader, graph_id) : NULL;
    if (!run)
        return;
    run->node_id = item->node_id;
    run->call_id = item->call_id;
    lengths_capture_is_in(reader->capture, graph_id);
}

static void plan_read(const struct run *run, bool known)
{
    const struct length_reader *reader = lengths_reader(run->reader);
    if (reader)
        length_reads_plan(run->graph_id, reader->buffer, reader->address,
                          (reader->count + reader->cumulative) * reader->element_bytes, !known);
}

static void graph_launched(uint32_t graph_id)
{
    for (unsigned i = 0; graph_id && i < run_count; i++) {
        if (runs[i].graph_id != graph_id || runs[i].ended)
            continue;
        bool known = launched(&runs[i], runs[i].call_id);
        if (atomic_load(&length_reads_wanted))
            plan_read(&runs[i], known);
    }
}

void length_runs_take(const struct length_log_item *item)
{
    struct run *run;
    switch ((enum length_log_kind)item->kind) {
    case LENGTH_LOG_FILLED:
    case LENGTH_LOG_SPOILED:
        fill(item);
        break;
    case LENGTH_LOG_LAUNCH:
        run = run_of(item->reader, 0);
        if (run)
            launched(run, item->call_id);
        break;
    case LENGTH_LOG_GRAPH:
        graph_launched(item->graph_id);
        break;
    case LENGTH_LOG_NODE:
        node_changed(item);
        break;
    }
}

void length_runs_forget(void)
{
    for (unsigned i = 0; i < LENGTHS_BUFFERS_MOST; i++)
        if (contents[i])
            memset(contents[i]->known, 0, sizeof contents[i]->known);
    for (unsigned i = 0; i < run_count; i++)
        end_run(&runs[i]);
}

void length_runs_write(bool all)
{
    uint64_t now_ns = clock_monotonic_ns();
    for (unsigned i = 0; i < run_count; i++)
        if (runs[i].launches && (all || now_ns - runs[i].first_ns >= lasting_ns))
            end_run(&runs[i]);
}

void length_runs_read(uint32_t graph_id, unsigned buffer, const void *content, uint32_t bytes)
{
    for (unsigned i = 0; i < run_count; i++) {
        const struct length_reader *reader = lengths_reader(runs[i].reader);
        struct values values;
        if (!reader || runs[i].graph_id != graph_id || runs[i].ended || reader->buffer != buffer ||
            (reader->count + reader->cumulative) * reader->element_bytes > bytes ||
            !values_in(reader, content, &values))
            continue;
        runs[i].first_ticks = runs[i].launches ? runs[i].first_ticks : clock_ticks();
        write(&runs[i], reader, values, 1, TRACE_LENGTHS_READ);
    }
}

uint64_t length_runs_unknown(void)
{
    return unknown_launches;
}
