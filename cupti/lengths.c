/* SPDX-License-Identifier: Apache-2.0 */
/* The call path's side of lengths: which buffers are watched, by whom they are read, and what fills them. Tables only ever
 * grow, by compare-and-swap; what can't be told at once goes to the log. */
#include "cupti/lengths.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cupti/graph_capture.h"
#include "cupti/length_log.h"
#include "cupti/length_reads.h"
#include "cupti/length_runs.h"
#include "trace/trace_writer.h"

enum { GRAPHS_OF_A_COPY = 8, CAPTURING = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, TYPE_HOST = 1 };

struct watched_buffer {
    _Atomic uint64_t address;
    _Atomic uint32_t bytes;
};

struct reader_place {
    _Atomic uint64_t key; /* hash of what follows, 0: none */
    _Atomic int is_there;
    struct length_reader reader;
};

/* A copy from the host that a capture took: its source is read when a graph that has it is launched. */
struct captured_copy {
    _Atomic uint64_t capture; /* 0: none, stored last */
    uint64_t destination;
    const void *source;
    size_t bytes;
    _Atomic uint32_t graphs[GRAPHS_OF_A_COPY];
};

_Atomic int lengths_watched;
static _Atomic int mode_now;
static struct watched_buffer buffers[LENGTHS_BUFFERS_MOST];
static struct reader_place readers[LENGTHS_READER_PLACES];
static struct captured_copy captured[LENGTHS_CAPTURED_MOST];
static _Atomic unsigned reader_count, captured_count;
static _Atomic uint64_t refused;
/* A bit by hash: of nodes that may be a run's, of calls that may be a reader's. */
enum { SEEN_WORDS = 1024 };
static _Atomic uint64_t nodes_seen[SEEN_WORDS], calls_seen[SEEN_WORDS];
static pthread_t looker; /* between lengths_begin() and its end */
static _Atomic int is_looking;

void lengths_configure(enum lengths_mode mode)
{
    atomic_store(&mode_now, mode);
    atomic_store(&length_reads_wanted, mode == LENGTHS_READ);
}

void lengths_stop(void)
{
    atomic_store(&mode_now, LENGTHS_OFF);
    atomic_store(&lengths_watched, 0);
    atomic_store(&length_reads_wanted, 0);
    atomic_store(&length_reads_ongoing, 0);
}

/* ---- tables ---- */

static uint64_t seen_place(uint64_t id, uint64_t *bit)
{
    uint64_t hash = id * 0x9e3779b97f4a7c15ull >> 48;
    *bit = 1ull << (hash & 63);
    return hash >> 6;
}

static void note_seen(_Atomic uint64_t *seen, uint64_t id)
{
    uint64_t bit, word = seen_place(id, &bit);
    atomic_fetch_or(&seen[word], bit);
}

static bool may_be_seen(_Atomic uint64_t *seen, uint64_t id)
{
    uint64_t bit, word = seen_place(id, &bit);
    return (atomic_load_explicit(&seen[word], memory_order_acquire) & bit) != 0;
}

/* -1: no room. Buffers that begin elsewhere are other buffers, also where they overlap. */
static int buffer_at(uint64_t address, uint32_t bytes)
{
    for (int i = 0; i < LENGTHS_BUFFERS_MOST; i++) {
        uint64_t seen = 0;
        if (!atomic_compare_exchange_strong(&buffers[i].address, &seen, address) && seen != address)
            continue;
        uint32_t before = atomic_load_explicit(&buffers[i].bytes, memory_order_relaxed);
        while (before < bytes && !atomic_compare_exchange_weak(&buffers[i].bytes, &before, bytes))
            ;
        int count = atomic_load(&lengths_watched);
        while (count < i + 1 && atomic_load(&mode_now) &&
               !atomic_compare_exchange_weak(&lengths_watched, &count, i + 1))
            ;
        return i;
    }
    return -1;
}

const struct length_reader *lengths_reader(unsigned number)
{
    struct reader_place *place = number < LENGTHS_READER_PLACES ? &readers[number] : NULL;
    return place && atomic_load_explicit(&place->is_there, memory_order_acquire) ? &place->reader : NULL;
}

/* Its number; -1: no room. */
static int reader_of(const struct lengths_buffer *asked, uint64_t capture)
{
    const uint64_t content[4] = {asked->address, (uint64_t)asked->count << 32 | asked->element_bytes, asked->cumulative,
                                 capture};
    const uint64_t key = trace_hash(content, sizeof content);
    for (unsigned i = 0; i < LENGTHS_READER_PLACES; i++) {
        unsigned number = (unsigned)((key + i) % LENGTHS_READER_PLACES);
        struct reader_place *place = &readers[number];
        uint64_t seen = atomic_load_explicit(&place->key, memory_order_acquire);
        if (seen == key)
            return (int)number;
        if (seen)
            continue;
        if (atomic_load(&reader_count) >= LENGTHS_READERS_MOST)
            return -1;
        int buffer = buffer_at(asked->address, (asked->count + asked->cumulative) * asked->element_bytes);
        if (buffer < 0)
            return -1;
        if (!atomic_compare_exchange_strong(&place->key, &seen, key)) {
            i -= seen == key; /* another thread took the place, for the same or not */
            continue;
        }
        atomic_fetch_add(&reader_count, 1);
        place->reader = (struct length_reader){.address = asked->address,
                                               .call_id = asked->call_id,
                                               .capture = capture,
                                               .count = asked->count,
                                               .element_bytes = asked->element_bytes,
                                               .buffer = (uint16_t)buffer,
                                               .cumulative = asked->cumulative};
        atomic_store_explicit(&place->is_there, 1, memory_order_release);
        note_seen(calls_seen, asked->call_id);
        return (int)number;
    }
    return -1;
}

/* ---- captures ---- */

enum captures { CAPTURES_NO, CAPTURES_YES, CAPTURES_UNKNOWN };

/* *ID: of the capture, if somebody tells. Asks getters that a capture allows. */
static enum captures captures(void *stream, uint64_t *id)
{
    const struct cuda_driver *driver = cuda_driver_bound();
    int status = 0;
    *id = 0;
    if (!driver || !driver->cuStreamIsCapturing || driver->cuStreamIsCapturing(stream, &status) != 0)
        return CAPTURES_UNKNOWN;
    if (!status)
        return CAPTURES_NO;
    if (driver->cuStreamGetCaptureInfo_v3)
        driver->cuStreamGetCaptureInfo_v3(stream, &status, id, NULL, NULL, NULL, NULL);
    else if (driver->cuStreamGetCaptureInfo_v2)
        driver->cuStreamGetCaptureInfo_v2(stream, &status, id, NULL, NULL, NULL);
    return status == CAPTURING ? CAPTURES_YES : CAPTURES_UNKNOWN;
}

/* ---- readers ---- */

static bool is_possible(const struct lengths_buffer *b)
{
    return b->address && b->call_id && (b->element_bytes == 4 || b->element_bytes == 8) && b->count &&
           b->count <= LENGTH_BUFFER_BYTES / b->element_bytes - b->cumulative;
}

static bool watch(const struct lengths_buffer *asked)
{
    uint64_t capture;
    enum captures capturing = captures(asked->stream, &capture);
    if (capturing == CAPTURES_UNKNOWN || (capturing == CAPTURES_YES && !capture) || !is_possible(asked) ||
        !length_log_open())
        return false;
    int reader = reader_of(asked, capture);
    if (reader < 0)
        return false;
    const struct length_log_item item = {
        .kind = LENGTH_LOG_LAUNCH, .reader = (uint16_t)reader, .call_id = asked->call_id};
    if (capturing == CAPTURES_NO)
        length_log_put(&item);
    return true;
}

bool lengths_watch(const struct lengths_buffer *buffer)
{
    int errno_before = errno;
    bool watched = atomic_load_explicit(&mode_now, memory_order_relaxed) != LENGTHS_OFF && watch(buffer);
    if (!watched)
        atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
    errno = errno_before;
    return watched;
}

/* ---- what fills them ---- */

bool lengths_read_guarded(void *to, const void *from, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)from, bytes};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* The host's memory, pinned or pageable; neither the device's nor what moves between the two. Pageable memory that a copy
 * has just read is there (IS_LIVE), that of a graph's node may be gone. */
static bool read_source(void *to, const void *from, size_t bytes, bool is_live)
{
    const struct cuda_driver *driver = cuda_driver_bound();
    unsigned type = 0, managed = 0;
    int attributes[2] = {MEMORY_TYPE, IS_MANAGED};
    void *answers[2] = {&type, &managed};
    bool may_ask = driver && driver->cuPointerGetAttributes && atomic_load(&graph_capture_ongoing) <= 0;
    if (!may_ask || driver->cuPointerGetAttributes(2, attributes, answers, (uint64_t)(uintptr_t)from) != 0)
        return lengths_read_guarded(to, from, bytes);
    if (managed || (type != 0 && type != TYPE_HOST))
        return false;
    if (type == TYPE_HOST || is_live) {
        memcpy(to, from, bytes);
        return true;
    }
    return lengths_read_guarded(to, from, bytes);
}

static void fill(unsigned buffer, uint64_t destination, const void *source, size_t bytes, bool is_live)
{
    uint64_t address = atomic_load_explicit(&buffers[buffer].address, memory_order_acquire);
    uint64_t watched_bytes = atomic_load_explicit(&buffers[buffer].bytes, memory_order_acquire);
    uint64_t begin = destination > address ? destination : address;
    uint64_t end = destination + bytes < address + watched_bytes ? destination + bytes : address + watched_bytes;
    if (!address || begin >= end)
        return;
    struct length_log_item item = {.kind = LENGTH_LOG_SPOILED,
                                   .buffer = (uint16_t)buffer,
                                   .offset = (uint32_t)(begin - address),
                                   .bytes = (uint32_t)(end - begin)};
    unsigned snapshot = source ? length_log_snapshot(end - begin) : 0;
    if (snapshot &&
        read_source(length_log_bytes(snapshot), (const char *)source + (begin - destination), end - begin, is_live)) {
        item.kind = LENGTH_LOG_FILLED;
        item.snapshot = (uint16_t)snapshot;
    } else {
        length_log_free(snapshot);
    }
    length_log_put(&item);
}

static void fill_all(uint64_t destination, const void *source, size_t bytes, bool is_live)
{
    int count = atomic_load_explicit(&lengths_watched, memory_order_acquire);
    for (int i = 0; i < count; i++)
        fill((unsigned)i, destination, source, bytes, is_live);
}

static bool is_watched(uint64_t destination, size_t bytes)
{
    int count = atomic_load_explicit(&lengths_watched, memory_order_acquire);
    for (int i = 0; i < count; i++) {
        uint64_t address = atomic_load_explicit(&buffers[i].address, memory_order_relaxed);
        if (destination < address + atomic_load_explicit(&buffers[i].bytes, memory_order_relaxed) &&
            address < destination + bytes)
            return true;
    }
    return false;
}

static void note_captured(uint64_t capture, uint64_t destination, const void *source, size_t bytes)
{
    unsigned place = atomic_load(&captured_count);
    do {
        if (place == LENGTHS_CAPTURED_MOST) {
            atomic_fetch_add(&refused, 1);
            return;
        }
    } while (!atomic_compare_exchange_weak(&captured_count, &place, place + 1));
    captured[place].destination = destination;
    captured[place].source = source;
    captured[place].bytes = bytes;
    atomic_store_explicit(&captured[place].capture, capture, memory_order_release);
}

void lengths_copied(uint64_t destination, const void *source, size_t bytes, enum lengths_source where, void *stream)
{
    int errno_before = errno;
    uint64_t capture;
    if (bytes && is_watched(destination, bytes)) {
        const void *from = where == LENGTHS_SOURCE_DEVICE ? NULL : source;
        enum captures capturing = captures(stream, &capture);
        if (capturing == CAPTURES_YES)
            note_captured(capture, destination, from, bytes);
        else if (capturing == CAPTURES_NO)
            fill_all(destination, from, bytes, true);
        else
            fill_all(destination, NULL, bytes, true);
    }
    errno = errno_before;
}

/* ---- graphs ---- */

void lengths_capture_is_in(uint64_t capture, uint32_t graph_id)
{
    unsigned count = atomic_load(&captured_count);
    for (unsigned i = 0; capture && i < count; i++) {
        if (atomic_load_explicit(&captured[i].capture, memory_order_acquire) != capture)
            continue;
        for (unsigned j = 0; j < GRAPHS_OF_A_COPY; j++) {
            uint32_t seen = 0;
            if (atomic_compare_exchange_strong(&captured[i].graphs[j], &seen, graph_id) || seen == graph_id)
                break;
        }
    }
}

static bool is_in(struct captured_copy *copy, uint32_t graph_id)
{
    for (unsigned i = 0; i < GRAPHS_OF_A_COPY; i++)
        if (atomic_load_explicit(&copy->graphs[i], memory_order_relaxed) == graph_id)
            return true;
    return false;
}

/* Until it is known which graphs a copy is in, it may be in this one. */
static void run_captured_copies(uint32_t graph_id)
{
    unsigned count = atomic_load_explicit(&captured_count, memory_order_acquire);
    for (unsigned i = 0; i < count; i++) {
        struct captured_copy *copy = &captured[i];
        if (!atomic_load_explicit(&copy->capture, memory_order_acquire))
            continue;
        bool is_mapped = atomic_load_explicit(&copy->graphs[0], memory_order_relaxed) != 0;
        if (is_mapped && !is_in(copy, graph_id))
            continue;
        fill_all(copy->destination, is_mapped ? copy->source : NULL, copy->bytes, false);
    }
}

void lengths_graph_launched(uint32_t graph_id, void *stream)
{
    int errno_before = errno;
    const struct length_log_item item = {.kind = LENGTH_LOG_GRAPH, .graph_id = graph_id};
    run_captured_copies(graph_id);
    if (graph_id)
        length_log_put(&item);
    if (atomic_load_explicit(&length_reads_wanted, memory_order_relaxed))
        length_reads_launched(graph_id, stream);
    errno = errno_before;
}

static bool is_looker(void)
{
    return atomic_load_explicit(&is_looking, memory_order_acquire) == 2 && pthread_equal(looker, pthread_self());
}

static int captured_reader(uint64_t call_id)
{
    bool may_be = call_id && may_be_seen(calls_seen, call_id);
    for (unsigned i = 0; may_be && i < LENGTHS_READER_PLACES; i++) {
        const struct length_reader *reader = lengths_reader(i);
        if (reader && reader->capture && reader->call_id == call_id)
            return (int)i;
    }
    return -1;
}

void lengths_node(uint64_t node_id, uint64_t call_id)
{
    if (!lengths_are_watched())
        return;
    int reader = captured_reader(call_id);
    if (reader < 0 && !may_be_seen(nodes_seen, node_id)) /* one that was a reader's may become another call's */
        return;
    struct length_log_item item = {
        .kind = LENGTH_LOG_NODE, .node_id = node_id, .call_id = reader < 0 ? 0 : call_id, .reader = (uint16_t)reader};
    note_seen(nodes_seen, node_id);
    if (is_looker()) /* the launches that are in the log already were of this node */
        length_runs_take(&item);
    else
        length_log_put(&item);
}

/* ---- the thread ---- */

static void take_all(void)
{
    struct length_log_item item;
    bool lost = length_log_begin();
    while (length_log_take(&item)) {
        if (!lost || item.kind == LENGTH_LOG_NODE)
            length_runs_take(&item);
        length_log_free(item.snapshot);
    }
    if (lost)
        length_runs_forget();
    length_log_end(lost);
}

static void note_refused(void)
{
    static bool noted;
    uint64_t count = atomic_load(&refused);
    if (noted || !count)
        return;
    noted = true;
    trace_note(trace_thread_get(), TRACE_NOTE_LENGTHS, count < INT32_MAX ? (int32_t)count : INT32_MAX,
               "more buffers of lengths than are watched, larger ones than %d bytes, or no stream to be known",
               LENGTH_BUFFER_BYTES);
}

bool lengths_begin(void)
{
    int nobody = 0;
    if (!lengths_are_watched() || !atomic_compare_exchange_strong(&is_looking, &nobody, 1))
        return false;
    looker = pthread_self();
    atomic_store_explicit(&is_looking, 2, memory_order_release);
    return true;
}

static void note_unknown(void)
{
    uint64_t unknown = length_runs_unknown();
    if (unknown)
        trace_note(trace_thread_get(), TRACE_NOTE_LENGTHS, unknown < INT32_MAX ? (int32_t)unknown : INT32_MAX,
                   "launches whose lengths are not known: they were filled before they were watched, or by other means "
                   "than a copy from the host");
}

void lengths_end(bool last)
{
    take_all();
    if (atomic_load(&length_reads_wanted))
        length_reads_tend();
    length_runs_write(last);
    note_refused();
    if (last)
        note_unknown();
    atomic_store_explicit(&is_looking, 0, memory_order_release);
}
