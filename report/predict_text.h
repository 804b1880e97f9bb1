/* SPDX-License-Identifier: Apache-2.0 */
/* A prediction as text for people: what was assumed, the model, one table a phase, memory, and what it all leaves out. */
#ifndef REPORT_PREDICT_TEXT_H
#define REPORT_PREDICT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "classify/model/checkpoint.h"
#include "classify/predict.h"

struct predict_view {
    const struct predict *predict;
    const char *config_path;
    const struct checkpoint_comparison *checkpoint; /* NULL: none was given */
    const char *checkpoint_path;                    /* NULL as well */
};

/* False if OUT could not take it. */
bool predict_text(const struct predict_view *view, FILE *out);

#endif
