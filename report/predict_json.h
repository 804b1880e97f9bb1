/* SPDX-License-Identifier: Apache-2.0 */
/* A prediction as JSON; PREDICT_JSON.md documents every key. */
#ifndef REPORT_PREDICT_JSON_H
#define REPORT_PREDICT_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "report/predict_text.h"

/* False if OUT could not take it. */
bool predict_json(const struct predict_view *view, FILE *out);

#endif
