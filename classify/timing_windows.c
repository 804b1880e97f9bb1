/* SPDX-License-Identifier: Apache-2.0 */
/* The two ends of a window may be read in either order, and other threads' records between them. */
#include "classify/timing_windows.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"

const char *timing_mode_name(uint32_t mode)
{
    static const char *const names[] = {
        [TRACE_TIMING_OFF] = "off",     [TRACE_TIMING_AUTO] = "auto",       [TRACE_TIMING_NODE] = "node",
        [TRACE_TIMING_GRAPH] = "graph", [TRACE_TIMING_SAMPLED] = "sampled", [TRACE_TIMING_EVENTS] = "events",
    };
    return mode < sizeof names / sizeof names[0] ? names[mode] : NULL;
}

const char *timing_window_why_name(uint32_t why)
{
    static const char *const names[] = {
        [TRACE_WINDOW_START] = "start",       [TRACE_WINDOW_OPTION] = "option", [TRACE_WINDOW_CONTROL] = "control",
        [TRACE_WINDOW_SAMPLED] = "sampled",   [TRACE_WINDOW_BOUND] = "bound",   [TRACE_WINDOW_OVERHEAD] = "overhead",
        [TRACE_WINDOW_PROFILER] = "profiler", [TRACE_WINDOW_END] = "end",
    };
    return why < sizeof names / sizeof names[0] ? names[why] : NULL;
}

static char *text_of(const struct trace_item *item)
{
    char *text = allocate(item->text_bytes + 1, 1);
    memcpy(text, item->text, item->text_bytes);
    for (size_t i = 0; i < item->text_bytes; i++)
        if (!text[i])
            text[i] = ' ';
    return text;
}

/* ---- records ---- */

static void add_timing(struct timing_windows *windows, const struct trace_item *item, uint64_t realtime_ns)
{
    const struct trace_timing *timing = (const struct trace_timing *)item->record;
    if (windows->change_count == TIMING_CHANGES_MOST) {
        sum_add(&windows->closed.changes_beyond, 1);
        return;
    }
    windows->changes =
        allocate_grow(windows->changes, windows->change_count, &windows->change_capacity, sizeof *windows->changes);
    windows->changes[windows->change_count++] = (struct timing_change){
        .realtime_ns = realtime_ns,
        .asked = timing->asked,
        .mode = timing->mode,
        .cupti_version = timing->cupti_version,
        .window_ns = timing->window_ns,
        .period_ns = timing->period_ns,
        .graph_records_most = timing->graph_records_most,
        .text = text_of(item),
    };
}

static void add_mark(struct timing_windows *windows, const struct trace_item *item, uint64_t realtime_ns)
{
    const struct trace_window *mark = (const struct trace_window *)item->record;
    if (windows->mark_count == TIMING_MARKS_MOST) {
        sum_add(&windows->closed.marks_beyond, 1);
        return;
    }
    windows->marks =
        allocate_grow(windows->marks, windows->mark_count, &windows->mark_capacity, sizeof *windows->marks);
    windows->marks[windows->mark_count++] = (struct timing_mark){realtime_ns, mark->number, text_of(item)};
}

static void close_window(struct timing_windows *windows, uint32_t why, uint64_t open_ns, uint64_t close_ns)
{
    struct trace_sum_windows *sum = &windows->closed;
    const uint32_t row = why < TRACE_SUMS_WINDOW_REASONS ? why : 0;
    const bool known = open_ns && close_ns > open_ns;
    sum_add(&sum->windows[row], 1);
    sum_add(&sum->open_ns[row], known ? close_ns - open_ns : 0);
    if (open_ns && (!sum->first_open_ns || open_ns < sum->first_open_ns))
        sum->first_open_ns = open_ns;
    if (close_ns > sum->last_close_ns)
        sum->last_close_ns = close_ns;
    if (why != TRACE_WINDOW_SAMPLED || !known)
        return;
    time_slices_cover(&windows->sampled, open_ns, close_ns);
    time_slices_add(&windows->sampled, open_ns, (struct trace_slice){.all = 1});
}

/* More ends without their other one than a writer ever has: the first is given up. */
static void drop_first(struct timing_windows *windows)
{
    const struct timing_end first = windows->open[0];
    if (!first.is_close)
        close_window(windows, first.why, first.realtime_ns, first.realtime_ns);
    memmove(windows->open, windows->open + 1, (TIMING_OPEN_MOST - 1) * sizeof windows->open[0]);
    windows->open_count--;
}

static void take_last(struct trace_sum_windows *sum, uint32_t why, uint64_t ns)
{
    if (ns < sum->last_why_ns)
        return;
    sum->last_why = why;
    sum->last_why_ns = ns;
}

static void add_end(struct timing_windows *windows, const struct timing_end *end)
{
    if (end->is_close)
        take_last(&windows->closed, end->why, end->realtime_ns);
    for (size_t i = 0; i < windows->open_count; i++) {
        const struct timing_end other = windows->open[i];
        if (other.number != end->number || other.is_close == end->is_close)
            continue;
        const struct timing_end *open = end->is_close ? &other : end, *close = end->is_close ? end : &other;
        close_window(windows, open->why, open->realtime_ns, close->realtime_ns);
        windows->open[i] = windows->open[--windows->open_count];
        return;
    }
    if (windows->open_count == TIMING_OPEN_MOST)
        drop_first(windows);
    windows->open[windows->open_count++] = *end;
}

static void add_window(struct timing_windows *windows, const struct trace_item *item, uint64_t realtime_ns)
{
    const struct trace_window *window = (const struct trace_window *)item->record;
    const uint64_t at_ns = window->realtime_ns && window->realtime_ns <= INT64_MAX ? window->realtime_ns : realtime_ns;
    if (window->what == TRACE_WINDOW_MARK)
        add_mark(windows, item, at_ns);
    else if (window->what == TRACE_WINDOW_OPEN || window->what == TRACE_WINDOW_CLOSE)
        add_end(windows, &(struct timing_end){at_ns, window->number, window->why, window->what == TRACE_WINDOW_CLOSE});
}

static void add_sum(struct timing_windows *windows, const struct trace_sum_windows *more)
{
    struct trace_sum_windows *sum = &windows->closed;
    for (int i = 0; i < TRACE_SUMS_WINDOW_REASONS; i++) {
        sum_add(&sum->windows[i], more->windows[i]);
        sum_add(&sum->open_ns[i], more->open_ns[i]);
    }
    if (more->first_open_ns && (!sum->first_open_ns || more->first_open_ns < sum->first_open_ns))
        sum->first_open_ns = more->first_open_ns;
    if (more->last_close_ns > sum->last_close_ns)
        sum->last_close_ns = more->last_close_ns;
    if (more->last_why)
        take_last(sum, more->last_why, more->last_why_ns);
    sum_add(&sum->marks_beyond, more->marks_beyond);
    sum_add(&sum->changes_beyond, more->changes_beyond);
}

static void add_overhead(struct timing_windows *windows, const struct trace_overhead *overhead, uint64_t realtime_ns)
{
    if (windows->overhead_known && overhead->wall_ns < windows->overhead.wall_ns)
        return;
    windows->overhead_known = true;
    windows->overhead = *overhead;
    windows->overhead_realtime_ns = realtime_ns;
}

void timing_windows_add(struct timing_windows *windows, const struct trace_item *item, uint64_t realtime_ns)
{
    switch (item->record->type) {
    case TRACE_RECORD_TIMING:
        add_timing(windows, item, realtime_ns);
        break;
    case TRACE_RECORD_WINDOW:
        add_window(windows, item, realtime_ns);
        break;
    case TRACE_RECORD_OVERHEAD:
        add_overhead(windows, (const struct trace_overhead *)item->record, realtime_ns);
        break;
    case TRACE_RECORD_SUM_WINDOWS:
        add_sum(windows, (const struct trace_sum_windows *)item->record);
        break;
    default:
        break;
    }
}

/* ---- after the last record ---- */

static int by_time(const void *left, const void *right)
{
    const struct timing_change *a = left, *b = right;
    return (a->realtime_ns > b->realtime_ns) - (a->realtime_ns < b->realtime_ns);
}

static int mark_by_time(const void *left, const void *right)
{
    const struct timing_mark *a = left, *b = right;
    return (a->realtime_ns > b->realtime_ns) - (a->realtime_ns < b->realtime_ns);
}

void timing_windows_end(struct timing_windows *windows, uint64_t end_ns)
{
    for (size_t i = 0; i < windows->open_count; i++) {
        const struct timing_end *open = &windows->open[i];
        if (!open->is_close)
            close_window(windows, open->why, open->realtime_ns, end_ns);
    }
    windows->open_count = 0;
    if (windows->change_count)
        qsort(windows->changes, windows->change_count, sizeof windows->changes[0], by_time);
    if (windows->mark_count)
        qsort(windows->marks, windows->mark_count, sizeof windows->marks[0], mark_by_time);
}

bool timing_windows_any_sampled(const struct timing_windows *windows)
{
    for (size_t i = 0; i < windows->change_count; i++)
        if (windows->changes[i].mode == TRACE_TIMING_SAMPLED)
            return true;
    return false;
}

static uint64_t sum_of(const uint64_t *numbers)
{
    uint64_t sum = 0;
    for (int i = 0; i < TRACE_SUMS_WINDOW_REASONS; i++)
        sum_add(&sum, numbers[i]);
    return sum;
}

uint64_t timing_windows_count(const struct timing_windows *windows)
{
    return sum_of(windows->closed.windows);
}

uint64_t timing_windows_open_ns(const struct timing_windows *windows)
{
    return sum_of(windows->closed.open_ns);
}

const struct timing_change *timing_windows_at(const struct timing_windows *windows, uint64_t ns)
{
    const struct timing_change *found = NULL;
    for (size_t i = 0; i < windows->change_count && windows->changes[i].realtime_ns <= ns; i++)
        found = &windows->changes[i];
    return found;
}

void timing_windows_free(struct timing_windows *windows)
{
    for (size_t i = 0; i < windows->change_count; i++)
        free(windows->changes[i].text);
    for (size_t i = 0; i < windows->mark_count; i++)
        free(windows->marks[i].text);
    free(windows->changes);
    free(windows->marks);
    time_slices_free(&windows->sampled);
    *windows = (struct timing_windows){0};
}
