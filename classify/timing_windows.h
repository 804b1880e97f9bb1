/* SPDX-License-Identifier: Apache-2.0 */
/* What one process said of its own timing: modes and when they changed, windows, marks, and what rooftap itself cost.
 * Bounded: how many windows there were does not matter. Times are ns of CLOCK_REALTIME, 0: not known. */
#ifndef CLASSIFY_TIMING_WINDOWS_H
#define CLASSIFY_TIMING_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/time_slices.h"
#include "trace/trace_reader.h"

enum {
    TIMING_CHANGES_MOST = 256,
    TIMING_MARKS_MOST = 1024,
    TIMING_OPEN_MOST = 64, /* windows of which only one end has been read so far */
};

struct timing_change {
    uint64_t realtime_ns;
    uint32_t asked, mode; /* enum trace_timing_mode */
    uint32_t cupti_version;
    uint64_t window_ns, period_ns;
    uint64_t graph_records_most;
    char *text; /* by which rule */
};

struct timing_mark {
    uint64_t realtime_ns;
    uint32_t window; /* 0: none was open */
    char *text;
};

struct timing_end { /* one end of a window */
    uint64_t realtime_ns;
    uint32_t number, why;
    bool is_close;
};

struct timing_windows {            /* zeroed: nothing was said */
    struct timing_change *changes; /* in order of time after timing_windows_end() */
    size_t change_count, change_capacity;
    struct timing_mark *marks;
    size_t mark_count, mark_capacity;
    struct timing_end open[TIMING_OPEN_MOST];
    size_t open_count;
    struct trace_sum_windows closed; /* sums over windows with both ends */
    struct time_slices sampled;      /* windows drawn at random */
    bool overhead_known;
    struct trace_overhead overhead; /* the last one */
    uint64_t overhead_realtime_ns;
};

/* A TIMING, WINDOW, OVERHEAD or SUM_WINDOWS record. REALTIME_NS is that of its ticks. */
void timing_windows_add(struct timing_windows *windows, const struct trace_item *item, uint64_t realtime_ns);
/* After the last record: what is open still was so up to END_NS. */
void timing_windows_end(struct timing_windows *windows, uint64_t end_ns);
bool timing_windows_any_sampled(const struct timing_windows *windows); /* a mode in use was `sampled` */
uint64_t timing_windows_count(const struct timing_windows *windows);   /* that opened */
uint64_t timing_windows_open_ns(const struct timing_windows *windows); /* of all windows together */
/* In force at NS; NULL: nothing was said by then. */
const struct timing_change *timing_windows_at(const struct timing_windows *windows, uint64_t ns);
void timing_windows_free(struct timing_windows *windows);

const char *timing_mode_name(uint32_t mode);      /* "auto", "node", ...; NULL: of a newer version */
const char *timing_window_why_name(uint32_t why); /* "start", "option", ...; NULL likewise */

#endif
