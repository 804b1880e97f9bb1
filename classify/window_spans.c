/* SPDX-License-Identifier: Apache-2.0 */
/* Ends are kept as they come and paired by number once all are there. */
#include "classify/window_spans.h"

#include <stdlib.h>

#include "classify/allocate.h"

static void add_end(struct window_spans *spans, uint64_t realtime_ns, uint32_t number, bool is_close)
{
    if (spans->most && spans->count == spans->most) {
        spans->unknown = true;
        return;
    }
    spans->ends = allocate_grow(spans->ends, spans->count, &spans->capacity, sizeof *spans->ends);
    spans->ends[spans->count++] = (struct window_end){realtime_ns, number, is_close};
}

void window_spans_add(struct window_spans *spans, const struct trace_window *window)
{
    if (window->what == TRACE_WINDOW_OPEN || window->what == TRACE_WINDOW_CLOSE)
        add_end(spans, window->realtime_ns, window->number, window->what == TRACE_WINDOW_CLOSE);
}

/* Of more than one window sums don't tell the times between them. */
void window_spans_add_sum(struct window_spans *spans, const struct trace_sum_windows *sum)
{
    uint64_t windows = 0;
    for (int why = 0; why < TRACE_SUMS_WINDOW_REASONS; why++)
        windows += sum->windows[why] ? 1 + (sum->windows[why] > 1) : 0;
    if (windows == 1) {
        add_end(spans, sum->first_open_ns, 0, false);
        add_end(spans, sum->last_close_ns, 0, true);
    } else {
        spans->unknown |= windows > 1;
    }
}

static int compare_ends(const void *a, const void *b)
{
    const struct window_end *x = a, *y = b;
    if (x->number != y->number)
        return (x->number > y->number) - (x->number < y->number);
    if (x->realtime_ns != y->realtime_ns)
        return (x->realtime_ns > y->realtime_ns) - (x->realtime_ns < y->realtime_ns);
    return x->is_close - y->is_close;
}

/* Nothing was timed before it or after it, so that it tells nothing that first start and last end don't. */
static bool is_one_window(const struct window_spans *spans)
{
    return !spans->unknown &&
           (spans->count == 1 || (spans->count == 2 && spans->ends[0].number == spans->ends[1].number));
}

void window_spans_give(struct window_spans *spans, struct device_time *time)
{
    if (is_one_window(spans))
        return;
    if (spans->count)
        qsort(spans->ends, spans->count, sizeof *spans->ends, compare_ends);
    for (size_t i = 0; i < spans->count; i++) {
        const struct window_end *end = &spans->ends[i], *next = i + 1 < spans->count ? end + 1 : NULL;
        if (end->is_close) {
            device_time_add_window(time, 0, end->realtime_ns);
        } else if (next && next->is_close && next->number == end->number) {
            device_time_add_window(time, end->realtime_ns, next->realtime_ns);
            i++;
        } else {
            device_time_add_window(time, end->realtime_ns, UINT64_MAX);
        }
    }
    time->span_unknown |= spans->unknown;
}

void window_spans_free(struct window_spans *spans)
{
    free(spans->ends);
    *spans = (struct window_spans){0};
}
