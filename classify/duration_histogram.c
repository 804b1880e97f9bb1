/* SPDX-License-Identifier: Apache-2.0 */
/* An array over the buckets from the shortest to the longest duration that came. The buckets are those of trace_sums.h. */
#include "classify/duration_histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"
#include "trace/trace_sums.h"

enum { PART_BITS = 5, PARTS = 1 << PART_BITS };

_Static_assert((int)DURATION_BUCKETS == (int)TRACE_SUMS_BUCKETS, "the format's buckets are these");

uint32_t duration_bucket(uint64_t ns)
{
    if (ns < PARTS)
        return (uint32_t)ns;
    uint32_t octave = 63u - (uint32_t)__builtin_clzll(ns);
    return (octave - PART_BITS + 1) * PARTS + (uint32_t)(ns >> (octave - PART_BITS) & (PARTS - 1));
}

double duration_of_bucket(uint32_t bucket)
{
    if (bucket < PARTS)
        return bucket;
    uint32_t shift = bucket / PARTS - 1;
    double least = ldexp(PARTS + bucket % PARTS, (int)shift);
    return least + (ldexp(1, (int)shift) - 1) / 2; /* from the least to the largest whole ns */
}

/* Makes room from FIRST to LAST. */
static void widen(struct duration_histogram *histogram, uint32_t first, uint32_t last)
{
    uint32_t end = histogram->first + histogram->length;
    if (histogram->length && histogram->first < first)
        first = histogram->first;
    if (histogram->length && end > last + 1)
        last = end - 1;
    uint64_t *counts = allocate(last - first + 1, sizeof *counts);
    if (histogram->length)
        memcpy(counts + (histogram->first - first), histogram->counts, histogram->length * sizeof *counts);
    free(histogram->counts);
    histogram->counts = counts;
    histogram->first = first;
    histogram->length = last - first + 1;
}

void duration_histogram_add(struct duration_histogram *histogram, uint32_t bucket, uint64_t times)
{
    if (bucket >= DURATION_BUCKETS || !times)
        return;
    if (bucket - histogram->first >= histogram->length) /* also where it is below: the difference wraps */
        widen(histogram, bucket, bucket);
    sum_add(&histogram->counts[bucket - histogram->first], times);
    sum_add(&histogram->total, times);
}

void duration_histogram_add_all(struct duration_histogram *histogram, const struct duration_histogram *more)
{
    for (uint32_t i = 0; i < more->length; i++)
        duration_histogram_add(histogram, more->first + i, more->counts[i]);
}

double duration_histogram_at(const struct duration_histogram *histogram, double share)
{
    double rank = ceil(share * (double)histogram->total), seen = 0;
    for (uint32_t i = 0; i < histogram->length; i++) {
        seen += (double)histogram->counts[i];
        if (histogram->counts[i] && seen >= rank)
            return duration_of_bucket(histogram->first + i);
    }
    return NAN;
}

void duration_histogram_free(struct duration_histogram *histogram)
{
    free(histogram->counts);
    *histogram = (struct duration_histogram){0};
}
