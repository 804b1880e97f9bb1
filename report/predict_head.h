/* SPDX-License-Identifier: Apache-2.0 */
/* What a prediction rests on: the model, the GPU's roofs, formats of weights and activations, the load. */
#ifndef REPORT_PREDICT_HEAD_H
#define REPORT_PREDICT_HEAD_H

#include <stdio.h>

#include "report/predict_text.h"

void predict_head_print(const struct predict_view *view, FILE *out);

#endif
