/* SPDX-License-Identifier: Apache-2.0 */
/* What quantization_config of a config.json means for the bytes of the weights. Sets `quantised`, `storage`, `operands` and
 * the excluded modules, or says in `quantisation_problem` why it is not understood; never guesses. */
#ifndef CLASSIFY_MODEL_QUANTISATION_H
#define CLASSIFY_MODEL_QUANTISATION_H

#include <jansson.h>

#include "classify/model/config.h"

/* OBJECT NULL: nothing is quantised. */
void model_quantisation_read(const json_t *object, struct model_config *config);

enum model_exclusion_extent { MODEL_EXCLUDED_NOWHERE, MODEL_EXCLUDED_IN_SOME_LAYERS, MODEL_EXCLUDED_EVERYWHERE };

/* NAME: of a matrix that LAYERS have, EXPERTS times each; names of fused matrices are joined by '+'. */
enum model_exclusion_extent model_quantisation_excludes(const struct model_config *config, const char *name,
                                                        int64_t layers, int64_t experts);

#endif
