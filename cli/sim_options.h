/* SPDX-License-Identifier: Apache-2.0 */
/* `record --sim-option KEY=VALUE`: which keys the simulated GPU's device file has, and which values each takes. Checked
 * here, so that a slip is told before the target starts and not by libraries inside it. */
#ifndef CLI_SIM_OPTIONS_H
#define CLI_SIM_OPTIONS_H

#include <stdbool.h>

#include "cli/options.h"

/* The keys, for the help; static text. */
const char *sim_options_help(void);
/* False: one line has been printed. */
bool sim_options_check(const struct option_list *options, const char *command);

#endif
