/* SPDX-License-Identifier: Apache-2.0 */
/* When one process was timed: its windows one by one, from the records of their ends in any order. */
#ifndef CLASSIFY_WINDOW_SPANS_H
#define CLASSIFY_WINDOW_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/device_time.h"
#include "trace/trace.h"
#include "trace/trace_sums.h"

struct window_end {
    uint64_t realtime_ns;
    uint32_t number;
    bool is_close;
};

struct window_spans { /* zeroed: always timed */
    struct window_end *ends;
    size_t count, capacity;
    size_t most;  /* 0: as many as there are */
    bool unknown; /* there were windows whose times were not kept */
};

void window_spans_add(struct window_spans *spans, const struct trace_window *window);
void window_spans_add_sum(struct window_spans *spans, const struct trace_sum_windows *sum);
/* Nothing of a process that had one window only. What is open still was so to the end; of a CLOSE without its OPEN the window
 * began before all that is known. */
void window_spans_give(struct window_spans *spans, struct device_time *time);
void window_spans_free(struct window_spans *spans);

#endif
