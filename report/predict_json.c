/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each object of PREDICT_JSON.md. What is not known, or has no end, is null. */
#include "report/predict_json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "classify/predict_weight.h"
#include "report/safe_text.h"

enum { SCHEMA = 1 };

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Counts that are whole by their nature print as whole numbers. */
static json_t *whole_or_real(double value)
{
    return fabs(value) < 9e15 && value == floor(value) ? json_integer((json_int_t)value) : real(value);
}

static json_t *text_or_null(const char *text)
{
    if (!text || !*text)
        return json_null();
    char *safe = safe_text_utf8(text);
    json_t *value = json_string(safe);
    free(safe);
    return value;
}

static json_t *range(struct predict_range value)
{
    json_t *object = json_object();
    set(object, "at_least", whole_or_real(value.low));
    set(object, "at_most", whole_or_real(value.high));
    return object;
}

static json_t *bound(enum bound value)
{
    return value == BOUND_UNKNOWN ? json_null() : json_string(bound_name(value));
}

static const char *path_type(enum gpu_path path)
{
    return (unsigned)path < GPU_PATH_COUNT ? number_type_name(gpu_paths[path].type) : NULL;
}

/* ---- the model ---- */

static json_t *parameters_object(const struct predict *predict)
{
    const struct model_geometry *geometry = predict->geometry;
    json_t *object = json_object();
    set(object, "total", json_integer(geometry->total));
    set(object, "without_norms", json_integer(geometry->total - geometry->norms));
    set(object, "active", json_integer(geometry->active));
    set(object, "norms", json_integer(geometry->norms));
    set(object, "biases", json_integer(geometry->biases));
    set(object, "embedding", json_integer(geometry->embedding));
    set(object, "layer_mean", whole_or_real(predict->layer_parameters));
    set(object, "layer_dense", geometry->layer_dense ? json_integer(geometry->layer_dense) : json_null());
    set(object, "layer_sparse", geometry->layer_sparse ? json_integer(geometry->layer_sparse) : json_null());
    return object;
}

static json_t *matrices_array(const struct model_geometry *geometry)
{
    json_t *array = json_array();
    for (int i = 0; i < geometry->matrix_count; i++) {
        const struct model_matrix *matrix = &geometry->matrices[i];
        json_t *object = json_object();
        set(object, "name", json_string(matrix->name));
        set(object, "n", json_integer(matrix->out));
        set(object, "k", json_integer(matrix->in));
        set(object, "count", json_integer(matrix->copies));
        set(object, "bias", json_boolean(matrix->bias));
        set(object, "tied", json_boolean(matrix->tied));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *size_or_null(int64_t size)
{
    return size > 0 ? json_integer(size) : json_null();
}

static json_t *model_object(const struct predict_view *view)
{
    const struct model_geometry *geometry = view->predict->geometry;
    const struct model_config *config = geometry->config;
    json_t *object = json_object();
    set(object, "config", text_or_null(view->config_path));
    set(object, "model_type", text_or_null(config->model_type));
    set(object, "layers", json_integer(config->layers));
    set(object, "dense_layers", json_integer(geometry->dense_layers));
    set(object, "sparse_layers", json_integer(geometry->sparse_layers));
    set(object, "window_layers", json_integer(geometry->window_layers));
    set(object, "window", size_or_null(config->window));
    set(object, "hidden_size", json_integer(config->hidden));
    set(object, "vocab_size", json_integer(config->vocab));
    set(object, "query_heads", json_integer(config->query_heads));
    set(object, "kv_heads", json_integer(config->kv_heads));
    set(object, "head_dim", json_integer(config->head_dim));
    set(object, "value_dim", json_integer(config->value_dim));
    set(object, "kv_lora_rank", size_or_null(config->kv_rank));
    set(object, "experts", size_or_null(config->experts));
    set(object, "experts_per_token", size_or_null(config->experts_per_token));
    set(object, "tied_embeddings", json_boolean(config->tied));
    set(object, "defaulted", text_or_null(config->defaulted));
    set(object, "note", text_or_null(config->note));
    set(object, "parameters", parameters_object(view->predict));
    set(object, "matrices", matrices_array(geometry));
    return object;
}

/* ---- options and roofs ---- */

static json_t *options_object(const struct predict *predict)
{
    const struct predict_options *options = &predict->options;
    json_t *object = json_object();
    set(object, "batch", json_integer(options->batch));
    set(object, "prompt", json_integer(options->prompt));
    set(object, "context", json_integer(options->context));
    set(object, "chunk", size_or_null(options->chunk));
    set(object, "tensor_parallel", json_integer(options->tensor_parallel));
    set(object, "fused", json_boolean(options->fused));
    set(object, "weights", text_or_null(predict->storage.name));
    set(object, "weights_note", text_or_null(predict->storage_note));
    set(object, "activations", json_string(predict->format->name));
    set(object, "activations_assumed",
        json_boolean(predict->format == predict->geometry->config->format &&
                     predict->geometry->config->format_assumed));
    set(object, "operands", json_string(predict->operands->name));
    set(object, "operand_scale_group", size_or_null(predict->operand_scales.inner));
    set(object, "kv", json_string(predict->kv->name));
    return object;
}

static json_t *roof_object(const struct predict *predict, enum predict_roof roof)
{
    json_t *object = json_object(), *paths = json_object();
    double bytes = predict_roof_bytes(predict, roof);
    for (int path = 0; path < GPU_PATH_COUNT; path++) {
        double flops = predict_roof_flops(predict, roof, path);
        if (path == (int)predict->attention_path || path == (int)predict->operands->path)
            set(paths, path_type(path), real(flops));
    }
    set(object, "bytes_per_second", real(bytes));
    set(object, "flops_per_second", paths);
    set(object, "source",
        text_or_null(roof == PREDICT_SPECIFICATION ? predict->options.gpu->source
                                                   : predict->options.gpu->achievable_source));
    return object;
}

static json_t *gpu_object(const struct predict *predict)
{
    json_t *object = json_object();
    set(object, "key", json_string(predict->options.gpu->key));
    set(object, "name", json_string(predict->options.gpu->name));
    set(object, "memory_bytes", whole_or_real(predict->memory_bytes));
    set(object, "specification", roof_object(predict, PREDICT_SPECIFICATION));
    set(object, "achievable", roof_object(predict, PREDICT_ACHIEVABLE));
    return object;
}

/* ---- steps ---- */

static void set_gemm(json_t *object, const struct predict_operator *row)
{
    bool experts = row->kind == PREDICT_EXPERTS;
    set(object, "m", json_integer(row->m));
    set(object, "m_min", json_integer(row->m_min));
    set(object, "n", json_integer(row->n));
    set(object, "k", json_integer(row->k));
    set(object, "batch", json_integer(row->batch));
    set(object, "left_bits", real(row->left_bits));
    set(object, "weight_bits", real(row->weight_bits));
    set(object, "output_bits", real(row->output_bits));
    set(object, "experts", experts ? range(row->experts) : json_null());
    set(object, "rows_at_ridge", real(row->at_ridge.rows));
    set(object, "rows_at_ridge_never", json_boolean(isinf(row->at_ridge.rows)));
    set(object, "intensity_limit", real(row->at_ridge.cap));
}

static void set_attention(json_t *object, const struct predict_operator *row)
{
    set(object, "query_heads", json_integer(row->query_heads));
    set(object, "kv_heads", json_integer(row->kv_heads));
    set(object, "head_dim", json_integer(row->head_dim));
    set(object, "value_dim", json_integer(row->value_dim));
    set(object, "queries", json_integer(row->queries));
    set(object, "keys", json_integer(row->keys));
    set(object, "sequences", json_integer(row->sequences));
    set(object, "window", size_or_null(row->window));
    set(object, "value_in_key", json_boolean(row->value_in_key));
    set(object, "kv_bits", real(row->kv_bits));
    set(object, "kv_bytes", real(row->kv_bytes));
    set(object, "intensity_kv", real(row->intensity_kv));
    set(object, "bound_kv", bound(row->bound_kv));
}

static json_t *operator_object(const struct predict_operator *row)
{
    json_t *object = json_object();
    set(object, "name", json_string(row->name));
    set(object, "kind", json_string(predict_kind_name(row->kind)));
    set(object, "path", text_or_null(path_type(row->path)));
    set(object, "calls", json_integer(row->calls));
    if (row->kind == PREDICT_ATTENTION)
        set_attention(object, row);
    else
        set_gemm(object, row);
    set(object, "flops", real(row->flops));
    set(object, "bytes", range(row->bytes));
    set(object, "weight_bytes", range(row->weight_bytes));
    set(object, "intensity", range(row->intensity));
    set(object, "ridge", real(row->ridge));
    set(object, "bound", bound(row->bound));
    set(object, "seconds", range(row->seconds[PREDICT_SPECIFICATION]));
    set(object, "seconds_achievable", range(row->seconds[PREDICT_ACHIEVABLE]));
    set(object, "share", real(row->share));
    return object;
}

static json_t *step_object(const struct predict_step *step)
{
    json_t *object = json_object(), *operators = json_array();
    for (size_t i = 0; i < step->count; i++)
        json_array_append_new(operators, operator_object(&step->operators[i]));
    set(object, "tokens", json_integer(step->tokens));
    set(object, "passes", json_integer(step->passes));
    set(object, "flops", real(step->flops));
    set(object, "bytes", range(step->bytes));
    set(object, "intensity", range(step->intensity));
    set(object, "memory_share", real(step->memory_share));
    set(object, "compute_share", real(step->compute_share));
    set(object, "weight_bytes", range(step->weight_bytes));
    set(object, "vector_bytes", real(step->vector_bytes));
    set(object, "kv_bytes", real(step->kv_bytes));
    set(object, "seconds", range(step->seconds[PREDICT_SPECIFICATION]));
    set(object, "seconds_achievable", range(step->seconds[PREDICT_ACHIEVABLE]));
    set(object, "tokens_per_second", range(step->tokens_per_second[PREDICT_SPECIFICATION]));
    set(object, "tokens_per_second_achievable", range(step->tokens_per_second[PREDICT_ACHIEVABLE]));
    set(object, "all_reduces", whole_or_real(step->all_reduces));
    set(object, "all_reduce_bytes", real(step->all_reduce_bytes));
    set(object, "operators", operators);
    return object;
}

/* ---- figures of the whole ---- */

static json_t *attention_object(const struct predict *predict)
{
    json_t *object = json_object(), *shares = json_array();
    set(object, "group", real(predict->group));
    set(object, "ridge_length_kv", real(predict->ridge_length_kv));
    set(object, "ridge_length", real(predict->ridge_length));
    set(object, "crossover_length", real(predict->crossover));
    set(object, "crossover_length_windowed", real(predict->crossover_windowed));
    for (int i = 0; i < PREDICT_LENGTHS; i++) {
        json_t *row = json_object();
        set(row, "length", json_integer(predict->shares[i].length));
        set(row, "share", real(predict->shares[i].share));
        json_array_append_new(shares, row);
    }
    set(object, "prefill_flops_shares", shares);
    return object;
}

static json_t *sequences(double count)
{
    return isnan(count) ? json_null() : whole_or_real(fmax(0, count));
}

static json_t *memory_object(const struct predict *predict)
{
    json_t *object = json_object();
    set(object, "weight_bytes", real(predict->resident_weight_bytes));
    set(object, "kv_bytes_per_token", real(predict->kv_bytes_per_token));
    set(object, "kv_bytes_per_sequence", real(predict->kv_bytes_per_sequence));
    set(object, "kv_bytes", real(predict->kv_bytes));
    set(object, "gpu_bytes", whole_or_real(predict->memory_bytes));
    set(object, "gpu_bytes_at_most", whole_or_real(predict->memory_bytes_most));
    double both = predict->resident_weight_bytes + predict->kv_bytes;
    bool known = both <= predict->memory_bytes || both > predict->memory_bytes_most;
    set(object, "fits", known ? json_boolean(both <= predict->memory_bytes) : json_null());
    set(object, "sequences_that_fit", sequences(predict->sequences_that_fit));
    set(object, "sequences_that_fit_at_most", sequences(predict->sequences_that_fit_most));
    return object;
}

static json_t *checkpoint_object(const struct predict_view *view)
{
    const struct checkpoint_comparison *comparison = view->checkpoint;
    static const char *const verdicts[] = {"equal", "different", "not_comparable"};
    if (!comparison)
        return json_null();
    json_t *object = json_object(), *differences = json_array();
    for (int i = 0; i < comparison->difference_count; i++)
        json_array_append_new(differences, text_or_null(comparison->differences[i]));
    set(object, "path", text_or_null(view->checkpoint_path));
    set(object, "kind", json_string(checkpoint_kind_name(comparison->kind)));
    set(object, "verdict", json_string(verdicts[comparison->verdict]));
    set(object, "tensors", json_integer((json_int_t)comparison->tensors));
    set(object, "parameters", comparison->parameters < 0 ? json_null() : json_integer(comparison->parameters));
    set(object, "expected_parameters", json_integer(comparison->expected));
    set(object, "bytes", real(comparison->bytes));
    set(object, "wrong_shape", json_integer((json_int_t)comparison->wrong_shape));
    set(object, "missing", json_integer((json_int_t)comparison->missing));
    set(object, "unknown", json_integer((json_int_t)comparison->unknown));
    set(object, "other_tensors", json_integer((json_int_t)comparison->other_tensors));
    set(object, "other_parameters", json_integer(comparison->other_parameters));
    set(object, "differences", differences);
    set(object, "note", text_or_null(comparison->note));
    return object;
}

bool predict_json(const struct predict_view *view, FILE *out)
{
    const struct predict *predict = view->predict;
    json_t *root = json_object();
    set(root, "schema", json_integer(SCHEMA));
    set(root, "model", model_object(view));
    set(root, "options", options_object(predict));
    set(root, "gpu", gpu_object(predict));
    set(root, "prefill", step_object(&predict->steps[PREDICT_PREFILL]));
    set(root, "decode", step_object(&predict->steps[PREDICT_DECODE]));
    set(root, "attention", attention_object(predict));
    set(root, "layer_rows_at_ridge", range(predict->layer_rows_at_ridge));
    set(root, "memory", memory_object(predict));
    set(root, "checkpoint", checkpoint_object(view));
    bool good = json_dumpf(root, out, JSON_INDENT(2)) == 0;
    json_decref(root);
    return good && fputc('\n', out) != EOF;
}
