/* SPDX-License-Identifier: Apache-2.0 */
/* record's options on how and when kernels are timed. */
#ifndef CLI_TIMING_OPTIONS_H
#define CLI_TIMING_OPTIONS_H

#include <stdbool.h>

#include "cli/environment.h"

#define TIMING_OPTIONS_MODES "auto|node|graph|sampled|events|off|on"

struct timing_options { /* as given; NULL: not */
    const char *mode, *delay, *duration, *sample_budget, *max_overhead, *kv_lengths;
};

/* False: one line has been printed. */
bool timing_options_check(const struct timing_options *options, const char *command);
/* Of options that have been checked. False: out of memory. */
bool timing_options_set_environment(const struct timing_options *options, struct environment *environment);
/* What help says of them. */
extern const char timing_options_help[];

#endif
