/* SPDX-License-Identifier: Apache-2.0 */
/* The median of the latest anchors. Clocks that agree are left alone, so that their times stay exact; the way from there on
 * has no step in it, whatever the drift. */
#include "classify/clock_relation.h"

#include <math.h>

static int64_t median(const struct clock_relation *relation)
{
    int64_t sorted[CLOCK_RELATION_MEDIAN];
    int count = relation->anchors < CLOCK_RELATION_MEDIAN ? (int)relation->anchors : CLOCK_RELATION_MEDIAN;
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > relation->skews_ns[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = relation->skews_ns[i];
    }
    return sorted[count / 2];
}

void clock_relation_add(struct clock_relation *relation, const struct trace_anchor *anchor)
{
    if (!anchor->cupti_ns || !anchor->realtime_ns || anchor->cupti_ns > INT64_MAX || anchor->realtime_ns > INT64_MAX)
        return; /* a helper's: CUPTI wasn't asked; or damaged */
    const int64_t skew = (int64_t)anchor->cupti_ns - (int64_t)anchor->realtime_ns;
    relation->skews_ns[relation->anchors % CLOCK_RELATION_MEDIAN] = skew;
    relation->anchors++;
    relation->skew_ns = median(relation);
    const uint64_t apart = (uint64_t)(relation->skew_ns < 0 ? -relation->skew_ns : relation->skew_ns);
    if (apart > relation->max_skew_ns)
        relation->max_skew_ns = apart;
    if (relation->anchors == 1) {
        relation->first_skew_ns = skew;
        relation->first_monotonic_ns = anchor->monotonic_ns;
    }
    relation->last_monotonic_ns = anchor->monotonic_ns;
}

void clock_relation_place(const struct clock_relation *relation, uint64_t *start_ns, uint64_t *end_ns)
{
    int64_t by = 0;
    if (relation->skew_ns > CLOCK_RELATION_TOLERANCE_NS)
        by = relation->skew_ns - CLOCK_RELATION_TOLERANCE_NS;
    else if (relation->skew_ns < -CLOCK_RELATION_TOLERANCE_NS)
        by = relation->skew_ns + CLOCK_RELATION_TOLERANCE_NS;
    if (!by || *end_ns < *start_ns || (by > 0 && *start_ns <= (uint64_t)by) || *end_ns > INT64_MAX)
        return; /* nothing is made of times that can't be */
    *start_ns -= (uint64_t)by;
    *end_ns -= (uint64_t)by;
}

double clock_relation_drift_ppm(const struct clock_relation *relation)
{
    if (relation->anchors < 2 || relation->last_monotonic_ns < relation->first_monotonic_ns + 1000000000u)
        return NAN;
    return (double)(relation->skew_ns - relation->first_skew_ns) * 1e6 /
           (double)(relation->last_monotonic_ns - relation->first_monotonic_ns);
}
