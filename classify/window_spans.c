/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends have one number. They usually come one after the other, so few are alone at any time. */
#include "classify/window_spans.h"

#include <stdlib.h>

#include "classify/allocate.h"

enum { STRETCHES_MOST = 4096 };

static struct interval_set *whole_of(struct window_spans *spans)
{
    if (!spans->whole)
        spans->whole = spans->bounded ? interval_set_open_bounded(INTERVAL_SET_BUFFER, STRETCHES_MOST)
                                      : interval_set_open(INTERVAL_SET_BUFFER);
    return spans->whole;
}

static void add_end(struct window_spans *spans, const struct window_end *end)
{
    for (size_t i = 0; i < spans->lone_count; i++) {
        const struct window_end other = spans->lone[i];
        if (other.number != end->number || other.is_close == end->is_close)
            continue;
        spans->lone[i] = spans->lone[--spans->lone_count];
        interval_set_add(whole_of(spans), end->is_close ? other.realtime_ns : end->realtime_ns,
                         end->is_close ? end->realtime_ns : other.realtime_ns);
        return;
    }
    spans->windows++;
    if (spans->lone_count == WINDOW_SPANS_LONE_MOST) {
        spans->unknown = true;
        return;
    }
    spans->lone = allocate_grow(spans->lone, spans->lone_count, &spans->lone_capacity, sizeof *spans->lone);
    spans->lone[spans->lone_count++] = *end;
}

void window_spans_add(struct window_spans *spans, const struct trace_window *window)
{
    if (window->what == TRACE_WINDOW_OPEN || window->what == TRACE_WINDOW_CLOSE)
        add_end(spans, &(struct window_end){window->realtime_ns, window->number, window->what == TRACE_WINDOW_CLOSE});
}

void window_spans_add_sum(struct window_spans *spans, const struct trace_sum_windows *sum)
{
    for (int why = 0; why < TRACE_SUMS_WINDOW_REASONS; why++)
        spans->windows += sum->windows[why] < 2 ? sum->windows[why] : 2; /* one or more is all that matters */
}

void window_spans_add_stretch(struct window_spans *spans, const struct interval_stretch *stretch)
{
    spans->unknown |= stretch->busy_ns != stretch->end_ns - stretch->start_ns;
    interval_set_add_stretch(whole_of(spans), stretch);
}

static void visit_whole(void *time, uint64_t open_ns, uint64_t close_ns)
{
    device_time_add_window(time, open_ns, close_ns);
}

void window_spans_give(struct window_spans *spans, struct device_time *time)
{
    if (spans->windows <= 1 && !spans->unknown)
        return; /* nothing was timed before or after it, so that it tells nothing that first start and last end don't */
    time->span_unknown |= spans->unknown || (!spans->whole && !spans->lone_count);
    if (spans->whole && !interval_set_visit(spans->whole, visit_whole, time))
        time->span_unknown = true;
    for (size_t i = 0; i < spans->lone_count; i++)
        device_time_add_window(time, spans->lone[i].is_close ? 0 : spans->lone[i].realtime_ns,
                               spans->lone[i].is_close ? spans->lone[i].realtime_ns : UINT64_MAX);
}

void window_spans_free(struct window_spans *spans)
{
    interval_set_close(spans->whole);
    free(spans->lone);
    *spans = (struct window_spans){0};
}
