/* SPDX-License-Identifier: Apache-2.0 */
/* How far CUPTI's clock, which activity records have, is from the host's CLOCK_REALTIME, by the anchors that a process wrote
 * about once a second. Kernels belong to calls by ids alone, never by time; but windows, clock readings and other processes
 * have the host's time, and a CUPTI clock may be in another epoch, behind, or drift (pytorch/kineto#384, #702). */
#ifndef CLASSIFY_CLOCK_RELATION_H
#define CLASSIFY_CLOCK_RELATION_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

enum { CLOCK_RELATION_MEDIAN = 5 };         /* of so many anchors: one may have been interrupted between its readings */
#define CLOCK_RELATION_TOLERANCE_NS 1000000 /* so far apart are clocks that are the same, as anchors see them */

struct clock_relation { /* zeroed: nothing is known, times stay as they are */
    uint64_t anchors;
    int64_t skews_ns[CLOCK_RELATION_MEDIAN]; /* CUPTI's clock less the host's, of the latest; a ring */
    int64_t skew_ns;                         /* their median */
    uint64_t max_skew_ns;                    /* of medians, either way */
    int64_t first_skew_ns;
    uint64_t first_monotonic_ns, last_monotonic_ns;
};

void clock_relation_add(struct clock_relation *relation, const struct trace_anchor *anchor);
/* Puts times of CUPTI's clock on the host's, to within the tolerance and what the clocks drifted since the last anchor. The
 * length stays. Records come after the anchors that were before them. */
void clock_relation_place(const struct clock_relation *relation, uint64_t *start_ns, uint64_t *end_ns);
/* What CUPTI's clock gained in a million; NAN: it was seen for less than a second. */
double clock_relation_drift_ppm(const struct clock_relation *relation);

#endif
