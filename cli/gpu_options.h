/* SPDX-License-Identifier: Apache-2.0 */
/* What users tell of GPUs on their own: --gpu-table and --peak, the same in every command that has them. */
#ifndef CLI_GPU_OPTIONS_H
#define CLI_GPU_OPTIONS_H

#include <stdbool.h>

#include "classify/peak_option.h"
#include "cli/options.h"

/* Reads the table file and puts its rows before the built-in ones, for the rest of the process. PATH NULL: that of the
 * user's configuration folder, if there is one. False: it can't be used, and one line said why. */
bool gpu_options_load_table(const char *path, const char *command);

/* False: a value is malformed, and one line said why. PEAKS lives as long as the command. */
bool gpu_options_read_peaks(const struct option_list *values, struct peak_options *peaks, const char *command);

#endif
