/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each kind of record, in the order in which a reader needs them: signatures before what refers to them. */
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/join_sums.h"
#include "classify/join_timing_sums.h"
#include "classify/replay_phases.h"
#include "trace/trace_sums.h"

enum {
    RECORD_BYTES_MOST = TRACE_BLOCK_BYTES - TRACE_HEADER_BYTES,
    STRETCHES_A_RECORD = 2048,
    INTERVALS_KEPT = 8192, /* of a device: up to so many they are kept as they are */
};

struct writing {
    const struct operator_join *join;
    struct replay_phases replays; /* so far: who reads the sums has not the steps that were captured */
    join_sums_put *put;
    void *context;
    union {
        struct trace_record record;
        _Alignas(8) unsigned char bytes[RECORD_BYTES_MOST];
    } room; /* of records of no fixed size */
};

static void put_with(struct writing *w, const struct trace_signature *signature, struct trace_record *record,
                     enum trace_record_type type, size_t bytes)
{
    record->type = (uint16_t)type;
    record->size = (uint16_t)bytes;
    w->put(w->context, signature, record);
}

static void put(struct writing *w, struct trace_record *record, enum trace_record_type type, size_t bytes)
{
    put_with(w, NULL, record, type, bytes);
}

/* FIXED bytes of the record lie in w->room already; text goes behind them. Returns how much of it there was room for. */
static uint32_t add_text(struct writing *w, size_t *bytes, const char *text)
{
    size_t length = text ? strlen(text) : 0, left = sizeof w->room - *bytes - 8;
    if (length > left)
        length = left;
    if (length)
        memcpy(w->room.bytes + *bytes, text, length);
    *bytes += length;
    return (uint32_t)length;
}

static void put_text(struct writing *w, enum trace_record_type type, size_t bytes)
{
    size_t padded = (bytes + 7) / 8 * 8;
    memset(w->room.bytes + bytes, 0, padded - bytes);
    put(w, &w->room.record, type, padded);
}

/* ---- what the process said of itself ---- */

static void write_process(struct writing *w)
{
    const struct operator_join *join = w->join;
    struct trace_process *process = (struct trace_process *)w->room.bytes;
    size_t bytes = sizeof *process;
    if (!join->process_seen)
        return;
    *process = join->process;
    uint32_t command = add_text(w, &bytes, join->command), version = add_text(w, &bytes, join->version);
    process->command_bytes = (uint16_t)command;
    process->version_bytes = (uint16_t)version;
    put_text(w, TRACE_RECORD_PROCESS, bytes);
}

static void write_entries(struct writing *w)
{
    struct trace_entry *entry = (struct trace_entry *)w->room.bytes;
    for (size_t id = 0; id < w->join->entry_capacity; id++) {
        size_t bytes = sizeof *entry;
        if (!w->join->entries[id])
            continue;
        *entry = (struct trace_entry){.id = (uint32_t)id};
        entry->name_bytes = add_text(w, &bytes, w->join->entries[id]);
        put_text(w, TRACE_RECORD_ENTRY, bytes);
    }
}

static void write_notes(struct writing *w)
{
    struct trace_note *note = (struct trace_note *)w->room.bytes;
    for (size_t i = 0; i < w->join->note_count; i++) {
        const struct joined_note *from = &w->join->notes[i];
        size_t bytes = sizeof *note;
        *note = (struct trace_note){.code = from->code, .value = from->value, .ticks = from->realtime_ns};
        note->text_bytes = add_text(w, &bytes, from->text);
        put_text(w, TRACE_RECORD_NOTE, bytes);
    }
}

/* The pool is this process's own. A name that was cut ends in a mark that says so. */
static void write_names(struct writing *w)
{
    const struct name_pool *pool = w->join->names;
    struct trace_name *name = (struct trace_name *)w->room.bytes;
    for (size_t i = 0; i < pool->count; i++) {
        size_t bytes = sizeof *name;
        *name = (struct trace_name){.id = pool->ids[i]};
        name->name_bytes = name->full_bytes = add_text(w, &bytes, pool->names[i]);
        put_text(w, TRACE_RECORD_NAME, bytes);
    }
}

/* ---- launches with values, as the process wrote them ---- */

static void put_copy(struct writing *w, const struct trace_record *record)
{
    memcpy(w->room.bytes, record, record->size);
    put(w, &w->room.record, record->type, record->size);
}

static void write_launch_shapes(struct writing *w)
{
    const struct launch_shapes *shapes = &w->join->launch_shapes;
    for (size_t i = 0; i < shapes->plan_count; i++)
        if (shapes->plans[i].content)
            put_copy(w, &shapes->plans[i].content->record);
    for (size_t i = 0; i < shapes->count; i++)
        if (shapes->shapes[i].content)
            put_copy(w, &shapes->shapes[i].content->record);
}

static void write_helpers(struct writing *w)
{
    const struct helper_charges *charges = &w->join->replays.helpers;
    for (size_t i = 0; i < charges->pair_count; i++) {
        const struct helper_pair *pair = &charges->pairs[i];
        struct trace_sum_helper sum = {
            .shape_id = pair->shape_id,
            .served_id = pair->served.id,
            .served = pair->served.of == USE_CALL ? TRACE_SERVED_CALL : TRACE_SERVED_SHAPE,
            .launches = pair->launches,
            .captured = pair->captured,
            .replayed = pair->replayed,
        };
        put(w, &sum.record, TRACE_RECORD_SUM_HELPER, sizeof sum);
    }
}

/* ---- devices ---- */

static void write_busy(struct writing *w, const struct joined_device *device, const struct interval_summary *summary)
{
    struct trace_sum_busy *busy = (struct trace_sum_busy *)w->room.bytes;
    for (size_t at = 0; at < summary->count; at += busy->count) {
        size_t count = summary->count - at;
        *busy = (struct trace_sum_busy){.device = device->ordinal};
        busy->count = (uint32_t)(count < STRETCHES_A_RECORD ? count : STRETCHES_A_RECORD);
        for (uint32_t i = 0; i < busy->count; i++) {
            const struct interval_stretch *from = &summary->stretches[at + i];
            busy->stretches[i] = (struct trace_stretch){from->start_ns, from->end_ns, from->busy_ns};
        }
        put(w, &busy->record, TRACE_RECORD_SUM_BUSY, sizeof *busy + busy->count * sizeof busy->stretches[0]);
    }
}

static void write_stretches(struct writing *w, uint32_t device, enum trace_activity activity,
                            const struct interval_set *set, bool known)
{
    struct interval_summary summary = {.known = true};
    struct trace_sum_activity *sum = (struct trace_sum_activity *)w->room.bytes;
    size_t at = 0;
    if (set)
        summary = interval_set_summary(set, INTERVALS_KEPT);
    do {
        size_t count = summary.count - at;
        *sum = (struct trace_sum_activity){
            .device = device, .activity = activity, .gap_ns = summary.gap_ns, .known = known && summary.known};
        sum->count = (uint32_t)(count < STRETCHES_A_RECORD ? count : STRETCHES_A_RECORD);
        for (uint32_t i = 0; i < sum->count; i++) {
            const struct interval_stretch *from = &summary.stretches[at + i];
            sum->stretches[i] = (struct trace_stretch){from->start_ns, from->end_ns, from->busy_ns};
        }
        at += sum->count;
        put(w, &sum->record, TRACE_RECORD_SUM_ACTIVITY, sizeof *sum + sum->count * sizeof sum->stretches[0]);
    } while (at < summary.count);
    free(summary.stretches);
}

static void write_copies(struct writing *w, const struct joined_device *device)
{
    for (size_t i = 0; i < device->copied.count; i++) {
        const struct copy_sum *row = &device->copied.rows[i];
        struct trace_sum_copies sum = {.device = device->ordinal,
                                       .kind = row->kind,
                                       .direction = row->direction,
                                       .from_device = row->from,
                                       .to_device = row->to,
                                       .copies = row->copies,
                                       .bytes = row->bytes,
                                       .time_ns = row->ns};
        put(w, &sum.record, TRACE_RECORD_SUM_COPIES, sizeof sum);
    }
}

static void write_device(struct writing *w, const struct joined_device *device)
{
    bool named = !device->time.split_unknown && !operator_join_has_unnamed(w->join, device->ordinal);
    struct interval_summary summary = interval_set_summary(device->busy, INTERVALS_KEPT);
    struct trace_sum_device sum = {
        .device = device->ordinal,
        .kernels = device->kernels,
        .kernel_ns = device->kernel_ns,
        .copies = device->copies,
        .copy_ns = device->copy_ns,
        .copy_bytes = device->copy_bytes,
        .busy_gap_ns = summary.gap_ns,
        .busy_known = summary.known,
    };
    if (device->described) {
        struct trace_device facts = device->facts;
        put(w, &facts.record, TRACE_RECORD_DEVICE, sizeof facts);
    }
    put(w, &sum.record, TRACE_RECORD_SUM_DEVICE, sizeof sum);
    write_busy(w, device, &summary);
    free(summary.stretches);
    for (int activity = 0; activity < DEVICE_ACTIVITIES; activity++) /* KERNELS first */
        if (activity != DEVICE_KERNELS || device->time.sets[DEVICE_KERNELS])
            write_stretches(w, device->ordinal, (enum trace_activity)(activity + TRACE_ACTIVITY_KERNELS),
                            device->time.sets[activity], named || activity == DEVICE_COPIES);
    write_copies(w, device);
}

/* ---- sums ---- */

static void write_sums(struct writing *w, const struct joined_sums *sums)
{
    const struct operator_join *join = w->join;
    struct trace_sum_process sum = {
        .final = sums->final,
        .more_summed = sums->more_summed,
        .written_realtime_ns = sums->written_realtime_ns,
        .blocks = sums->blocks,
        .records = sums->records,
        .blocks_damaged = sums->blocks_damaged,
        .records_damaged = sums->records_damaged,
        .records_unknown = sums->records_unknown,
        .blocks_lost = sums->blocks_lost,
        .calls = join->calls,
        .failed_calls = join->failed_calls,
        .launches = join->launches_recorded,
        .kernels = join->kernels,
        .kernels_without_owner = join->kernels_without_owner,
        .kernels_invalid = join->kernels_invalid,
        .graph_kernels_unowned = join->graph_kernels_unowned,
        .graph_time_unowned_ns = join->graph_time_unowned_ns,
        .steps_dropped = join->sequence.steps.dropped,
        .sequences_dropped = join->sequence.dropped,
        .calls_beyond = join->beyond.calls,
        .failed_beyond = join->beyond.failed,
        .launches_beyond = join->beyond.launches,
        .kernels_beyond = join->beyond.kernels,
        .time_beyond_ns = join->beyond.time_ns,
        .names_beyond = join->beyond.names,
        .samples_of = sums->samples_of,
        .shapes_beyond = join->launch_shapes.beyond,
    };
    for (int p = 0; p < PHASE_COUNT; p++) {
        sum.steps[p] = replay_phases_steps(&w->replays, join, p, &sum.rows[p]);
    }
    put(w, &sum.record, TRACE_RECORD_SUM_PROCESS, sizeof sum);
}

static void write_calls(struct writing *w)
{
    for (size_t i = 0; i < w->join->signature_count; i++) {
        const struct joined_signature *signature = &w->join->signatures[i];
        struct trace_sum_calls sum = {
            .failed_status = signature->failed_status,
            .calls = signature->calls,
            .failed = signature->failed,
            .groups_known = signature->groups.known,
            .groups_at_most = signature->groups.at_most,
            .groups_flops = signature->groups.flops,
            .groups_bytes = signature->groups.bytes,
        };
        replay_phases_of(&w->replays, w->join, (uint32_t)i, false, sum.phase_calls);
        put_with(w, &signature->content, &sum.record, TRACE_RECORD_SUM_CALLS, sizeof sum);
    }
}

static void write_launches(struct writing *w)
{
    for (size_t i = 0; i < w->join->launch_count; i++) {
        const struct joined_launches *launches = &w->join->launches[i];
        struct trace_sum_launches sum = {
            .name_id = launches->name_id, .shape_id = launches->shape_id, .launches = launches->launches};
        replay_phases_of(&w->replays, w->join, (uint32_t)i, true, sum.phase_launches);
        put(w, &sum.record, TRACE_RECORD_SUM_LAUNCHES, sizeof sum);
    }
}

static void write_shapes(struct writing *w)
{
    for (size_t i = 0; i < w->join->launch_names.kernel_count; i++) {
        const struct shape_kernels *shape = &w->join->launch_names.kernels[i];
        struct trace_sum_shape sum = {
            .shape_id = shape->shape_id, .name_id = shape->name_id, .launches = shape->launches};
        put(w, &sum.record, TRACE_RECORD_SUM_SHAPE, sizeof sum);
    }
}

/* Returns how many of BUCKETS were filled. */
static uint32_t fill_buckets(uint64_t *buckets, const struct duration_histogram *durations)
{
    const uint64_t most = (1ull << TRACE_SUMS_BUCKET_SHIFT) - 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < durations->length; i++) {
        uint64_t times = durations->counts[i];
        if (times)
            buckets[count++] =
                (uint64_t)(durations->first + i) << TRACE_SUMS_BUCKET_SHIFT | (times < most ? times : most);
    }
    return count;
}

static void write_shape_kernels(struct writing *w, const struct joined_kernels *row)
{
    struct trace_sum_shape_kernels *sum = (struct trace_sum_shape_kernels *)w->room.bytes;
    *sum = (struct trace_sum_shape_kernels){
        .shape_id = row->use.id,
        .name_id = row->name_id,
        .device = row->ordinal,
        .kernels = row->kernels,
        .time_ns = row->time_ns,
        .shortest_ns = row->shortest_ns,
        .widest_blocks = row->widest_blocks,
    };
    sum->bucket_count = fill_buckets(sum->buckets, &row->durations);
    put(w, &sum->record, TRACE_RECORD_SUM_SHAPE_KERNELS, sizeof *sum + sum->bucket_count * sizeof sum->buckets[0]);
}

static void write_kernels(struct writing *w, const struct joined_kernels *row)
{
    struct trace_sum_kernels *sum = (struct trace_sum_kernels *)w->room.bytes;
    *sum = (struct trace_sum_kernels){
        .id = row->use.id,
        .device = row->ordinal,
        .of_call = row->use.of == USE_CALL,
        .kernels = row->kernels,
        .time_ns = row->time_ns,
        .shortest_ns = row->shortest_ns,
        .widest_blocks = row->widest_blocks,
        .executions = row->executions,
        .grids_left_out = row->grids_left_out,
        .recent_next = row->recent_next % JOINED_RECENT_CALLS,
    };
    memcpy(sum->recent, row->recent, sizeof sum->recent);
    memcpy(sum->recent_ns, row->recent_ns, sizeof sum->recent_ns);
    sum->bucket_count = fill_buckets(sum->buckets, &row->durations);
    put(w, &sum->record, TRACE_RECORD_SUM_KERNELS, sizeof *sum + sum->bucket_count * sizeof sum->buckets[0]);
}

static void write_grid(struct writing *w, const struct grid_time *grid)
{
    const struct joined_kernels *row = &w->join->rows[grid->owner];
    struct trace_sum_grid sum = {.id = row->use.id,
                                 .device = row->ordinal,
                                 .name_id = grid->name_id,
                                 .blocks = grid->blocks,
                                 .time_ns = grid->time_ns};
    put(w, &sum.record, TRACE_RECORD_SUM_GRID, sizeof sum);
}

static void write_siblings(struct writing *w, const struct sequence_siblings *siblings)
{
    struct trace_sum_sequence sum = {
        .kind = TRACE_SEQUENCE_SIBLINGS, .count = siblings->count, .times = siblings->times};
    for (uint32_t i = 0; i < siblings->count; i++)
        sum.signatures[i] = w->join->signatures[siblings->calls[i]].id;
    memcpy(sum.launched, siblings->launched, sizeof sum.launched);
    put(w, &sum.record, TRACE_RECORD_SUM_SEQUENCE, sizeof sum);
}

static void write_attention(struct writing *w, const struct sequence_attention *attention)
{
    struct trace_sum_sequence sum = {
        .kind = TRACE_SEQUENCE_ATTENTION, .count = 2, .scores_read = attention->scores_read, .times = attention->times};
    sum.signatures[0] = w->join->signatures[attention->scores].id;
    sum.signatures[1] = w->join->signatures[attention->output].id;
    memcpy(sum.launched, attention->launched, sizeof attention->launched);
    put(w, &sum.record, TRACE_RECORD_SUM_SEQUENCE, sizeof sum);
}

void join_sums_write(const struct operator_join *join, const struct joined_sums *sums, join_sums_put *put_record,
                     void *context)
{
    struct writing *w = allocate(1, sizeof *w);
    w->join = join;
    w->put = put_record;
    w->context = context;
    replay_phases_find(join, &w->replays);
    write_process(w);
    write_entries(w);
    write_notes(w);
    write_names(w);
    write_launch_shapes(w);
    write_sums(w, sums);
    for (size_t i = 0; i < join->device_count; i++)
        write_device(w, &join->devices[i]);
    if (join->window_spans.whole)
        write_stretches(w, 0, TRACE_ACTIVITY_TIMED, join->window_spans.whole, !join->window_spans.unknown);
    write_calls(w);
    write_launches(w);
    write_shapes(w);
    for (size_t i = 0; i < join->row_count; i++)
        (join->rows[i].use.of == USE_SHAPE ? write_shape_kernels : write_kernels)(w, &join->rows[i]);
    for (size_t i = 0; i < join->grid_times.count; i++)
        write_grid(w, &join->grid_times.grids[i]);
    for (size_t i = 0; i < join->sequence.sibling_count; i++)
        write_siblings(w, &join->sequence.siblings[i]);
    for (size_t i = 0; i < join->sequence.attention_count; i++)
        write_attention(w, &join->sequence.attention[i]);
    write_helpers(w);
    join_timing_sums_write(join, put_record, context);
    replay_phases_free(&w->replays);
    free(w);
}
