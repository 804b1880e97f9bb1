/* SPDX-License-Identifier: Apache-2.0 */
/* Sequence lengths that stood in buffers on the device when kernels that read them were launched, summed up by buffer. */
#ifndef CLASSIFY_LIVE_LENGTHS_H
#define CLASSIFY_LIVE_LENGTHS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/trace_sums.h"

enum { LIVE_LENGTHS_MOST = 4096 };

struct live_lengths {               /* zeroed: none */
    struct trace_sum_lengths *rows; /* one for each buffer, graph and way of reading; count 0 and below is none */
    size_t count, capacity;
    uint64_t beyond; /* records for which there was no row */
};

void live_lengths_add(struct live_lengths *lengths, const struct trace_lengths *record);
void live_lengths_add_sum(struct live_lengths *lengths, const struct trace_sum_lengths *sum);
double live_lengths_mean(const struct trace_sum_lengths *row); /* of single lengths; NAN: of none */
void live_lengths_free(struct live_lengths *lengths);

const char *live_lengths_how_name(uint32_t how); /* "copied", "read"; NULL: of a newer version */

#endif
