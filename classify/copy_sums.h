/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and memsets of one device, summed by where they went. */
#ifndef CLASSIFY_COPY_SUMS_H
#define CLASSIFY_COPY_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

enum {
    COPY_SUMS_MOST = 256,       /* rows; what is beyond has the direction COPY_DIRECTION_UNKNOWN */
    COPY_DIRECTION_UNKNOWN = 0, /* CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN */
    COPY_DIRECTION_PEERS = 10,  /* CUPTI_ACTIVITY_MEMCPY_KIND_PTOP */
};

struct copy_sum {
    uint32_t kind, direction; /* as in struct trace_copy; PEERS: between two devices */
    int64_t from, to;         /* of PEERS: their numbers; negative: not known */
    uint64_t copies, bytes, ns;
};

struct copy_sums { /* zeroed: none */
    struct copy_sum *rows;
    size_t count, capacity;
};

struct copy_sum copy_sum_of(const struct trace_copy *copy); /* duration included */
void copy_sums_add(struct copy_sums *sums, const struct copy_sum *more);
void copy_sums_free(struct copy_sums *sums);
void copy_sums_sort(struct copy_sums *sums); /* longest time first */

/* "HtoD", "memset", ...; of a direction that is not known "unknown". */
const char *copy_sum_name(const struct copy_sum *sum);
/* Bytes that each byte of it moves to or from the device's own memory: of copies on the device 2, of memsets 1. 0: it goes
 * over some link, whose bandwidth the trace does not tell. */
int copy_sum_memory_accesses(const struct copy_sum *sum);

#endif
