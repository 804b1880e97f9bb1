/* SPDX-License-Identifier: Apache-2.0 */
/* What config.json and the options say of one matrix, and the product that it is part of on one GPU. */
#include "classify/predict_weight.h"

#include <math.h>

#include "classify/model/quantisation.h"

bool predict_is_expert(const struct model_matrix *matrix)
{
    return matrix->role == MODEL_EXPERT_UP || matrix->role == MODEL_EXPERT_DOWN;
}

/* Embedding, lm_head and routers stay as they are in every quantisation method's defaults. */
static bool is_linear_layer(const struct model_matrix *matrix)
{
    return matrix->role != MODEL_EMBEDDING && matrix->role != MODEL_HEAD && matrix->role != MODEL_ROUTER &&
           matrix->role != MODEL_SHARED_GATE;
}

static bool is_quantised(const struct predict *predict, const struct model_matrix *matrix)
{
    const struct model_config *config = predict->geometry->config;
    if (!is_linear_layer(matrix))
        return false;
    if (predict->options.weights)
        return true;
    if (!config->quantised || (config->experts_only && !predict_is_expert(matrix)))
        return false;
    return model_quantisation_excludes(config, matrix->name, matrix->copies / matrix->experts, matrix->experts) !=
           MODEL_EXCLUDED_EVERYWHERE;
}

bool predict_is_partly_quantised(const struct predict *predict, const struct model_matrix *matrix)
{
    const struct model_config *config = predict->geometry->config;
    return is_quantised(predict, matrix) && !predict->options.weights &&
           model_quantisation_excludes(config, matrix->name, matrix->copies / matrix->experts, matrix->experts) ==
               MODEL_EXCLUDED_IN_SOME_LAYERS;
}

struct predict_weight predict_weight_of(const struct predict *predict, const struct model_matrix *matrix)
{
    struct predict_weight weight = {.bits = predict->format->bits, .operands = predict->format};
    if (is_quantised(predict, matrix)) {
        weight.bits = predict->storage.bits;
        weight.scales = predict->storage.scales;
        weight.operands = predict->operands;
        weight.operand_scales = predict->operand_scales;
    } else if (is_linear_layer(matrix) && predict->options.operands) {
        weight.operands = predict->operands;
    }
    return weight;
}

struct gemm_model predict_gemm_model(const struct predict *predict, const struct predict_shard *shard,
                                     const struct model_matrix *matrix, int64_t rows)
{
    int64_t n, k;
    predict_shard_matrix(shard, predict->geometry->config, matrix, &n, &k);
    struct predict_weight weight = predict_weight_of(predict, matrix);
    struct gemm_model model = gemm_plain(rows, n, k, predict->format->bits);
    model.operand[GEMM_LEFT].bits = weight.operands->bits;
    model.operand[GEMM_LEFT].scales = weight.operand_scales;
    model.operand[GEMM_RIGHT].bits = weight.bits;
    model.operand[GEMM_RIGHT].scales = weight.scales;
    model.bias_bits_n = matrix->bias ? predict->format->bits : 0;
    return model;
}

/* ---- roofs ---- */

double predict_roof_flops(const struct predict *predict, enum predict_roof roof, enum gpu_path path)
{
    path = gpu_spec_product_path(predict->roofs.spec, path);
    if (roof == PREDICT_SPECIFICATION)
        return device_roofs_flops_per_second(&predict->roofs, path);
    if ((unsigned)path >= GPU_PATH_COUNT || !(predict->roofs.spec->achievable_flops_per_second[path] > 0))
        return NAN;
    return predict->roofs.spec->achievable_flops_per_second[path];
}

double predict_roof_bytes(const struct predict *predict, enum predict_roof roof)
{
    if (roof == PREDICT_SPECIFICATION)
        return device_roofs_bytes_per_second(&predict->roofs);
    double bytes = predict->roofs.spec->achievable_bytes_per_second;
    return bytes > 0 ? bytes : NAN;
}
