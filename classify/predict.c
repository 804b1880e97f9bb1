/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses formats, splits the model, has both steps built and derives the figures that belong to the model as a whole. */
#include "classify/predict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/attention_work.h"
#include "classify/predict_operators.h"
#include "classify/predict_weight.h"

/* ---- what was chosen ---- */

static bool check_size(const char *option, int64_t size, int64_t least, struct model_error *error)
{
    if (size >= least && size <= PREDICT_OPTION_MOST)
        return true;
    snprintf(error->text, sizeof error->text, "%s is %" PRId64 "; expected a whole number from %" PRId64 " to %d",
             option, size, least, PREDICT_OPTION_MOST);
    return false;
}

static bool check_options(const struct predict_options *options, struct model_error *error)
{
    if (!check_size("batch", options->batch, 1, error) || !check_size("prompt", options->prompt, 1, error) ||
        !check_size("context", options->context, 1, error) || !check_size("chunk", options->chunk, 0, error) ||
        !check_size("tp", options->tensor_parallel, 1, error))
        return false;
    if (options->batch * options->prompt > PREDICT_TOKENS_MOST) {
        snprintf(error->text, sizeof error->text, "batch %" PRId64 " of prompt %" PRId64 " makes more than %.0e tokens",
                 options->batch, options->prompt, (double)PREDICT_TOKENS_MOST);
        return false;
    }
    if (options->chunk && (options->prompt + options->chunk - 1) / options->chunk > PREDICT_CHUNKS_MOST) {
        snprintf(error->text, sizeof error->text, "chunk %" PRId64 " cuts the prompt into more than %d passes",
                 options->chunk, PREDICT_CHUNKS_MOST);
        return false;
    }
    return true;
}

static bool choose_formats(struct predict *predict, struct model_error *error)
{
    const struct model_config *config = predict->geometry->config;
    const struct predict_options *options = &predict->options;
    if (config->quantisation_problem[0] && !options->weights) {
        snprintf(error->text, sizeof error->text, "quantization_config: %s; pass --weights",
                 config->quantisation_problem);
        return false;
    }
    predict->format = config->format;
    /* 16 bits and more: the whole model runs in it, as engines' --dtype means it. */
    if (options->operands && options->operands->bits >= 16)
        predict->format = options->operands;
    predict->storage = config->storage;
    if (!config->quantised) {
        predict->storage = (struct model_storage){.bits = predict->format->bits};
        snprintf(predict->storage.name, sizeof predict->storage.name, "%s", predict->format->name);
    }
    predict->operands = predict->format;
    if (config->operands && !options->weights) {
        predict->operands = config->operands;
        predict->operand_scales = options->operands ? (struct gemm_scales){0} : config->operand_scales;
    }
    if (options->weights) {
        predict->storage = (struct model_storage){.bits = options->weights->bits, .scales = options->weights->scales};
        snprintf(predict->storage.name, sizeof predict->storage.name, "%s (%s)", options->weights->name,
                 options->weights->layout);
    }
    if (options->operands)
        predict->operands = options->operands;
    predict->kv = options->kv ? options->kv : predict->format;
    predict->attention_path = predict->format->path;
    return true;
}

/* What quantization_config leaves out of single layers, or by regular expressions, counts as quantised: say so. */
static void note_exclusions(struct predict *predict)
{
    const struct model_geometry *geometry = predict->geometry;
    int partly = 0;
    for (int i = 0; i < geometry->matrix_count; i++)
        partly += predict_is_partly_quantised(predict, &geometry->matrices[i]);
    int64_t unclear = predict->options.weights ? 0 : geometry->config->excluded_unclear;
    if (partly || unclear)
        snprintf(predict->storage_note, sizeof predict->storage_note,
                 "quantization_config leaves out single layers of %d matrices, and %" PRId64
                 " modules by patterns: all of these are counted as quantised",
                 partly, unclear);
}

/* ---- figures of the model ---- */

/* FLOPs of all layers' causal attention over LENGTH tokens by the L^2 convention, a window of w: L w - w^2/2 pairs. */
static double attention_flops(const struct model_geometry *geometry, double length)
{
    const struct model_config *config = geometry->config;
    double full = length * length / 2, window = (double)config->window;
    double cut = length > window ? length * window - window * window / 2 : full;
    double of_pair = 2 * (double)config->query_heads * (double)(config->head_dim + config->value_dim);
    return of_pair *
           ((double)(config->layers - geometry->window_layers) * full + (double)geometry->window_layers * cut);
}

static double gemm_flops(const struct predict *predict, double length)
{
    return 2 * predict->layer_parameters * (double)predict->geometry->config->layers * length;
}

/* Where both are equal: the positive root of a L^2 + b L + c, a from layers without window, b and c from both. */
static double crossover_windowed(const struct predict *predict)
{
    const struct model_geometry *geometry = predict->geometry;
    double layers = (double)geometry->config->layers, windowed = (double)geometry->window_layers;
    double w = (double)geometry->config->window;
    if (windowed == 0 || predict->crossover <= w)
        return predict->crossover;
    double a = (layers - windowed) / 2, c = -windowed * w * w / 2;
    double b = windowed * w - predict->crossover / 2 * layers;
    if (a == 0)
        return b > 0 ? -c / b : INFINITY;
    return (-b + sqrt(b * b - 4 * a * c)) / (2 * a);
}

static void find_crossovers(struct predict *predict, const struct predict_shard *shard)
{
    const struct model_config *config = predict->geometry->config;
    predict->layer_parameters = model_geometry_layer_parameters(predict->geometry);
    predict->crossover = attention_crossover_length(predict->layer_parameters, (double)config->query_heads,
                                                    (double)config->head_dim, (double)config->value_dim);
    predict->crossover_windowed = crossover_windowed(predict);
    for (int i = 0; i < PREDICT_LENGTHS; i++) {
        int64_t length = INT64_C(512) << i;
        double attention = attention_flops(predict->geometry, (double)length);
        /* The crossover of a model whose every layer had the windows' mean cost at this length; without windows its own. */
        double crossover = (double)length * gemm_flops(predict, (double)length) / attention;
        predict->shares[i] = (struct predict_share){length, attention_share((double)length, crossover)};
    }
    double ridge = gpu_spec_ridge(predict->options.gpu, predict->attention_path), q = predict->format->bits / 8;
    double kv = config->kv_rank ? q : predict->kv->bits / 8; /* MLA's prefill reads what it has just unfolded */
    predict->group = (double)shard->query_heads / (double)shard->kv_heads;
    predict->ridge_length_kv = attention_ridge_length_kv(predict->group, kv, ridge, true);
    predict->ridge_length = attention_ridge_length(predict->group, kv, q, q, ridge);
}

/* Tokens in a pass at which the time of all layers' FLOPs meets that of their bytes. */
static struct predict_range find_layer_rows(const struct predict *predict, const struct predict_shard *shard)
{
    double compute = 0, fixed[2] = {0}, per_row[2] = {0}; /* seconds and bytes of a token, bytes whatever the tokens */
    double speed = predict_roof_bytes(predict, PREDICT_SPECIFICATION);
    const struct model_config *config = predict->geometry->config;
    for (int i = 0; i < predict->geometry->matrix_count; i++) {
        const struct model_matrix *matrix = &predict->geometry->matrices[i];
        if (matrix->where == MODEL_NO_LAYER)
            continue;
        struct gemm_model model = predict_gemm_model(predict, shard, matrix, 1);
        struct gemm_work work;
        gemm_work(&model, &work);
        double layers = (double)model_geometry_layers(predict->geometry, matrix->where);
        double peak =
            predict_roof_flops(predict, PREDICT_SPECIFICATION, predict_weight_of(predict, matrix).operands->path);
        double left = work.operand_bytes[GEMM_LEFT], output = work.operand_bytes[GEMM_D];
        bool expert = predict_is_expert(matrix), down = matrix->role == MODEL_EXPERT_DOWN;
        double top_k = expert ? (double)config->experts_per_token : 1;
        compute += layers * top_k * work.flops / peak;
        fixed[0] += layers * top_k * work.bytes_fixed;
        fixed[1] += layers * (expert ? (double)config->experts : 1) * work.bytes_fixed;
        per_row[0] += layers * (down ? top_k * left + output : left + top_k * output);
        per_row[1] += layers * top_k * (left + output);
    }
    double rows[2];
    for (int i = 0; i < 2; i++) {
        double gain = compute - per_row[i] / speed;
        rows[i] = isnan(gain) ? NAN : gain > 0 ? fixed[i] / speed / gain : INFINITY;
    }
    return (struct predict_range){rows[0], rows[1]};
}

static double resident_bytes(const struct predict *predict, const struct predict_shard *shard)
{
    double bytes = (double)predict->geometry->norms * predict->format->bits / 8;
    for (int i = 0; i < predict->geometry->matrix_count; i++) {
        const struct model_matrix *matrix = &predict->geometry->matrices[i];
        struct gemm_model model = predict_gemm_model(predict, shard, matrix, 1);
        struct gemm_work work;
        gemm_work(&model, &work);
        bytes += (double)matrix->copies * ((matrix->tied ? 0 : work.operand_bytes[GEMM_RIGHT]) + work.bias_bytes);
    }
    return bytes;
}

static void find_memory(struct predict *predict, const struct predict_shard *shard)
{
    const struct model_config *config = predict->geometry->config;
    const struct predict_options *options = &predict->options;
    double elements = config->kv_rank ? (double)(config->kv_rank + config->rope_dim) /* the latent, on every GPU */
                                      : (double)shard->kv_heads * (double)(config->head_dim + config->value_dim);
    double of_layer = elements * predict->kv->bits / 8, windowed = (double)predict->geometry->window_layers;
    double tokens = (double)(options->prompt > options->context ? options->prompt : options->context);
    predict->kv_bytes_per_token = of_layer * (double)config->layers;
    predict->kv_bytes_per_sequence =
        of_layer * (((double)config->layers - windowed) * tokens + windowed * fmin(tokens, (double)config->window));
    predict->kv_bytes = predict->kv_bytes_per_sequence * (double)options->batch;
    predict->resident_weight_bytes = resident_bytes(predict, shard);
    predict->memory_bytes = options->gpu->memory_bytes > 0 ? options->gpu->memory_bytes : NAN;
    predict->memory_bytes_most = predict->memory_bytes / 1e9 * (1 << 30);
    predict->sequences_that_fit =
        floor((predict->memory_bytes - predict->resident_weight_bytes) / predict->kv_bytes_per_sequence);
    predict->sequences_that_fit_most =
        floor((predict->memory_bytes_most - predict->resident_weight_bytes) / predict->kv_bytes_per_sequence);
}

/* After o_proj and after down_proj of each layer, and of the embedding, whose rows are divided too. */
static void add_all_reduces(const struct predict *predict, struct predict_step *step)
{
    const struct model_config *config = predict->geometry->config;
    if (predict->options.tensor_parallel < 2)
        return;
    double each = 2 * (double)config->layers + 1;
    step->all_reduces = each * (double)step->passes;
    step->all_reduce_bytes = each * (double)step->tokens * (double)config->hidden * predict->format->bits / 8;
}

bool predict_model(const struct model_geometry *geometry, const struct predict_options *options,
                   struct predict *predict, struct model_error *error)
{
    *predict = (struct predict){.geometry = geometry, .options = *options};
    struct predict_shard shard;
    if (!check_options(options, error) || !choose_formats(predict, error) ||
        !predict_shard_of(geometry->config, options->tensor_parallel, &shard, error))
        return false;
    note_exclusions(predict);
    predict->roofs = device_roofs(options->gpu, -1, false, -1);
    for (int phase = 0; phase < PREDICT_PHASES; phase++) {
        predict_operators_of_step(predict, &shard, phase, &predict->steps[phase]);
        add_all_reduces(predict, &predict->steps[phase]);
    }
    find_crossovers(predict, &shard);
    predict->layer_rows_at_ridge = find_layer_rows(predict, &shard);
    find_memory(predict, &shard);
    return true;
}

void predict_free(struct predict *predict)
{
    for (int phase = 0; phase < PREDICT_PHASES; phase++) {
        free(predict->steps[phase].operators);
        predict->steps[phase].operators = NULL;
    }
}

const char *predict_kind_name(enum predict_kind kind)
{
    static const char *const names[] = {"gemm", "batched_gemm", "experts", "attention"};
    return names[kind];
}
