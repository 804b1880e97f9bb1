/* SPDX-License-Identifier: Apache-2.0 */
/* Notes beside a run how fast the GPUs are kept, from a process of its own: NVML may hang or crash with the driver, and the
 * target and this process must not notice. */
#ifndef CLI_CLOCK_SAMPLER_H
#define CLI_CLOCK_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct clock_sampler_state; /* shared with the process */

struct clock_sampler {
    pid_t pid; /* 0: none */
    int gate;  /* closed: it ends */
    struct clock_sampler_state *state;
};

struct clock_sampler_result {
    uint64_t samples; /* records of all GPUs */
    uint32_t devices;
    uint32_t period_ms; /* the last one */
    const char *why;    /* why there is none, or why it ended early; NULL: nothing to say */
};

/* Writes FOLDER/gpu.clocks. LIBRARY and DEVICE_FILE (of the simulated GPU) may be NULL. Where no process can be made there
 * are no clocks, and the result says so. */
void clock_sampler_start(struct clock_sampler *sampler, const char *folder, const char *library,
                         const char *device_file);
/* WANTED: waits a short while for its last records. Then ends it whatever it does. */
struct clock_sampler_result clock_sampler_stop(struct clock_sampler *sampler, bool wanted);
/* Until the next reading, after so many. */
uint32_t clock_sampler_period_ms(uint64_t readings);
void clock_sampler_free(struct clock_sampler *sampler); /* after the result's last use */

#endif
