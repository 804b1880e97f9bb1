/* SPDX-License-Identifier: Apache-2.0 */
/* When one process was timed: its windows one by one, from the records of their ends in any order. */
#ifndef CLASSIFY_WINDOW_SPANS_H
#define CLASSIFY_WINDOW_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/device_time.h"
#include "classify/interval_set.h"
#include "trace/trace.h"
#include "trace/trace_sums.h"

enum { WINDOW_SPANS_LONE_MOST = 1024 };

struct window_end {
    uint64_t realtime_ns;
    uint32_t number;
    bool is_close;
};

struct window_spans { /* zeroed: always timed */
    bool bounded;
    struct interval_set *whole; /* windows of which both ends came; NULL: none */
    uint64_t windows;           /* that opened, or closed */
    struct window_end *lone;    /* ends whose other end has not come */
    size_t lone_count, lone_capacity;
    bool unknown; /* there were windows whose times are not known */
};

void window_spans_add(struct window_spans *spans, const struct trace_window *window);
/* What sums say: how many there were, and then their stretches. */
void window_spans_add_sum(struct window_spans *spans, const struct trace_sum_windows *sum);
void window_spans_add_stretch(struct window_spans *spans, const struct interval_stretch *stretch);
/* Nothing of a process that had one window only. What is open still was so to the end; of a CLOSE without its OPEN the window
 * began before all that is known. */
void window_spans_give(struct window_spans *spans, struct device_time *time);
void window_spans_free(struct window_spans *spans);

#endif
