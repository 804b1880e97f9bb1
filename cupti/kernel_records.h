/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's activity records in, KERNEL and COPY records of the trace out. One thread at a time: the taker. */
#ifndef CUPTI_KERNEL_RECORDS_H
#define CUPTI_KERNEL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/cupti_versions.h"

bool kernel_records_reserve(void); /* maps memory */
/* EXTERNAL: joined by external correlation ids. WATCH: find out whether ids match those of the launch callbacks at all. */
void kernel_records_open(const struct cupti_version *version, bool external, bool watch);

/* Kernels so far, all of them, if those are enough to say that no id matches though calls launch; else 0. */
uint64_t kernel_records_mismatched(void);
void kernel_records_stop_watching(void);

/* From here on by external correlation. SINCE_NS: what started before this CUPTI timestamp was launched without it. */
void kernel_records_go_external(uint64_t since_ns);

/* CUPTI has been another client's since AT_NS (CLOCK_REALTIME): of what still comes, only kernels whose launch was seen are
 * taken, and copies from before. The rest is not ours: it is counted. */
void kernel_records_end(uint64_t at_ns);

/* All records of one completed buffer. */
void kernel_records_consume(uint8_t *buffer, size_t valid_bytes);

/* Kernels whose call had not ended when their record came: tries again; those older than 2 s, or all of them when LAST,
 * are recorded without an owner. Returns how many still wait. */
unsigned kernel_records_retry(bool last);

/* Records taken so far, of any kind. */
uint64_t kernel_records_seen(void);
/* Kernels in graphs among them, whatever their times. */
uint64_t kernel_records_graph_kernels(void);

/* Of each kernel it is asked whether its start lies in a window (cupti/timing_delivery.h). ONLY: if not, it is left out. */
void kernel_records_look_at_windows(bool look, bool only);

#endif
