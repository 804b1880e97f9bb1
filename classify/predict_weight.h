/* SPDX-License-Identifier: Apache-2.0 */
/* How one matrix of a prediction is stored and multiplied, and the roofs that its product stands under. */
#ifndef CLASSIFY_PREDICT_WEIGHT_H
#define CLASSIFY_PREDICT_WEIGHT_H

#include "classify/predict.h"
#include "classify/predict_shard.h"

/* How one matrix is stored and multiplied, as chosen by config.json and the options. */
struct predict_weight {
    double bits;
    struct gemm_scales scales;
    const struct model_format *operands;
    struct gemm_scales operand_scales; /* of the activations */
};

/* Its layers are stored in two ways, by quantization_config, but count as quantised throughout. */
bool predict_is_partly_quantised(const struct predict *predict, const struct model_matrix *matrix);
struct predict_weight predict_weight_of(const struct predict *predict, const struct model_matrix *matrix);
/* One GPU's product with ROWS rows of the activation; of one expert where it is an expert's. */
struct gemm_model predict_gemm_model(const struct predict *predict, const struct predict_shard *shard,
                                     const struct model_matrix *matrix, int64_t rows);
/* FLOP/s and bytes/s of a roof; NAN: not known. */
double predict_roof_flops(const struct predict *predict, enum predict_roof roof, enum gpu_path path);
double predict_roof_bytes(const struct predict *predict, enum predict_roof roof);

bool predict_is_expert(const struct model_matrix *matrix); /* routed, not shared */

#endif
