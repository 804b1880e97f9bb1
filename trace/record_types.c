/* SPDX-License-Identifier: Apache-2.0 */
/* The table of record types and the checks of those that hold more than numbers. The sizes are those of the version
 * that brought the record and stay so when a struct grows. */
#include "trace/record_types.h"

#include <string.h>

#include "trace/launch_values.h"
#include "trace/trace_sums.h"

/* Text of BYTES bytes at the end of a record: does it fit? */
static bool take_text(const struct trace_record *record, size_t fixed, uint64_t bytes, struct record_text *text)
{
    if (bytes > record->size - fixed)
        return false;
    text->text = (const char *)record + fixed;
    text->bytes = (uint32_t)bytes;
    return true;
}

static bool check_process(const struct trace_record *record, struct record_text *text)
{
    const struct trace_process *process = (const void *)record;
    return take_text(record, sizeof *process, (uint64_t)process->command_bytes + process->version_bytes, text);
}

static bool check_entry(const struct trace_record *record, struct record_text *text)
{
    const struct trace_entry *entry = (const void *)record;
    return entry->id != 0 && take_text(record, sizeof *entry, entry->name_bytes, text);
}

static bool check_device(const struct trace_record *record, struct record_text *text)
{
    const struct trace_device *device = (const void *)record;
    (void)text;
    return memchr(device->name, 0, sizeof device->name) != NULL;
}

static bool check_note(const struct trace_record *record, struct record_text *text)
{
    const struct trace_note *note = (const void *)record;
    return take_text(record, sizeof *note, note->text_bytes, text);
}

static bool check_name(const struct trace_record *record, struct record_text *text)
{
    const struct trace_name *name = (const void *)record;
    return name->id != 0 && name->full_bytes >= name->name_bytes &&
           take_text(record, sizeof *name, name->name_bytes, text);
}

static bool check_groups(const struct trace_record *record, struct record_text *text)
{
    const struct trace_groups *groups = (const void *)record;
    const uint64_t bytes = (uint64_t)groups->count * sizeof groups->group[0];
    (void)text;
    return groups->count && bytes <= record->size - sizeof *groups &&
           groups->id == trace_hash(groups->group, (uint32_t)bytes);
}

static bool check_timing(const struct trace_record *record, struct record_text *text)
{
    const struct trace_timing *timing = (const void *)record;
    return take_text(record, sizeof *timing, timing->text_bytes, text);
}

static bool check_window(const struct trace_record *record, struct record_text *text)
{
    const struct trace_window *window = (const void *)record;
    return take_text(record, sizeof *window, window->text_bytes, text);
}

static bool check_launch_shape(const struct trace_record *record, struct record_text *text)
{
    (void)text;
    const size_t fixed = sizeof(struct trace_launch_shape), values = sizeof(struct trace_launch_values);
    return record->size == fixed ||
           (record->size >= fixed + values &&
            launch_values_hold((const struct trace_launch_values *)((const char *)record + fixed),
                               record->size - fixed - values));
}

static bool check_parameter_plan(const struct trace_record *record, struct record_text *text)
{
    const struct trace_parameter_plan *plan = (const void *)record;
    (void)text;
    return plan->name_id && (uint64_t)plan->count * sizeof plan->parameter[0] <= record->size - sizeof *plan &&
           launch_plan_holds(plan);
}

/* ---- sums ---- */

static bool check_sum_process(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sum_process *sum = (const void *)record;
    (void)text;
    for (int p = 0; p < TRACE_SUMS_PHASES; p++)
        if (!(sum->rows[p] >= 0 && sum->rows[p] <= 1e300)) /* no NAN either */
            return false;
    return sum->final <= 1;
}

static bool check_sum_calls(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sum_calls *sum = (const void *)record;
    (void)text;
    bool numbers =
        sum->groups_flops >= 0 && sum->groups_flops <= 1e300 && sum->groups_bytes >= 0 && sum->groups_bytes <= 1e300;
    return sum->groups_known <= 1 && sum->groups_at_most <= 1 && (numbers || !sum->groups_known);
}

static bool check_buckets(const uint64_t *buckets, uint32_t count, size_t room)
{
    if (count > TRACE_SUMS_BUCKETS || count * sizeof buckets[0] > room)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bucket = buckets[i] >> TRACE_SUMS_BUCKET_SHIFT;
        if (bucket >= TRACE_SUMS_BUCKETS || (i && bucket <= buckets[i - 1] >> TRACE_SUMS_BUCKET_SHIFT))
            return false;
    }
    return true;
}

static bool check_sum_kernels(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sum_kernels *sum = (const void *)record;
    (void)text;
    return sum->of_call <= 1 && sum->grids_left_out <= 1 &&
           check_buckets(sum->buckets, sum->bucket_count, record->size - sizeof *sum);
}

static bool check_sum_shape_kernels(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sum_shape_kernels *sum = (const void *)record;
    (void)text;
    return sum->shape_id && check_buckets(sum->buckets, sum->bucket_count, record->size - sizeof *sum);
}

static bool check_sum_helper(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sum_helper *sum = (const void *)record;
    (void)text;
    return sum->shape_id && sum->served_id && (sum->served == TRACE_SERVED_CALL || sum->served == TRACE_SERVED_SHAPE);
}

static bool check_sum_device(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sum_device *sum = (const void *)record;
    (void)text;
    return sum->busy_known <= 1;
}

static bool check_stretches(const struct trace_stretch *stretches, uint32_t count, size_t room)
{
    if ((uint64_t)count * sizeof stretches[0] > room)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (stretches[i].end_ns < stretches[i].start_ns ||
            stretches[i].busy_ns > stretches[i].end_ns - stretches[i].start_ns)
            return false;
    return true;
}

static bool check_sum_busy(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sum_busy *sum = (const void *)record;
    (void)text;
    return check_stretches(sum->stretches, sum->count, record->size - sizeof *sum);
}

static bool check_sum_activity(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sum_activity *sum = (const void *)record;
    (void)text;
    return sum->known <= 1 && check_stretches(sum->stretches, sum->count, record->size - sizeof *sum);
}

static bool check_sum_sequence(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sum_sequence *sum = (const void *)record;
    (void)text;
    bool siblings = sum->kind == TRACE_SEQUENCE_SIBLINGS && sum->count <= TRACE_SUMS_SIBLINGS;
    bool attention = sum->kind == TRACE_SEQUENCE_ATTENTION && sum->count == 2;
    return sum->count >= 2 && (siblings || attention) && sum->scores_read <= 1;
}

static bool check_sum_slices(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sum_slices *sum = (const void *)record;
    (void)text;
    return sum->of_call <= 1 && sum->shift < 64 && sum->count <= TRACE_SLICES_MOST &&
           sum->count * sizeof sum->slices[0] <= record->size - sizeof *sum && sum->first <= UINT64_MAX >> sum->shift &&
           (UINT64_MAX >> sum->shift) - sum->first >= sum->count;
}

static bool check_sum_lengths(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sum_lengths *sum = (const void *)record;
    (void)text;
    return sum->total >= -1e300 && sum->total <= 1e300; /* no NAN either */
}

bool record_type_is_sampled(uint16_t type)
{
    return type == TRACE_RECORD_CALL || type == TRACE_RECORD_CALL_FAILED || type == TRACE_RECORD_LAUNCH ||
           type == TRACE_RECORD_KERNEL || type == TRACE_RECORD_COPY;
}

static bool check_sample(const struct trace_record *record, struct record_text *text)
{
    const struct trace_sample *sample = (const void *)record;
    const struct trace_record *inner = (const void *)sample->bytes;
    const uint64_t room = record->size - sizeof *sample;
    (void)text;
    if (sample->record_bytes % 8 || sample->content_bytes % 8 || sample->record_bytes < sizeof *inner ||
        (uint64_t)sample->record_bytes + sample->content_bytes > room)
        return false;
    const struct record_type *type = record_type_find(inner->type);
    if (!type || !record_type_is_sampled(inner->type) || inner->size != sample->record_bytes ||
        inner->size < type->least_bytes)
        return false;
    if (!sample->content_bytes)
        return true;
    const struct trace_record *shape = (const void *)(sample->bytes + sample->record_bytes);
    return inner->type == TRACE_RECORD_LAUNCH && shape->type == TRACE_RECORD_LAUNCH_SHAPE &&
           shape->size == sample->content_bytes && shape->size >= sizeof(struct trace_launch_shape);
}

/* clang-format off */
const struct record_type record_types[] = {
    /* type                      name            1.0  content refers to                   check */
    {TRACE_RECORD_PROCESS,      "process",        40, false, 0,                           check_process},
    {TRACE_RECORD_ENTRY,        "entry",          16, false, 0,                           check_entry},
    {TRACE_RECORD_ANCHOR,       "anchor",         40, false, 0,                           NULL},
    {TRACE_RECORD_DEVICE,       "device",        352, false, 0,                           check_device},
    {TRACE_RECORD_NOTE,         "note",           32, false, 0,                           check_note},
    {TRACE_RECORD_NAME,         "name",           24, false, 0,                           check_name},
    {TRACE_RECORD_SIGNATURE,    "signature",     216, true,  0,                           NULL},
    {TRACE_RECORD_CALL,         "call",           64, false, TRACE_RECORD_SIGNATURE,      NULL},
    {TRACE_RECORD_CALL_FAILED,  "call failed",    32, false, TRACE_RECORD_SIGNATURE,      NULL},
    {TRACE_RECORD_LAUNCH_SHAPE, "launch shape",   56, true,  0,                           check_launch_shape},
    {TRACE_RECORD_LAUNCH,       "launch",         48, false, TRACE_RECORD_LAUNCH_SHAPE,   NULL},
    {TRACE_RECORD_KERNEL,       "kernel",        112, false, 0,                           NULL},
    {TRACE_RECORD_COPY,         "copy",           64, false, 0,                           NULL},
    {TRACE_RECORD_END,          "end",            16, false, 0,                           NULL},
    {TRACE_RECORD_CLOCKS,       "clocks",         72, false, 0,                           NULL},
    {TRACE_RECORD_GROUPS,       "groups",         88, false, 0,                           check_groups},
    {TRACE_RECORD_SUM_PROCESS,  "sums of process",256,false, 0,                           check_sum_process},
    {TRACE_RECORD_SUM_CALLS,    "sum of calls",   80, false, TRACE_RECORD_SIGNATURE,      check_sum_calls},
    {TRACE_RECORD_SUM_LAUNCHES, "sum of launches",56, false, 0,                           NULL},
    {TRACE_RECORD_SUM_KERNELS,  "sum of kernels",208, false, 0,                           check_sum_kernels},
    {TRACE_RECORD_SUM_GRID,     "sum of grid",    48, false, 0,                           NULL},
    {TRACE_RECORD_SUM_DEVICE,   "sum of device",  72, false, 0,                           check_sum_device},
    {TRACE_RECORD_SUM_BUSY,     "busy stretches", 16, false, 0,                           check_sum_busy},
    {TRACE_RECORD_SUM_SEQUENCE, "sum of sequence",224,false, 0,                           check_sum_sequence},
    {TRACE_RECORD_SUM_SHAPE,    "sum of shape",   32, false, 0,                           NULL},
    {TRACE_RECORD_SAMPLE,       "sample",         56, false, 0,                           check_sample},
    {TRACE_RECORD_ROTATED,      "rotated",        80, false, 0,                           NULL},
    {TRACE_RECORD_TIMING,       "timing",         56, false, 0,                           check_timing},
    {TRACE_RECORD_WINDOW,       "window",         40, false, 0,                           check_window},
    {TRACE_RECORD_GRAPH_RUN,    "graph run",      48, false, 0,                           NULL},
    {TRACE_RECORD_GRAPH_NODE,   "graph node",     64, false, 0,                           NULL},
    {TRACE_RECORD_GRAPH_LAUNCHES,"graph launches",32, false, 0,                           NULL},
    {TRACE_RECORD_LENGTHS,      "lengths",        80, false, 0,                           NULL},
    {TRACE_RECORD_OVERHEAD,     "overhead",      128, false, 0,                           NULL},
    {TRACE_RECORD_SUM_SLICES,   "sum by time",    48, false, 0,                           check_sum_slices},
    {TRACE_RECORD_SUM_WINDOWS,  "sum of windows",312, false, 0,                           NULL},
    {TRACE_RECORD_SUM_GRAPH,    "sum of graph",   96, false, 0,                           NULL},
    {TRACE_RECORD_SUM_LENGTHS,  "sum of lengths", 72, false, 0,                           check_sum_lengths},
    {TRACE_RECORD_SUM_ACTIVITY, "activity",       32, false, 0,                           check_sum_activity},
    {TRACE_RECORD_SUM_COPIES,   "sum of copies",  64, false, 0,                           NULL},
    {TRACE_RECORD_PARAMETER_PLAN,"parameter plan",24, false, 0,                           check_parameter_plan},
    {TRACE_RECORD_SUM_SHAPE_KERNELS,"sum of shape's kernels",64,false,0,                  check_sum_shape_kernels},
    {TRACE_RECORD_SUM_HELPER,   "sum of helper",  56, false, 0,                           check_sum_helper},
};
/* clang-format on */
const size_t record_type_count = sizeof record_types / sizeof *record_types;

_Static_assert(sizeof(struct trace_device) == 352 && sizeof(struct trace_signature) == 256 &&
                   sizeof(struct trace_launch_shape) == 56 && sizeof(struct trace_kernel) == 112 &&
                   sizeof(struct trace_copy) == 64 + 16 && sizeof(struct trace_launch) == 48 &&
                   sizeof(struct trace_call_failed) == 32 && sizeof(struct trace_anchor) == 40 &&
                   sizeof(struct trace_end) == 16,
               "version 1.0; a field that is added loosens this line, not the table");
_Static_assert(sizeof(struct trace_sum_process) == 256 + 8 && sizeof(struct trace_sum_calls) == 80 &&
                   sizeof(struct trace_sum_launches) == 56 && sizeof(struct trace_sum_shape) == 32 &&
                   sizeof(struct trace_sum_kernels) == 208 && sizeof(struct trace_sum_grid) == 48 &&
                   sizeof(struct trace_sum_device) == 72 && sizeof(struct trace_sum_busy) == 16 &&
                   sizeof(struct trace_sum_sequence) == 224 && sizeof(struct trace_sample) == 56 &&
                   sizeof(struct trace_rotated) == 80,
               "version 1.4; likewise");

const struct record_type *record_type_find(uint16_t type)
{
    /* Rows stand in the order of their numbers, which have no gap; tests/trace holds that. */
    return type >= 1 && type <= record_type_count ? &record_types[type - 1] : NULL;
}
