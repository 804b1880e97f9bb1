/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of one predicted step: which calls a model makes, what each asks for, where it stands on the roofline. */
#ifndef CLASSIFY_PREDICT_OPERATORS_H
#define CLASSIFY_PREDICT_OPERATORS_H

#include "classify/predict.h"
#include "classify/predict_shard.h"

/* Fills STEP but for its all-reduces. */
void predict_operators_of_step(const struct predict *predict, const struct predict_shard *shard,
                               enum predict_phase phase, struct predict_step *step);

#endif
