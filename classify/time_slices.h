/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and times by when they were, in at most TRACE_SLICES_MOST slices of equal length. The length doubles when the time
 * between first and last needs it, so memory is bounded and what comes out does not depend on the order of adding. */
#ifndef CLASSIFY_TIME_SLICES_H
#define CLASSIFY_TIME_SLICES_H

#include <stdint.h>

#include "trace/trace_sums.h"

enum { TIME_SLICES_SHIFT_LEAST = 22 }; /* 4.2 ms */

/* Zeroed: empty. Slice i is of the ns from (first + i) << shift on. */
struct time_slices {
    struct trace_slice *slices;
    uint64_t first;
    uint32_t count;
    uint32_t shift;
    uint32_t room; /* of SLICES; what is behind the first COUNT is zeros. Most things happen in one or two */
};

/* Adds to the slice of NS. NS 0 is no time: such things are in no slice. */
void time_slices_add(struct time_slices *slices, uint64_t ns, struct trace_slice what);
/* Adds ALL in equal parts over the time between, and nothing is lost in rounding. */
void time_slices_spread(struct time_slices *slices, uint64_t from_ns, uint64_t to_ns, uint64_t all);
/* The same of a time that is counted itself: time_ns of each slice grows by what of it lies there. */
void time_slices_cover(struct time_slices *slices, uint64_t from_ns, uint64_t to_ns);
void time_slices_coarsen(struct time_slices *slices, uint32_t shift); /* to slices of at least 1 << SHIFT ns */
void time_slices_add_all(struct time_slices *into, const struct time_slices *more);
/* PART of WHOLE of what is in MORE; nothing where WHOLE is 0. */
void time_slices_add_part(struct time_slices *into, const struct time_slices *more, uint64_t part, uint64_t whole);
struct trace_slice time_slices_sum(const struct time_slices *slices);
void time_slices_free(struct time_slices *slices);

#endif
