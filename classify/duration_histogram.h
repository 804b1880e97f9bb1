/* SPDX-License-Identifier: Apache-2.0 */
/* Durations by how often they came, log-linear: 32 parts of equal width in each octave, below 32 ns each its own. A
 * percentile is the middle of its part, so at most DURATION_ERROR off. Adding up two is exact; memory is that of the range
 * of what was added, at most 15 KB. */
#ifndef CLASSIFY_DURATION_HISTOGRAM_H
#define CLASSIFY_DURATION_HISTOGRAM_H

#include <stdint.h>

enum { DURATION_BUCKETS = 60 * 32 };

#define DURATION_ERROR (1.0 / 64) /* half of a part that is 1/32 of where its octave begins */

struct duration_histogram { /* zeroed: empty */
    uint64_t *counts;       /* of the buckets from FIRST on */
    uint32_t first, length;
    uint64_t total;
};

uint32_t duration_bucket(uint64_t ns);
double duration_of_bucket(uint32_t bucket); /* its middle, in ns */

void duration_histogram_add(struct duration_histogram *histogram, uint32_t bucket, uint64_t times);
void duration_histogram_add_all(struct duration_histogram *histogram, const struct duration_histogram *more);
/* The duration that SHARE of all do not exceed, by nearest rank, 0 < SHARE <= 1; NAN: there is none. */
double duration_histogram_at(const struct duration_histogram *histogram, double share);
void duration_histogram_free(struct duration_histogram *histogram);

#endif
