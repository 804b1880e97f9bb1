/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing by handle. A line of an executable that is gone is passed by those who look, and taken by the next one
 * that comes to it. Who writes records of a line holds its `writing`; a thread that destroys an executable and finds it
 * held leaves the rest to the holder. */
#include "cupti/graph_launches.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "cupti/graph_ids.h"
#include "cupti/graph_nodes.h"
#include "cupti/lengths.h"
#include "cupti/reserved_memory.h"
#include "trace/clock.h"
#include "trace/trace_writer.h"

enum { PROBES = 512, HOLD_TRIES = 4096, NODES_AT_ONCE = 4096 };
enum { UNUSED = 0, TAKING, LIVES, ENDING, ENDED };

struct executable {
    _Atomic(void *) handle;
    _Atomic uint64_t launches;
    _Atomic uint32_t state;
    _Atomic uint32_t graph_id;
    _Atomic uint32_t writing;
    _Atomic uint32_t nodes_new; /* some are not in the trace */
    /* of the holder of WRITING: */
    uint64_t launches_written;
    uint32_t launches_begun; /* a record is there */
    uint32_t reserved[5];
};
_Static_assert(sizeof(struct executable) == 64, "one cache line");

static struct executable *_Atomic executables;
static _Atomic(uint32_t) used[GRAPH_LAUNCHES_MOST]; /* lines that were ever taken, index + 1, in that order */
static _Atomic uint32_t used_count;
static _Atomic uint64_t refused;

bool graph_launches_open(void)
{
    if (atomic_load(&executables))
        return true;
    size_t bytes = GRAPH_LAUNCHES_MOST * sizeof(struct executable);
    void *table = reserved_memory_map(bytes);
    struct executable *none = NULL;
    if (table && !atomic_compare_exchange_strong(&executables, &none, table))
        munmap(table, bytes);
    return table != NULL;
}

/* ---- lines ---- */

static inline struct executable *line_at(struct executable *table, const void *handle, unsigned probe)
{
    uint64_t at = (uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15ull >> 40;
    return &table[(at + probe) & (GRAPH_LAUNCHES_MOST - 1)];
}

static inline struct executable *find(const void *handle)
{
    struct executable *table = atomic_load_explicit(&executables, memory_order_acquire);
    for (unsigned i = 0; table && handle && i < PROBES; i++) {
        struct executable *line = line_at(table, handle, i);
        uint32_t state = atomic_load_explicit(&line->state, memory_order_acquire);
        if (state == UNUSED)
            break;
        if (state == LIVES && atomic_load_explicit(&line->handle, memory_order_relaxed) == handle)
            return line;
    }
    return NULL;
}

static struct executable *take(void *handle, uint32_t graph_id)
{
    struct executable *table = atomic_load_explicit(&executables, memory_order_acquire);
    for (unsigned i = 0; table && i < PROBES; i++) {
        struct executable *line = line_at(table, handle, i);
        uint32_t state = atomic_load_explicit(&line->state, memory_order_acquire);
        if ((state != UNUSED && state != ENDED) || !atomic_compare_exchange_strong(&line->state, &state, TAKING))
            continue;
        if (state == UNUSED)
            atomic_store(&used[atomic_fetch_add(&used_count, 1)], (uint32_t)(line - table) + 1);
        line->launches_written = line->launches_begun = 0;
        atomic_store(&line->handle, handle);
        atomic_store(&line->launches, 0);
        atomic_store(&line->graph_id, graph_id);
        atomic_store(&line->nodes_new, 1);
        atomic_store_explicit(&line->state, LIVES, memory_order_release);
        return line;
    }
    atomic_fetch_add(&refused, 1);
    return NULL;
}

static bool hold(struct executable *line, unsigned tries)
{
    for (unsigned i = 0; i < tries; i++) {
        uint32_t nobody = 0;
        if (atomic_compare_exchange_weak_explicit(&line->writing, &nobody, 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    }
    return false;
}

static void let_go(struct executable *line)
{
    atomic_store_explicit(&line->writing, 0, memory_order_release);
}

/* ---- records ---- */

/* The next look tries again, so what finds no room is not lost yet. */
static void *reserve(struct trace_thread *thread, enum trace_record_type type, size_t size)
{
    void *record = trace_reserve(thread, type, size);
    if (!record)
        __atomic_fetch_sub(&trace_thread_slot(thread)->records_dropped, 1, __ATOMIC_RELAXED);
    return record;
}

static bool write_launches(struct trace_thread *thread, struct executable *line, bool ended)
{
    uint64_t launches = atomic_load_explicit(&line->launches, memory_order_relaxed);
    if (launches == line->launches_written && !(ended && line->launches_begun))
        return true;
    struct trace_graph_launches *record = reserve(thread, TRACE_RECORD_GRAPH_LAUNCHES, sizeof *record);
    if (!record)
        return false;
    record->realtime_ns = clock_realtime_ns();
    record->launches = launches;
    record->graph_id = atomic_load_explicit(&line->graph_id, memory_order_relaxed);
    record->ended = ended;
    trace_commit(thread, record);
    line->launches_written = launches;
    line->launches_begun = 1;
    return true;
}

struct node_writer {
    struct trace_thread *thread;
    unsigned left;     /* nodes that may be written */
    uint64_t launches; /* of the executable, so far */
};

static bool write_node(const struct graph_node_content *node, void *context)
{
    struct node_writer *writer = context;
    struct trace_graph_node *record =
        writer->left ? reserve(writer->thread, TRACE_RECORD_GRAPH_NODE, sizeof *record) : NULL;
    if (!record)
        return false;
    memset((char *)record + sizeof record->record, 0, sizeof *record - sizeof record->record);
    record->graph_node_id = node->node_id;
    record->call_id = node->call_id;
    record->owner_id = node->owner_id;
    record->name_id = node->name_id;
    record->ticks = clock_ticks();
    record->graph_id = (uint32_t)(node->node_id >> 32);
    record->owner = (uint8_t)node->owner;
    record->launches = node->changed ? writer->launches : 0;
    trace_commit(writer->thread, record);
    lengths_node(node->node_id, node->call_id);
    writer->left--;
    return true;
}

/* Nodes whose call goes on are left for later, as are those that find no room. */
static bool write_nodes(struct node_writer *writer, struct executable *line)
{
    uint32_t graph_id = atomic_load_explicit(&line->graph_id, memory_order_relaxed);
    if (!graph_id || !atomic_exchange(&line->nodes_new, 0))
        return true;
    writer->launches = atomic_load_explicit(&line->launches, memory_order_relaxed);
    if (graph_nodes_each_new(graph_id, write_node, writer))
        return true;
    atomic_store(&line->nodes_new, 1);
    return false;
}

/* Nodes first: their calls are known before a launch of them is counted. */
static bool write_line(struct node_writer *writer, struct executable *line, bool ended)
{
    if (!atomic_load_explicit(&line->graph_id, memory_order_relaxed))
        return true;
    return write_nodes(writer, line) && write_launches(writer->thread, line, ended);
}

/* By the holder: the line is free again when all is written. */
static bool end_line(struct node_writer *writer, struct executable *line)
{
    bool whole = write_line(writer, line, true);
    if (whole) {
        graph_nodes_retire_all(atomic_load(&line->graph_id));
        atomic_store_explicit(&line->state, ENDED, memory_order_release);
    }
    return whole;
}

/* What ended while it was held is the holder's to finish. */
static bool finish_line(struct node_writer *writer, struct executable *line)
{
    bool whole = true;
    while (whole && atomic_load(&line->state) == ENDING && hold(line, 1)) {
        whole = atomic_load(&line->state) != ENDING || end_line(writer, line);
        let_go(line);
    }
    return whole;
}

bool graph_launches_write(struct trace_thread *thread, bool all)
{
    struct executable *table = atomic_load(&executables);
    uint32_t count = atomic_load(&used_count);
    struct node_writer writer = {.thread = thread, .left = all ? UINT32_MAX : NODES_AT_ONCE};
    bool whole = true;
    for (uint32_t i = 0; table && thread && i < count; i++) {
        uint32_t index = atomic_load(&used[i]);
        struct executable *line = index ? &table[index - 1] : NULL;
        if (!line || !hold(line, 1)) /* just being taken, or written by another */
            continue;
        if (atomic_load(&line->state) == LIVES)
            whole &= write_line(&writer, line, false);
        let_go(line);
        whole &= finish_line(&writer, line);
    }
    return whole;
}

/* ---- life ---- */

void graph_launches_made(void *handle, uint32_t graph_id)
{
    if (!handle || !graph_launches_open())
        return;
    struct executable *line = find(handle);
    if (line && graph_id && atomic_load(&line->graph_id) != 0 && atomic_load(&line->graph_id) != graph_id) {
        graph_launches_ended(trace_thread_now(), handle); /* nobody told of its end, and the handle came back */
        line = NULL;
    }
    if (!line)
        take(handle, graph_id);
    else if (graph_id && !atomic_load(&line->graph_id))
        atomic_store(&line->graph_id, graph_id);
    else
        atomic_store(&line->nodes_new, 1);
}

static struct executable *first_launch(void *handle)
{
    graph_launches_made(handle, graph_ids_executable_seen(handle));
    return find(handle);
}

void graph_launches_count(void *handle)
{
    struct executable *line = find(handle);
    if (__builtin_expect(!line, 0))
        line = first_launch(handle);
    if (line)
        atomic_fetch_add_explicit(&line->launches, 1, memory_order_relaxed);
}

void graph_launches_changing(struct trace_thread *thread, void *handle)
{
    struct node_writer writer = {.thread = thread, .left = UINT32_MAX};
    struct executable *line = find(handle);
    if (!line || !thread || !atomic_load(&line->nodes_new) || !hold(line, HOLD_TRIES))
        return;
    write_nodes(&writer, line);
    let_go(line);
    finish_line(&writer, line);
}

void graph_launches_changed(struct trace_thread *thread, void *handle)
{
    struct node_writer writer = {.thread = thread, .left = UINT32_MAX};
    struct executable *line = find(handle);
    if (!line || !graph_nodes_any_new(atomic_load(&line->graph_id)))
        return;
    atomic_store(&line->nodes_new, 1);
    if (!thread || !hold(line, HOLD_TRIES))
        return;
    if (write_launches(thread, line, false))
        write_nodes(&writer, line);
    let_go(line);
    finish_line(&writer, line);
}

void graph_launches_ended(struct trace_thread *thread, void *handle)
{
    struct node_writer writer = {.thread = thread, .left = UINT32_MAX};
    struct executable *line = find(handle);
    uint32_t lives = LIVES;
    if (!line || !atomic_compare_exchange_strong(&line->state, &lives, ENDING))
        return;
    if (thread)
        finish_line(&writer, line);
}

bool graph_launches_any(void)
{
    return atomic_load_explicit(&used_count, memory_order_relaxed) != 0;
}

uint32_t graph_launches_id(void *handle)
{
    struct executable *line = find(handle);
    return line ? atomic_load(&line->graph_id) : 0;
}

uint64_t graph_launches_refused(void)
{
    return atomic_load(&refused);
}
