/* SPDX-License-Identifier: Apache-2.0 */
/* What the time of a row rests on: what of it was measured, and what was made of that. */
#ifndef CLASSIFY_TIME_EVIDENCE_H
#define CLASSIFY_TIME_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "classify/sampled_time.h"

struct time_evidence {
    bool estimated;                        /* the row's time is that of more than was timed */
    uint64_t executions, kernels, time_ns; /* that were timed one by one */
    double shared_ns;         /* of the row's time: of graphs that were timed as a whole, by the roof model */
    bool spread_unknown;      /* of some part of it fewer than two windows have any */
    double variance, squares; /* of the estimate, and the sum of squares by degrees of freedom */
    double low_ns, high_ns;   /* 95 % confidence interval; NAN: not known, or nothing is estimated */
    uint64_t executions_all;  /* timed or not */
    bool all_unknown;         /* some of them nobody counted */
};

/* Adds an independent estimate of a part of the time. */
void time_evidence_add(struct time_evidence *evidence, const struct sampled_time *estimate);
/* After the last part: the interval around TIME_NS, nothing below what was measured. */
void time_evidence_end(struct time_evidence *evidence, double time_ns);

#endif
