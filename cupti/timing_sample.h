/* SPDX-License-Identifier: Apache-2.0 */
/* When sampled timing times: one window of a fixed length in each period, at a place drawn uniformly among those that lie
 * whole in it. A window takes what is launched while it is open, whole and however long it runs, so whether a kernel is in the
 * sample does not depend on how long it takes. Nothing here looks at a clock: times are handed in. One thread. */
#ifndef CUPTI_TIMING_SAMPLE_H
#define CUPTI_TIMING_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TIMING_SAMPLE_BUDGET_PPM = 5000, /* of wall time: 0.5 % */
    TIMING_SAMPLE_WINDOW_US = 1000,  /* so a period is 200 ms, and a run of a second has five windows */
};

/* WINDOW_NS of each period of WINDOW_NS * 10^6 / BUDGET_PPM. 0: the defaults above. SEED 0: drawn. */
void timing_sample_configure(uint64_t window_ns, uint32_t budget_ppm, uint64_t seed);
uint64_t timing_sample_window_ns(void);
uint64_t timing_sample_period_ns(void); /* from the next one on */

/* From the next period on, FACTOR times as long as by the budget. */
void timing_sample_thin(uint64_t factor);

/* A period begins. */
void timing_sample_begin(uint64_t now_ns);

/* Whether a window is open at NOW_NS, which never goes back. A window opens at the first look at or behind its place and is
 * open for its whole length from there; what it was open for longer than that is made up for by a longer period. */
bool timing_sample_is_open(uint64_t now_ns);
uint64_t timing_sample_change_ns(void); /* when that changes next */
/* It took until NOW_NS before it could be used: the window lasts its whole length from there. */
void timing_sample_opened(uint64_t now_ns);

#endif
