/* SPDX-License-Identifier: Apache-2.0 */
/* The counters and slots of a trace are a stranger's, as its records are, and are older or newer than these. */
#include "classify/session_process.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/hidden_shapes.h"
#include "classify/kernel_families.h"

static void read_notes(struct session_process *process, struct operator_join *join)
{
    for (size_t i = 0; i < join->note_count; i++) {
        const struct joined_note *note = &join->notes[i];
        if (note->code == TRACE_NOTE_HOOK_LEVEL) {
            free(process->hook_level);
            process->hook_level = allocate_text(note->text);
        } else if (note->code == TRACE_NOTE_RANK) {
            free(process->rank);
            process->rank = allocate_text(note->text);
        } else if (note->code == TRACE_NOTE_TIMING_ON || note->code == TRACE_NOTE_TIMING_OFF) {
            process->timing = note->code == TRACE_NOTE_TIMING_ON ? SESSION_TIMING_ON : SESSION_TIMING_OFF;
            free(process->timing_text);
            process->timing_text = allocate_text(note->text);
        } else if (note->code == TRACE_NOTE_TIMING_CUT) {
            process->timing_cut = true;
        }
    }
    process->notes = join->notes;
    process->note_count = join->note_count;
    join->notes = NULL;
    join->note_count = join->note_capacity = 0;
}

static uint64_t excess(uint64_t recorded, uint64_t read)
{
    return recorded > read ? recorded - read : 0;
}

/* Slots have no checksum, so garbage shows only by what it says: a thread beyond Linux's PID_MAX_LIMIT, a function that the
 * trace never named, sizes that no memory holds. A size below 0 may be a program's mistake. */
static bool slot_can_be(const struct trace_slot *slot, const struct operator_join *join)
{
    const uint32_t largest_tid = 1u << 22;
    const int64_t least = INT32_MIN, most = (int64_t)1 << 48;
    if (slot->tid > largest_tid) /* 0: the thread has ended, its counts stay */
        return false;
    if (!slot->entry)
        return true; /* what is left in the arguments is of an earlier call */
    for (size_t i = 0; i < sizeof slot->argument / sizeof slot->argument[0]; i++)
        if (slot->argument[i] < least || slot->argument[i] > most)
            return false;
    return operator_join_entry(join, slot->entry) != NULL;
}

/* What threads say they wrote, and the file doesn't hold. While the process still runs, its slots are read later than its
 * blocks and run ahead of them, so then it tells something only if nothing at all was read. */
static void find_missing(struct session_process *process, const struct operator_join *join,
                         const struct trace_reader *reader, bool still_written)
{
    uint64_t calls_recorded = 0, launches_recorded = 0;
    for (size_t i = 0; i < trace_reader_slot_count(reader); i++) {
        const struct trace_slot *slot = trace_reader_slot(reader, i);
        if (!slot_can_be(slot, join))
            continue;
        calls_recorded += slot->calls_recorded;
        launches_recorded += slot->launches_recorded;
        process->calls_begun += slot->calls_begun;
        process->launches_begun += slot->launches_begun;
        process->launches_failed += slot->launches_failed;
    }
    if (still_written && (process->calls || process->failed_calls || process->launches))
        return;
    /* What rotation wrote over is counted elsewhere. */
    const struct joined_rotation *rotated = &join->rotated;
    process->calls_missing = excess(excess(calls_recorded, process->calls), rotated->calls);
    process->launches_missing = excess(excess(launches_recorded, process->launches), rotated->launches);
}

static void read_slots(struct session_process *process, const struct operator_join *join,
                       const struct trace_reader *reader)
{
    size_t capacity = 0, slots = trace_reader_slot_count(reader);
    process->counters = *trace_reader_counters(reader);
    process->records_dropped = process->counters.calls_without_slot + process->counters.cupti_records_dropped +
                               process->counters.records_dropped;
    process->drops_untold = process->counters.cupti_drops_untold;
    for (size_t i = 0; i < slots; i++) {
        const struct trace_slot *slot = trace_reader_slot(reader, i);
        if (!slot_can_be(slot, join)) {
            process->stats.records_damaged++;
            continue;
        }
        process->records_dropped += slot->records_dropped;
        if (!slot->entry)
            continue;
        process->in_flight =
            allocate_grow(process->in_flight, process->in_flight_count, &capacity, sizeof *process->in_flight);
        struct session_in_flight *call = &process->in_flight[process->in_flight_count++];
        *call = (struct session_in_flight){slot->tid, allocate_text(operator_join_entry(join, slot->entry)), {0}};
        memcpy(call->argument, slot->argument, sizeof call->argument);
    }
}

static bool names_gemm_or_attention(const struct operator_join *join, uint64_t name_id)
{
    const char *name = name_pool_find(join->names, name_id);
    return name && kernel_kind_of_name(name) != KERNEL_OTHER && !hidden_shapes_is_engine_kernel(name);
}

/* Launches where nothing was timed, kernels where that was. */
static uint64_t count_named_kernels(struct operator_join *join)
{
    uint64_t kernels = 0, launches = 0;
    for (size_t i = 0; i < join->row_count; i++)
        if (!operator_join_shape_is_known(join, join->rows[i].use) &&
            names_gemm_or_attention(join, joined_kernels_name(&join->rows[i])))
            kernels += join->rows[i].kernels;
    for (size_t i = 0; i < join->launch_share_count; i++)
        if (!operator_join_shape_is_known(join, launch_share_use(join, &join->launch_shares[i])) &&
            names_gemm_or_attention(join, join->launch_shares[i].name_id))
            launches += join->launch_shares[i].launches;
    return kernels > launches ? kernels : launches;
}

struct session_process *session_process_add(struct session *session, const char *file)
{
    session->processes = allocate_grow(session->processes, session->process_count, &session->process_capacity,
                                       sizeof *session->processes);
    struct session_process *process = &session->processes[session->process_count++];
    *process = (struct session_process){.file = allocate_text(file), .pid = -1, .parent_pid = -1, .blas_files = -1};
    return process;
}

/* What was damaged in the records that were summed is damaged still. */
static void take_sums(struct session_process *process, const struct operator_join *join)
{
    process->sums = join->sums;
    process->rotated = join->rotated;
    sum_add(&process->stats.blocks_damaged, join->sums.blocks_damaged);
    sum_add(&process->stats.records_damaged, join->sums.records_damaged);
    sum_add(&process->stats.records_unknown, join->sums.records_unknown);
}

static void take_timing(struct session_process *process, struct operator_join *join)
{
    const struct graph_replays *replays = &join->replays;
    struct session_replays *sum = &process->replays;
    process->lengths = join->lengths;
    join->lengths = (struct live_lengths){0};
    for (size_t i = 0; i < replays->graph_count; i++) {
        const struct graph_replay *graph = &replays->graphs[i];
        const bool known = graph->live_nodes && !graph->nodes_beyond;
        sum_add(&sum->graphs, 1);
        sum_add(&sum->launches, graph->launches);
        sum_add(&sum->runs, graph->runs);
        sum_add(&sum->run_ns, graph->run_ns);
        if (graph->launches || graph->runs || graph->kernels)
            sum->graphs_unknown += !known;
        if (!known || !graph->launches)
            continue;
        sum_add(&sum->kernels_launched, graph->node_launches);
        sum_add(&sum->kernels_timed, graph->kernels);
    }
}

void session_process_take_windows(struct session_process *process, struct operator_join *join)
{
    process->windows = join->timing;
    join->timing = (struct timing_windows){0};
}

void session_process_fill(struct session_process *process, struct operator_join *join,
                          const struct trace_reader *reader, uint32_t block_pid, bool still_written)
{
    if (join->process_seen) {
        process->pid = join->process.pid;
        process->parent_pid = join->process.parent_pid;
        process->start_realtime_ns = join->process.start_realtime_ns;
        process->command = allocate_text(join->command);
        process->version = allocate_text(join->version);
    } else if (block_pid) {
        process->pid = block_pid;
    }
    process->calls = join->calls;
    process->failed_calls = join->failed_calls;
    process->launches = join->launches_recorded;
    process->kernels = join->kernels;
    process->named_kernels = count_named_kernels(join);
    process->stats = *trace_reader_stats(reader);
    take_sums(process, join);
    take_timing(process, join);
    read_notes(process, join);
    hidden_shapes_find(process, join);
    process->clock = join->clock;
    read_slots(process, join, reader);
    find_missing(process, join, reader, still_written);
    process->timed = process->timing == SESSION_TIMING_ON || process->kernels || process->replays.runs ||
                     join->kernels_invalid || process->counters.kernels_invalid;
}

/* Launches inside library calls are no operators of their own. */
static uint64_t outermost_launches(const struct operator_join *join)
{
    uint64_t launches = 0;
    for (size_t i = 0; i < join->launch_count; i++)
        launches += join->launches[i].launches;
    return launches;
}

static void add_beyond(struct joined_beyond *sum, const struct joined_beyond *more)
{
    sum_add(&sum->calls, more->calls);
    sum_add(&sum->failed, more->failed);
    sum_add(&sum->launches, more->launches);
    sum_add(&sum->kernels, more->kernels);
    sum_add(&sum->time_ns, more->time_ns);
    sum_add(&sum->names, more->names);
    sum_add(&sum->shapes, more->shapes);
}

void session_process_cover(struct session_coverage *coverage, const struct session_process *process,
                           const struct operator_join *join)
{
    coverage->calls += process->calls;
    coverage->failed_calls += process->failed_calls;
    coverage->in_flight += process->in_flight_count;
    coverage->launches += process->launches;
    coverage->kernels += process->kernels;
    coverage->kernels_invalid += process->counters.kernels_invalid + join->kernels_invalid;
    coverage->kernels_untimed += process->counters.kernels_invalid + join->kernels_invalid;
    if (!process->timed)
        coverage->kernels_untimed += process->calls + outermost_launches(join);
    else
        coverage->kernels_untimed += process->counters.calls_before_timing + process->counters.calls_without_events;
    coverage->failed_launches += process->launches_failed;
    coverage->calls_missing += process->calls_missing;
    coverage->launches_missing += process->launches_missing;
    coverage->graph_kernels_unjoined += join->graph_kernels_unowned;
    sum_add(&coverage->graph_time_unjoined_ns, join->graph_time_unowned_ns);
    add_beyond(&coverage->beyond, &join->beyond);
    joined_rotation_add(&coverage->rotated, &join->rotated);
    if (join->newest_realtime_ns > coverage->newest_realtime_ns)
        coverage->newest_realtime_ns = join->newest_realtime_ns;
    coverage->kernels_unjoined += process->counters.kernels_unjoined;
    coverage->records_dropped += process->records_dropped;
    coverage->drops_untold += process->drops_untold;
    coverage->buffers_lost += process->counters.buffers_lost;
    coverage->copies_invalid += process->counters.copies_invalid;
    coverage->records_foreign += process->counters.records_unknown;
    coverage->records_damaged += process->stats.records_damaged;
    coverage->records_unknown += process->stats.records_unknown;
    coverage->blocks_damaged += process->stats.blocks_damaged;
    coverage->traces_cut += process->stats.cut_short;
}
