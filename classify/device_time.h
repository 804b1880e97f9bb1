/* SPDX-License-Identifier: Apache-2.0 */
/* What one device did from its first activity to its last: how long it computed, how long it only communicated, only copied,
 * or did nothing. Each nanosecond is counted once, so the parts sum to the span. */
#ifndef CLASSIFY_DEVICE_TIME_H
#define CLASSIFY_DEVICE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "classify/interval_set.h"

/* KERNELS are compute and communication together: their union can't be told from the two, once old times are stretches. */
enum device_activity { DEVICE_KERNELS, DEVICE_COMPUTE, DEVICE_COMMUNICATION, DEVICE_COPIES, DEVICE_ACTIVITIES };

struct device_time {
    bool bounded;
    bool split_unknown;                           /* of some kernel it is not known which it was */
    bool span_unknown;                            /* of some process it is not known when it was timed */
    struct interval_set *sets[DEVICE_ACTIVITIES]; /* NULL: none; KERNELS also while they are COMPUTE and nothing else */
    struct interval_set *timed;                   /* when kernels were timed; NULL: all the time */
};

/* In ns, of all streams and processes. What overlaps is counted as compute before communication before copies. */
struct device_time_sum {
    bool busy_known, span_known, split_known; /* all that follows holds only as far as these say */
    uint64_t busy_ns;                         /* anything at all */
    uint64_t span_ns, gap_ns;                 /* from first start to last end as far as it was timed; nothing in it */
    uint64_t compute_ns, communication_ns, copy_ns; /* sum to busy_ns */
    uint64_t communication_overlapped_ns;           /* beside compute */
    uint64_t copy_overlapped_ns;                    /* beside compute or communication */
};

/* BOUNDED: in constant memory, for a process that never ends. */
void device_time_open(struct device_time *time, bool bounded);
void device_time_close(struct device_time *time);
/* COMPUTE, COMMUNICATION or COPIES. */
void device_time_add(struct device_time *time, enum device_activity activity, uint64_t start_ns, uint64_t end_ns);
/* All of FROM, which is closed. */
void device_time_add_set(struct device_time *time, enum device_activity activity, struct interval_set *from);
/* Of sums that were kept in place of intervals: KERNELS too, and before COMPUTE. */
void device_time_add_stretch(struct device_time *time, enum device_activity activity,
                             const struct interval_stretch *stretch);
void device_time_take(struct device_time *time, enum device_activity activity, uint64_t gap_ns, bool known);
/* It was timed then, and not all the time. */
void device_time_add_window(struct device_time *time, uint64_t open_ns, uint64_t close_ns);
/* Adds all of FROM, another process's on the same device, which is closed. */
void device_time_absorb(struct device_time *time, struct device_time *from);
/* BUSY: all that the device did, as one set. */
struct device_time_sum device_time_sum(struct device_time *time, struct interval_set *busy);

#endif
