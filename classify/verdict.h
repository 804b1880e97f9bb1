/* SPDX-License-Identifier: Apache-2.0 */
/* The answer in one go: what bounds this run, and how much of it that is. */
#ifndef CLASSIFY_VERDICT_H
#define CLASSIFY_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/advice.h"
#include "classify/roofline.h"

struct session;

enum { VERDICT_BOUNDS = BOUND_OVERHEAD + 1 };

enum verdict_kind {
    VERDICT_NOTHING, /* no operator has a time, nor a time at a roof */
    VERDICT_UNKNOWN, /* more of the time is in kernels of unknown class than in any known one */
    VERDICT_WAITS,   /* the GPU was idle for more than half of its span; never said of a simulated one */
    VERDICT_BOUND,   /* one class leads */
};

struct verdict {
    enum verdict_kind kind;
    bool by_roof;                   /* nothing was timed: shares are of the time at the roof */
    double share[VERDICT_BOUNDS];   /* of the time, by class; their sum is 1. NAN: no time at all */
    double time_ns[VERDICT_BOUNDS]; /* of operators of that class; NAN: nothing was timed */
    double roofless_share;      /* the part of share[BOUND_UNKNOWN] whose work is known, and only a roof is missing */
    enum bound bound;           /* the largest of the known classes; UNKNOWN: none has any time */
    double idle_share;          /* of the devices' spans; NAN: not known, or simulated */
    const struct advice *lever; /* of LIST: what saves most busy time; NULL: nothing is worth it */
};

struct verdict verdict_of(const struct session *session, const struct advice_list *list);
const char *verdict_kind_name(enum verdict_kind kind);

#endif
