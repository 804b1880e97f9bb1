/* SPDX-License-Identifier: Apache-2.0 */
/* One handler for each record of trace_sums.h. Their numbers are claims of a stranger's file: they only ever go through
 * sum_add(), and what refers to something that is not there is left out. */
#include "classify/join_sums.h"
#include "classify/join_launches.h"
#include "classify/join_timing_sums.h"

#include <string.h>

#include "trace/trace_sums.h"

_Static_assert((int)TRACE_SUMS_PHASES == (int)PHASE_COUNT && (int)TRACE_SUMS_RECENT == (int)JOINED_RECENT_CALLS &&
                   (int)TRACE_SUMS_SIBLINGS == (int)SIBLINGS_MOST &&
                   (int)TRACE_SUMS_GAP_LAUNCHES == (int)SEQUENCE_GAP_LAUNCHES &&
                   (int)TRACE_SUMS_SOFTMAX_LAUNCHES == (int)SEQUENCE_SOFTMAX_LAUNCHES,
               "the format's sums are those of the join");

static void add_process(struct operator_join *join, const struct trace_sum_process *sum)
{
    struct joined_sums *sums = &join->sums;
    struct joined_beyond *beyond = &join->beyond;
    sums->present = true;
    sums->final = sum->final;
    sums->more_summed = sum->more_summed;
    sums->written_realtime_ns = sum->written_realtime_ns;
    sum_add(&sums->blocks, sum->blocks);
    sum_add(&sums->records, sum->records);
    sum_add(&sums->blocks_damaged, sum->blocks_damaged);
    sum_add(&sums->records_damaged, sum->records_damaged);
    sum_add(&sums->records_unknown, sum->records_unknown);
    sum_add(&sums->blocks_lost, sum->blocks_lost);
    sum_add(&sums->samples_of, sum->samples_of);
    sum_add(&join->calls, sum->calls);
    sum_add(&join->failed_calls, sum->failed_calls);
    sum_add(&join->launches_recorded, sum->launches);
    sum_add(&join->kernels, sum->kernels);
    sum_add(&join->kernels_without_owner, sum->kernels_without_owner);
    sum_add(&join->kernels_invalid, sum->kernels_invalid);
    sum_add(&join->graph_kernels_unowned, sum->graph_kernels_unowned);
    sum_add(&join->graph_time_unowned_ns, sum->graph_time_unowned_ns);
    for (int p = 0; p < PHASE_COUNT; p++) {
        sum_add(&join->sequence.steps.steps[p], sum->steps[p]);
        join->sequence.steps.rows[p] += sum->rows[p];
    }
    sum_add(&join->sequence.steps.dropped, sum->steps_dropped);
    sum_add(&join->sequence.dropped, sum->sequences_dropped);
    sum_add(&beyond->calls, sum->calls_beyond);
    sum_add(&beyond->failed, sum->failed_beyond);
    sum_add(&beyond->launches, sum->launches_beyond);
    sum_add(&beyond->kernels, sum->kernels_beyond);
    sum_add(&beyond->time_ns, sum->time_beyond_ns);
    sum_add(&beyond->names, sum->names_beyond);
    if (sum->record.size >= sizeof *sum) /* since 1.6 */
        sum_add(&join->launch_shapes.beyond, sum->shapes_beyond);
}

/* Phases of more than what was called hold replays of graphs. */
static void add_phases(struct operator_join *join, uint32_t number, bool launch, uint64_t calls,
                       const uint64_t phases[PHASE_COUNT])
{
    uint64_t sum = 0;
    for (int p = 0; p < PHASE_COUNT; p++)
        sum_add(&sum, phases[p]);
    join->sequence.steps.replays_counted |= sum > calls;
    step_counts_add(&join->sequence.steps, number, launch, phases);
}

static void add_calls(struct operator_join *join, const struct trace_sum_calls *sum,
                      const struct trace_signature *content)
{
    struct joined_signature *signature = operator_join_signature(join, content);
    if (!signature)
        return;
    sum_add(&signature->calls, sum->calls);
    sum_add(&signature->failed, sum->failed);
    if (sum->failed)
        signature->failed_status = sum->failed_status;
    if (sum->groups_known && content->groups_id && !signature->groups.known)
        signature->groups = (struct work_of_groups){true, sum->groups_at_most, sum->groups_flops, sum->groups_bytes};
    add_phases(join, (uint32_t)(signature - join->signatures), false, sum->calls, sum->phase_calls);
}

static void add_launches(struct operator_join *join, const struct trace_sum_launches *sum)
{
    size_t index = join_launches_row_of_sum(join, sum->name_id, sum->shape_id);
    if (index == SIZE_MAX)
        return;
    sum_add(&join->launches[index].launches, sum->launches);
    add_phases(join, (uint32_t)index, true, sum->launches, sum->phase_launches);
}

static void add_shape(struct operator_join *join, const struct trace_sum_shape *sum)
{
    launch_names_add_sum(&join->launch_names, &(struct shape_kernels){sum->shape_id, sum->name_id, sum->launches});
}

/* A row that is empty goes on with the executions that were going on; else these have ended. */
static void take_recent(struct joined_kernels *row, const struct trace_sum_kernels *sum, bool empty)
{
    if (empty) {
        memcpy(row->recent, sum->recent, sizeof row->recent);
        memcpy(row->recent_ns, sum->recent_ns, sizeof row->recent_ns);
        row->recent_next = sum->recent_next;
        return;
    }
    for (int i = 0; i < JOINED_RECENT_CALLS; i++)
        if (sum->recent[i])
            duration_histogram_add(&row->durations, duration_bucket(sum->recent_ns[i]), 1);
}

static void add_buckets(struct joined_kernels *row, const uint64_t *buckets, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        duration_histogram_add(&row->durations, (uint32_t)(buckets[i] >> TRACE_SUMS_BUCKET_SHIFT),
                               buckets[i] & ((1ull << TRACE_SUMS_BUCKET_SHIFT) - 1));
}

static void add_kernels(struct operator_join *join, const struct trace_sum_kernels *sum)
{
    const struct graph_use use = {sum->of_call ? USE_CALL : USE_NAME, sum->id};
    struct joined_kernels *row = operator_join_row(join, sum->device, use);
    if (!row || !operator_join_device(join, sum->device))
        return;
    take_recent(row, sum, !row->kernels);
    sum_add(&row->kernels, sum->kernels);
    sum_add(&row->time_ns, sum->time_ns);
    sum_add(&row->executions, sum->executions);
    if (sum->shortest_ns < row->shortest_ns)
        row->shortest_ns = sum->shortest_ns;
    if (sum->widest_blocks > row->widest_blocks)
        row->widest_blocks = sum->widest_blocks;
    row->grids_left_out |= sum->grids_left_out;
    add_buckets(row, sum->buckets, sum->bucket_count);
}

/* A shape that the table of today does not take is a row by name. */
static void add_shape_kernels(struct operator_join *join, const struct trace_sum_shape_kernels *sum)
{
    const bool by_shape =
        launch_shapes_take(&join->launch_shapes, TRACE_OWNER_LAUNCH_VALUES, sum->shape_id, sum->name_id);
    const struct graph_use use =
        by_shape ? (struct graph_use){USE_SHAPE, sum->shape_id} : (struct graph_use){USE_NAME, sum->name_id};
    struct joined_kernels *row = operator_join_row(join, sum->device, use);
    if (!row || !operator_join_device(join, sum->device))
        return;
    row->name_id = by_shape ? sum->name_id : 0;
    sum_add(&row->kernels, sum->kernels);
    sum_add(&row->executions, by_shape ? sum->kernels : 0);
    sum_add(&row->time_ns, sum->time_ns);
    if (sum->shortest_ns < row->shortest_ns)
        row->shortest_ns = sum->shortest_ns;
    if (sum->widest_blocks > row->widest_blocks)
        row->widest_blocks = sum->widest_blocks;
    add_buckets(row, sum->buckets, sum->bucket_count);
}

static void add_helper(struct operator_join *join, const struct trace_sum_helper *sum)
{
    const struct helper_pair pair = {
        .shape_id = sum->shape_id,
        .served = {sum->served == TRACE_SERVED_CALL ? USE_CALL : USE_SHAPE, sum->served_id},
        .launches = sum->launches,
        .captured = sum->captured,
        .replayed = sum->replayed,
    };
    helper_charges_add_pair(&join->replays.helpers, &pair);
}

static void add_grid(struct operator_join *join, const struct trace_sum_grid *sum)
{
    const struct joined_kernels *row = operator_join_row(join, sum->device, (struct graph_use){USE_CALL, sum->id});
    if (row && operator_join_device(join, sum->device))
        grid_times_add(&join->grid_times, (uint32_t)(row - join->rows), sum->name_id, sum->blocks, sum->time_ns,
                       SIZE_MAX);
}

static void add_device(struct operator_join *join, const struct trace_sum_device *sum)
{
    struct joined_device *device = operator_join_device(join, sum->device);
    if (!device)
        return;
    sum_add(&device->kernels, sum->kernels);
    sum_add(&device->kernel_ns, sum->kernel_ns);
    sum_add(&device->copies, sum->copies);
    sum_add(&device->copy_ns, sum->copy_ns);
    sum_add(&device->copy_bytes, sum->copy_bytes);
    interval_set_take(device->busy, sum->busy_gap_ns, sum->busy_known);
}

static void add_busy(struct operator_join *join, const struct trace_sum_busy *sum)
{
    struct joined_device *device = operator_join_device(join, sum->device);
    for (uint32_t i = 0; device && i < sum->count; i++) {
        const struct trace_stretch *from = &sum->stretches[i];
        struct interval_stretch stretch = {from->start_ns, from->end_ns, from->busy_ns};
        if (stretch.end_ns <= INT64_MAX)
            interval_set_add_stretch(device->busy, &stretch);
    }
}

_Static_assert((int)DEVICE_KERNELS + 1 == TRACE_ACTIVITY_KERNELS && (int)DEVICE_COMPUTE + 1 == TRACE_ACTIVITY_COMPUTE &&
                   (int)DEVICE_COMMUNICATION + 1 == TRACE_ACTIVITY_COMMUNICATION &&
                   (int)DEVICE_COPIES + 1 == TRACE_ACTIVITY_COPIES,
               "one order");

static void add_windows(struct operator_join *join, const struct trace_sum_activity *sum)
{
    join->window_spans.unknown |= !sum->known;
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct trace_stretch *from = &sum->stretches[i];
        window_spans_add_stretch(&join->window_spans,
                                 &(struct interval_stretch){from->start_ns, from->end_ns, from->busy_ns});
    }
}

static void add_activity(struct operator_join *join, const struct trace_sum_activity *sum)
{
    if (sum->activity == TRACE_ACTIVITY_TIMED) {
        add_windows(join, sum);
        return;
    }
    struct joined_device *device = operator_join_device(join, sum->device);
    enum device_activity activity = (enum device_activity)(sum->activity - 1);
    if (!device || sum->activity < TRACE_ACTIVITY_KERNELS || sum->activity > TRACE_ACTIVITY_COPIES)
        return;
    device->activity_sums |= 1u << activity;
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct trace_stretch *from = &sum->stretches[i];
        struct interval_stretch stretch = {from->start_ns, from->end_ns, from->busy_ns};
        if (stretch.end_ns <= INT64_MAX)
            device_time_add_stretch(&device->time, activity, &stretch);
    }
    device_time_take(&device->time, activity, sum->gap_ns, sum->known);
}

static void add_copies(struct operator_join *join, const struct trace_sum_copies *sum)
{
    struct joined_device *device = operator_join_device(join, sum->device);
    if (device)
        copy_sums_add(&device->copied, &(struct copy_sum){sum->kind, sum->direction, sum->from_device, sum->to_device,
                                                          sum->copies, sum->bytes, sum->time_ns});
}

/* Numbers of the signatures in this join. False: some are not there. */
static bool find_numbers(const struct operator_join *join, const struct trace_sum_sequence *sum, uint32_t *numbers)
{
    for (uint32_t i = 0; i < sum->count; i++) {
        numbers[i] = index_map_find(&join->signature_map, sum->signatures[i], 0);
        if (numbers[i] == INDEX_MAP_NONE)
            return false;
    }
    return true;
}

static void add_sequence(struct operator_join *join, const struct trace_sum_sequence *sum)
{
    uint32_t numbers[TRACE_SUMS_SIBLINGS];
    if (!find_numbers(join, sum, numbers)) {
        sum_add(&join->sequence.dropped, sum->times);
        return;
    }
    if (sum->kind == TRACE_SEQUENCE_SIBLINGS) {
        struct sequence_siblings siblings = {.count = sum->count, .times = sum->times};
        memcpy(siblings.calls, numbers, sum->count * sizeof numbers[0]);
        memcpy(siblings.launched, sum->launched, sizeof siblings.launched);
        call_sequence_add_siblings(&join->sequence, &siblings);
    } else {
        struct sequence_attention attention = {
            .scores = numbers[0], .output = numbers[1], .scores_read = sum->scores_read, .times = sum->times};
        memcpy(attention.launched, sum->launched, sizeof attention.launched);
        call_sequence_add_attention(&join->sequence, &attention);
    }
}

void joined_rotation_add(struct joined_rotation *sum, const struct joined_rotation *more)
{
    if (!more->blocks)
        return;
    if (!sum->blocks || more->first_realtime_ns < sum->first_realtime_ns)
        sum->first_realtime_ns = more->first_realtime_ns;
    if (more->last_realtime_ns > sum->last_realtime_ns)
        sum->last_realtime_ns = more->last_realtime_ns;
    sum_add(&sum->blocks, more->blocks);
    sum_add(&sum->calls, more->calls);
    sum_add(&sum->failed_calls, more->failed_calls);
    sum_add(&sum->launches, more->launches);
    sum_add(&sum->kernels, more->kernels);
    sum_add(&sum->copies, more->copies);
}

static void add_rotated(struct operator_join *join, const struct trace_rotated *record)
{
    joined_rotation_add(&join->rotated, &(struct joined_rotation){
                                            .blocks = record->blocks,
                                            .calls = record->calls,
                                            .failed_calls = record->failed_calls,
                                            .launches = record->launches,
                                            .kernels = record->kernels,
                                            .copies = record->copies,
                                            .first_realtime_ns = record->first_realtime_ns,
                                            .last_realtime_ns = record->last_realtime_ns,
                                        });
}

void join_sums_add(struct operator_join *join, const struct trace_item *item)
{
    const void *record = item->record;
    switch (item->record->type) {
    case TRACE_RECORD_SUM_PROCESS:
        add_process(join, record);
        break;
    case TRACE_RECORD_SUM_CALLS:
        add_calls(join, record, item->signature);
        break;
    case TRACE_RECORD_SUM_LAUNCHES:
        add_launches(join, record);
        break;
    case TRACE_RECORD_SUM_KERNELS:
        add_kernels(join, record);
        break;
    case TRACE_RECORD_SUM_SHAPE_KERNELS:
        add_shape_kernels(join, record);
        break;
    case TRACE_RECORD_SUM_HELPER:
        add_helper(join, record);
        break;
    case TRACE_RECORD_SUM_GRID:
        add_grid(join, record);
        break;
    case TRACE_RECORD_SUM_DEVICE:
        add_device(join, record);
        break;
    case TRACE_RECORD_SUM_BUSY:
        add_busy(join, record);
        break;
    case TRACE_RECORD_SUM_ACTIVITY:
        add_activity(join, record);
        break;
    case TRACE_RECORD_SUM_COPIES:
        add_copies(join, record);
        break;
    case TRACE_RECORD_SUM_WINDOWS:
        window_spans_add_sum(&join->window_spans, record);
        join_timing_sums_add(join, item);
        break;
    case TRACE_RECORD_SUM_SEQUENCE:
        add_sequence(join, record);
        break;
    case TRACE_RECORD_SUM_SHAPE:
        add_shape(join, record);
        break;
    case TRACE_RECORD_SAMPLE:
        sum_add(&join->sums.samples, 1);
        break;
    case TRACE_RECORD_ROTATED:
        add_rotated(join, record);
        break;
    default:
        join_timing_sums_add(join, item);
        break;
    }
}
