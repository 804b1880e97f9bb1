/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed number of raw records out of all that come, each as likely to be among them as any other (Vitter's reservoir,
 * algorithm R), by a seed. */
#ifndef COLLECT_RECORD_SAMPLES_H
#define COLLECT_RECORD_SAMPLES_H

#include <stdint.h>

#include "classify/join_sums.h"
#include "trace/trace_reader.h"
#include "trace/trace_sums.h"

enum { RECORD_SAMPLES = 2048 }; /* a process */

struct record_sample;

struct record_samples {
    struct record_sample *samples;
    uint32_t count;
    uint64_t offered, state;
};

void record_samples_open(struct record_samples *samples, uint64_t seed);
/* Records of other types than a sample can be of are let be. */
void record_samples_offer(struct record_samples *samples, const struct trace_item *item);
void record_samples_write(const struct record_samples *samples, join_sums_put *put, void *context);
void record_samples_close(struct record_samples *samples);

#endif
