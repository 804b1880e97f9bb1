/* SPDX-License-Identifier: Apache-2.0 */
/* Options that say how a model runs, for the commands that predict. Each returns false after one line in COMMAND's name. */
#ifndef CLI_MODEL_OPTIONS_H
#define CLI_MODEL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "classify/predict.h"

/* TEXT NULL: ABSENT. Else a whole number from 1 to PREDICT_OPTION_MOST. */
bool model_options_number(const char *command, const char *option, const char *text, int64_t absent, int64_t *value);
/* NAME NULL: *FORMAT is NULL. */
bool model_options_format(const char *command, const char *option, const char *name, enum model_format_use use,
                          const struct model_format **format);
bool model_options_weights(const char *command, const char *name, const struct weight_format **format);

#endif
