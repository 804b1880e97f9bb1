/* SPDX-License-Identifier: Apache-2.0 */
/* Reads activity records by the prefixes of cupti_records.h. What can't be used is counted by kind of trouble: impossible
 * times, no call found, unknown kinds, no room in the trace. */
#include "cupti/kernel_records.h"

#include <stdatomic.h>
#include <string.h>

#include "cupti/cupti_session.h"
#include "cupti/cupti_versions.h"
#include "cupti/graph_nodes.h"
#include "cupti/launch_join.h"
#include "cupti/reserved_memory.h"
#include "cupti/subscription.h"
#include "cupti/timing_delivery.h"
#include "trace/clock.h"
#include "trace/trace_writer.h"

enum { WAITING_MAX = 4096, EVICTED_AT_ONCE = WAITING_MAX / 4, MISMATCHES_ENOUGH = 64 };
static const uint64_t waiting_at_most_ns = 2000000000;
static const uint64_t clock_step_ns = 3600000000000; /* what a clock may be set by meanwhile */
static const uint64_t patience_ns = 200000000;       /* for the trace to get new blocks, a buffer */

struct timed_kernel {
    struct trace_kernel kernel; /* filled but for the join */
    uint64_t source_node_id;    /* of a graph, 0: not known */
};

struct waiting_kernel {
    struct timed_kernel timed;
    uint64_t since_ns;
};

static bool has_source_nodes; /* this CUPTI's kernel records do */
static bool external_join;
static uint64_t external_since_ns;
static bool watching; /* no id has matched a launch callback yet */
static uint64_t mismatches;
static uint64_t opened_ns, ended_ns; /* CLOCK_REALTIME, as CUPTI's times; ENDED 0: not yet */
static struct waiting_kernel *waiting;
static unsigned waiting_count;
static uint64_t records_seen;
static _Atomic uint64_t graph_kernels; /* written by whoever takes records, read by the helper too */
static bool looks_at_windows, windows_only;
static uint64_t patience_until_ns;

static void count(uint64_t *counter, uint64_t more)
{
    __atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
}

bool kernel_records_reserve(void)
{
    if (!waiting)
        waiting = reserved_memory_map(WAITING_MAX * sizeof *waiting);
    return waiting != NULL;
}

void kernel_records_open(const struct cupti_version *version, bool external, bool watch)
{
    has_source_nodes = (version->fields & CUPTI_FIELDS_SOURCE_GRAPH) != 0;
    external_join = external;
    if (external)
        graph_nodes_distrust_ids();
    watching = watch;
    opened_ns = clock_realtime_ns();
}

void kernel_records_end(uint64_t at_ns)
{
    ended_ns = at_ns;
    watching = false;
}

uint64_t kernel_records_mismatched(void)
{
    return watching && mismatches >= MISMATCHES_ENOUGH ? mismatches : 0;
}

void kernel_records_stop_watching(void)
{
    watching = false;
}

void kernel_records_go_external(uint64_t since_ns)
{
    external_join = true;
    external_since_ns = since_ns;
    graph_nodes_distrust_ids();
}

uint64_t kernel_records_seen(void)
{
    return records_seen;
}

uint64_t kernel_records_graph_kernels(void)
{
    return atomic_load_explicit(&graph_kernels, memory_order_relaxed);
}

void kernel_records_look_at_windows(bool look, bool only)
{
    looks_at_windows = look;
    windows_only = only;
}

static bool is_left_out(uint64_t start_ns)
{
    return __builtin_expect(looks_at_windows, 0) && !timing_delivery_takes(start_ns) && windows_only;
}

/* This thread is ours and may wait for the helper to reserve blocks, which a caller of CUDA never may. Attempts that the
 * writer counted as drops and that went well in the end are taken back. */
static bool wait_a_little(void)
{
    if (clock_monotonic_ns() >= patience_until_ns)
        return false;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return true;
}

static void *reserve_patiently(struct trace_thread *thread, enum trace_record_type type, size_t size)
{
    void *record = trace_reserve(thread, type, size);
    if (record)
        return record;
    struct trace_slot *slot = trace_thread_slot(thread);
    while (!record && wait_a_little()) {
        __atomic_fetch_sub(&slot->records_dropped, 1, __ATOMIC_RELAXED);
        record = trace_reserve(thread, type, size);
    }
    return record;
}

/* An id whose name has no room would stay without one if the kernel does not come again. */
static uint64_t intern_patiently(struct trace_thread *thread, const char *name)
{
    struct trace_slot *slot = trace_thread_slot(thread);
    uint64_t before = __atomic_load_n(&slot->records_dropped, __ATOMIC_RELAXED);
    uint64_t id = trace_name_intern(thread, name);
    while (__atomic_load_n(&slot->records_dropped, __ATOMIC_RELAXED) != before && wait_a_little()) {
        __atomic_store_n(&slot->records_dropped, before, __ATOMIC_RELAXED);
        id = trace_name_intern(thread, name);
    }
    return id;
}

/* Copies everything behind the header. False: no room, which has been counted. */
static bool write_record(enum trace_record_type type, const void *content, size_t size)
{
    struct trace_thread *thread = trace_thread_get();
    void *record = thread ? reserve_patiently(thread, type, size) : NULL;
    if (!record) {
        if (!thread)
            count(&trace_writer_counters()->records_dropped, 1);
        return false;
    }
    memcpy((char *)record + sizeof(struct trace_record), (const char *)content + sizeof(struct trace_record),
           size - sizeof(struct trace_record));
    trace_commit(thread, record);
    return true;
}

/* What is known of a kernel's call. */
struct found_owner {
    struct launch_owner launch;
    enum launch_join_result result;
    enum trace_join join;
};

/* A node without a call is the program's own: there is no call to be found. */
static bool is_settled(const struct found_owner *found)
{
    return found->result == LAUNCH_JOIN_FOUND ||
           (found->join == TRACE_JOIN_GRAPH_NODE && found->result == LAUNCH_JOIN_NONE && found->launch.call_id == 0);
}

static void write_kernel(struct trace_kernel *kernel, const struct found_owner *found)
{
    bool owned = found->result == LAUNCH_JOIN_FOUND;
    kernel->call_id = found->launch.call_id;
    kernel->join = found->join;
    kernel->owner = owned ? found->launch.owner : TRACE_OWNER_NONE;
    kernel->owner_id = owned ? found->launch.owner_id : 0;
    if (write_record(TRACE_RECORD_KERNEL, kernel, sizeof *kernel) && !is_settled(found)) /* of those in the trace */
        count(&trace_writer_counters()->kernels_unjoined, 1);
}

/* CUPTI of 13.4 and later names the captured node itself, the last one if the executable was updated. */
static enum launch_join_result find_node(const struct timed_kernel *timed, struct launch_owner *owner)
{
    const struct trace_kernel *k = &timed->kernel;
    enum launch_join_result result = LAUNCH_JOIN_UNSEEN;
    if (timed->source_node_id)
        result = graph_nodes_find(timed->source_node_id, k->correlation_id, k->name_id, owner);
    return result == LAUNCH_JOIN_UNSEEN ? graph_nodes_find(k->graph_node_id, k->correlation_id, k->name_id, owner)
                                        : result;
}

static enum launch_join_result find_launch(const struct trace_kernel *kernel, struct launch_owner *owner)
{
    if (!external_join)
        return launch_join_find(kernel->correlation_id, owner);
    enum launch_join_result result = launch_join_external_find(kernel->correlation_id, owner);
    bool may_come = result == LAUNCH_JOIN_UNSEEN && kernel->start_ns >= external_since_ns; /* in another buffer */
    return may_come ? LAUNCH_JOIN_PENDING : result;
}

static struct found_owner find_owner(const struct timed_kernel *timed)
{
    struct found_owner found = {.join = TRACE_JOIN_GRAPH_NODE, .result = LAUNCH_JOIN_UNSEEN};
    if (timed->kernel.graph_id)
        found.result = find_node(timed, &found.launch);
    if (found.result != LAUNCH_JOIN_UNSEEN)
        return found;
    found.result = find_launch(&timed->kernel, &found.launch);
    found.join = found.launch.call_id == 0 ? TRACE_JOIN_NONE
                 : external_join           ? TRACE_JOIN_EXTERNAL
                                           : TRACE_JOIN_CORRELATION;
    /* The kernels of a graph share the launch's correlation id: the launch is known, what each of them is is not. */
    if (timed->kernel.graph_id && found.result == LAUNCH_JOIN_FOUND)
        found.result = LAUNCH_JOIN_NONE;
    return found;
}

static void watch(enum launch_join_result result)
{
    if (result != LAUNCH_JOIN_UNSEEN)
        watching = false;
    else
        mismatches += cupti_session_calls_launch();
}

static void evict_oldest(void)
{
    for (unsigned i = 0; i < EVICTED_AT_ONCE; i++) {
        struct found_owner found = find_owner(&waiting[i].timed);
        write_kernel(&waiting[i].timed.kernel, &found);
    }
    waiting_count -= EVICTED_AT_ONCE;
    memmove(&waiting[0], &waiting[EVICTED_AT_ONCE], waiting_count * sizeof *waiting);
}

/* Times are no help for a kernel: ours may start after the end, and another client may have set another clock. */
static bool is_foreign(const struct found_owner *found)
{
    return ended_ns && found->result == LAUNCH_JOIN_UNSEEN;
}

static void count_foreign(void)
{
    count(&trace_writer_counters()->records_unknown, 1);
}

static void join_kernel(struct timed_kernel *timed)
{
    struct found_owner found = find_owner(timed);
    if (is_foreign(&found)) {
        count_foreign();
        return;
    }
    if (watching && found.join != TRACE_JOIN_GRAPH_NODE) /* a node says nothing of launches' ids */
        watch(found.result);
    if (found.result != LAUNCH_JOIN_PENDING) {
        write_kernel(&timed->kernel, &found);
        return;
    }
    if (waiting_count == WAITING_MAX)
        evict_oldest();
    waiting[waiting_count].timed = *timed;
    waiting[waiting_count++].since_ns = clock_monotonic_ns();
}

unsigned kernel_records_retry(bool last)
{
    uint64_t now_ns = waiting_count ? clock_monotonic_ns() : 0;
    unsigned kept = 0;
    patience_until_ns = now_ns + patience_ns;
    for (unsigned i = 0; i < waiting_count; i++) {
        struct found_owner found = find_owner(&waiting[i].timed);
        if (found.result == LAUNCH_JOIN_PENDING && !last && now_ns - waiting[i].since_ns < waiting_at_most_ns)
            waiting[kept++] = waiting[i];
        else
            write_kernel(&waiting[i].timed.kernel, &found);
    }
    return waiting_count = kept;
}

/* 0 stands for "could not be collected" and happens; so do ends before starts, and a lone top bit. Once another client has
 * CUPTI its clock may be another, too. */
static bool times_are_possible(uint64_t start_ns, uint64_t end_ns)
{
    return start_ns != 0 && end_ns >= start_ns && end_ns >> 63 == 0 &&
           (!ended_ns || (start_ns >= opened_ns - clock_step_ns && end_ns <= clock_realtime_ns() + clock_step_ns));
}

static uint64_t source_node_of(const struct cupti_kernel_record *r)
{
    uint64_t id = 0;
    if (r->graph_id && has_source_nodes)
        memcpy(&id, (const char *)r + CUPTI_SOURCE_NODE_OFFSET, sizeof id);
    return id;
}

static void take_kernel(const struct cupti_kernel_record *r)
{
    if (r->graph_id)
        atomic_store_explicit(&graph_kernels, atomic_load_explicit(&graph_kernels, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    if (is_left_out(r->start_ns))
        return;
    if (!times_are_possible(r->start_ns, r->end_ns)) {
        count(&trace_writer_counters()->kernels_invalid, 1);
        return;
    }
    struct trace_thread *thread = trace_thread_get();
    struct timed_kernel timed = {.source_node_id = source_node_of(r)};
    timed.kernel = (struct trace_kernel){
        .name_id = r->name && thread ? intern_patiently(thread, r->name) : 0,
        .start_ns = r->start_ns,
        .end_ns = r->end_ns,
        .registers = r->registers_per_thread,
        .correlation_id = r->correlation_id,
        .device = r->device,
        .context = r->context,
        .stream = r->stream,
        .graph_id = r->graph_id,
        .graph_node_id = r->graph_node_id,
        .grid = {(uint32_t)r->grid[0], (uint32_t)r->grid[1], (uint32_t)r->grid[2]},
        .block = {(uint32_t)r->block[0], (uint32_t)r->block[1], (uint32_t)r->block[2]},
        .static_shared_bytes = (uint32_t)r->static_shared_bytes,
        .dynamic_shared_bytes = (uint32_t)r->dynamic_shared_bytes,
    };
    join_kernel(&timed);
}

static void take_copy(struct trace_copy copy)
{
    if (ended_ns && copy.start_ns > ended_ns)
        count_foreign();
    else if (times_are_possible(copy.start_ns, copy.end_ns) && !is_left_out(copy.start_ns))
        write_record(TRACE_RECORD_COPY, &copy, sizeof copy);
    else
        count(&trace_writer_counters()->copies_invalid, 1);
}

static void take_memcpy(const struct cupti_memcpy_record *r)
{
    take_copy((struct trace_copy){.start_ns = r->start_ns,
                                  .end_ns = r->end_ns,
                                  .bytes = r->bytes,
                                  .kind = TRACE_COPY_MEMCPY,
                                  .direction = r->copy_kind,
                                  .device = r->device,
                                  .context = r->context,
                                  .stream = r->stream,
                                  .correlation_id = r->correlation_id,
                                  .graph_id = r->graph_id,
                                  .graph_node_id = r->graph_node_id});
}

static void take_memcpy_peer(const struct cupti_memcpy_peer_record *r)
{
    take_copy((struct trace_copy){.start_ns = r->start_ns,
                                  .end_ns = r->end_ns,
                                  .bytes = r->bytes,
                                  .kind = TRACE_COPY_MEMCPY,
                                  .direction = r->copy_kind,
                                  .device = r->device,
                                  .context = r->context,
                                  .is_peer = 1,
                                  .from_device = r->source_device,
                                  .to_device = r->destination_device,
                                  .stream = r->stream,
                                  .correlation_id = r->correlation_id,
                                  .graph_id = r->graph_id,
                                  .graph_node_id = r->graph_node_id});
}

static void take_memset(const struct cupti_memset_record *r)
{
    take_copy((struct trace_copy){.start_ns = r->start_ns,
                                  .end_ns = r->end_ns,
                                  .bytes = r->bytes,
                                  .kind = TRACE_COPY_MEMSET,
                                  .device = r->device,
                                  .context = r->context,
                                  .stream = r->stream,
                                  .correlation_id = r->correlation_id,
                                  .graph_id = r->graph_id,
                                  .graph_node_id = r->graph_node_id});
}

/* A launch of a graph that was timed as one; which of its calls took how much of it is the reader's to estimate. */
static void take_graph_run(const struct cupti_graph_trace_record *r)
{
    struct trace_graph_run run = {.start_ns = r->start_ns,
                                  .end_ns = r->end_ns,
                                  .correlation_id = r->correlation_id,
                                  .graph_id = r->graph_id,
                                  .device = r->device,
                                  .context = r->context,
                                  .stream = r->stream};
    if (ended_ns && run.start_ns > ended_ns)
        count_foreign();
    else if (!times_are_possible(run.start_ns, run.end_ns))
        count(&trace_writer_counters()->kernels_invalid, 1);
    else if (!is_left_out(run.start_ns))
        write_record(TRACE_RECORD_GRAPH_RUN, &run, sizeof run);
}

static void take_record(const struct cupti_record *record)
{
    const void *r = record;
    switch (record->kind) {
    case CUPTI_KIND_KERNEL:
    case CUPTI_KIND_CONCURRENT_KERNEL:
        take_kernel(r);
        break;
    case CUPTI_KIND_MEMCPY:
        take_memcpy(r);
        break;
    case CUPTI_KIND_MEMCPY2:
        take_memcpy_peer(r);
        break;
    case CUPTI_KIND_MEMSET:
        take_memset(r);
        break;
    case CUPTI_KIND_GRAPH_TRACE:
        take_graph_run(r);
        break;
    case CUPTI_KIND_EXTERNAL_CORRELATION: {
        const struct cupti_external_record *external = r;
        if (external_join && external->external_kind == CUPTI_EXTERNAL_CUSTOM2)
            launch_join_external_note(external->correlation_id, external->external_id);
        break;
    }
    case CUPTI_KIND_DRIVER:
        if (external_join)
            break; /* CUPTI gives external records only beside API records, which say nothing more */
        /* fall through */
    default:
        count(&trace_writer_counters()->records_unknown, 1);
    }
}

void kernel_records_consume(uint8_t *buffer, size_t valid_bytes)
{
    struct cupti_record *record = NULL;
    uint64_t seen_before = records_seen;
    patience_until_ns = clock_monotonic_ns() + patience_ns;
    /* Ends with MAX_LIMIT_REACHED; any other refusal ends it too, since there is no way to step over a broken record. */
    while (subscription_next_record(buffer, valid_bytes, &record) == CUPTI_OK && record) {
        records_seen++;
        take_record(record);
    }
    if (records_seen == seen_before)
        count(&trace_writer_counters()->buffers_lost, 1); /* it can't be read */
}
