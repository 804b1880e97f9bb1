/* SPDX-License-Identifier: Apache-2.0 */
/* Geometry first, since defaults of later fields are made of earlier ones; then which layers differ; then how weights are
 * stored (quantisation.c). */
#include "classify/model/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "classify/allocate.h"
#include "classify/model/fields.h"
#include "classify/model/quantisation.h"
#include "classify/regular_file.h"

/* Far above any model, and low enough that no sum of products leaves 63 bits. */
enum {
    MOST_LAYERS = 4096,
    MOST_HEADS = 1 << 14,
    MOST_HEAD_DIM = 1 << 14,
    MOST_HIDDEN = 1 << 18,
    MOST_FFN = 1 << 22,
    MOST_VOCAB = 1 << 24,
    MOST_EXPERTS = 1 << 14,
    MOST_WINDOW = 1 << 30,
};

static int64_t size(struct model_fields *fields, const struct model_config *config, const char *name, int64_t most)
{
    return model_fields_size(fields, name, 1, most, config->query_heads, config->hidden);
}

/* ---- attention ---- */

static void read_latent(struct model_fields *fields, struct model_config *config)
{
    config->q_rank = model_fields_size_or(fields, "q_lora_rank", 1, MOST_HIDDEN, 0);
    config->kv_rank = size(fields, config, "kv_lora_rank", MOST_HIDDEN);
    config->nope_dim = size(fields, config, "qk_nope_head_dim", MOST_HEAD_DIM);
    config->rope_dim = size(fields, config, "qk_rope_head_dim", MOST_HEAD_DIM);
    config->value_dim = size(fields, config, "v_head_dim", MOST_HEAD_DIM);
    config->head_dim = config->nope_dim + config->rope_dim;
    config->kv_heads = config->query_heads; /* every head has keys and values of its own, unfolded from the latent */
}

static void read_heads(struct model_fields *fields, struct model_config *config)
{
    if (model_fields_is_null(fields, "num_key_value_heads"))
        config->kv_heads = config->query_heads; /* what null stands for in every configuration class */
    else
        config->kv_heads = size(fields, config, "num_key_value_heads", MOST_HEADS);
    if (!fields->failed && config->query_heads % config->kv_heads)
        model_fields_fail(fields, "num_attention_heads %" PRId64 " is no multiple of num_key_value_heads %" PRId64,
                          config->query_heads, config->kv_heads);
    if (!(config->family->traits & FAMILY_NO_HEAD_DIM)) {
        config->head_dim = size(fields, config, "head_dim", MOST_HEAD_DIM);
    } else if (config->hidden % config->query_heads) {
        model_fields_fail(fields, "hidden_size %" PRId64 " is no multiple of num_attention_heads %" PRId64,
                          config->hidden, config->query_heads);
    } else {
        config->head_dim = config->hidden / config->query_heads;
    }
    config->value_dim = config->head_dim;
}

static void read_biases(struct model_fields *fields, struct model_config *config)
{
    unsigned traits = config->family->traits;
    bool all = traits & FAMILY_ALL_BIASES;
    bool attention =
        traits & FAMILY_ATTENTION_BIAS && model_fields_bool(fields, "attention_bias", traits & FAMILY_BIAS_DEFAULT);
    config->output_bias = all || attention;
    config->qkv_bias = all || attention || traits & FAMILY_QKV_BIAS ||
                       (traits & FAMILY_QKV_BIAS_FIELD && model_fields_bool(fields, "qkv_bias", true));
    config->ffn_bias = all || (traits & FAMILY_MLP_BIAS && model_fields_bool(fields, "mlp_bias", false));
    config->norm_bias = traits & FAMILY_NORM_BIAS;
    config->head_bias = traits & FAMILY_HEAD_BIAS ||
                        (traits & FAMILY_HEAD_BIAS_FIELD && model_fields_bool(fields, "lm_head_bias", false));
    config->qk_norm = traits & FAMILY_QK_NORM;
    config->qk_layernorm = traits & FAMILY_QK_LAYERNORM_FIELD && model_fields_bool(fields, "qk_layernorm", false);
    config->tied = model_fields_bool(fields, "tie_word_embeddings", traits & FAMILY_TIED);
}

/* ---- which layers attend to a window ---- */

static bool read_layer_types(struct model_fields *fields, struct model_config *config)
{
    const json_t *types = model_fields_find(fields, "layer_types"), *type;
    size_t i;
    if (!types || fields->failed)
        return false;
    if (!json_is_array(types) || json_array_size(types) != (size_t)config->layers) {
        model_fields_fail(fields, "field 'layer_types' must be an array of num_hidden_layers %" PRId64 " strings",
                          config->layers);
        return true;
    }
    json_array_foreach((json_t *)types, i, type)
    {
        const char *name = json_string_value(type);
        if (name && !strcmp(name, "sliding_attention"))
            config->layer[i] |= MODEL_LAYER_WINDOW;
        else if (!name || strcmp(name, "full_attention"))
            model_fields_fail(fields,
                              "field 'layer_types' has an entry that is neither full_attention nor sliding_attention");
    }
    return true;
}

static void mark_windows(struct model_fields *fields, struct model_config *config)
{
    enum family_window rule = config->family->window;
    if (rule == FAMILY_NO_WINDOW || fields->failed)
        return;
    bool switched = rule == FAMILY_WINDOW_UPPER || rule == FAMILY_WINDOW_UNCLEAR;
    bool used = !switched || model_fields_bool(fields, "use_sliding_window", false);
    bool listed = used && read_layer_types(fields, config);
    if (used && !model_fields_is_null(fields, "sliding_window"))
        config->window = model_fields_size(fields, "sliding_window", 0, MOST_WINDOW, 0, 0);
    if (!listed && used && rule == FAMILY_WINDOW_UNCLEAR)
        model_fields_fail(fields,
                          "use_sliding_window is true, but which layers of a %s model slide differs between "
                          "releases; add field 'layer_types'",
                          config->family->model_type);
    int64_t first = 0, pattern = 0;
    if (!listed && used && rule == FAMILY_WINDOW_UPPER)
        first = model_fields_size(fields, "max_window_layers", 0, INT32_MAX, 0, 0);
    if (!listed && rule == FAMILY_WINDOW_PATTERN)
        pattern = size(fields, config, "sliding_window_pattern", MOST_LAYERS);
    for (int64_t i = 0; i < config->layers; i++) {
        bool slides = rule == FAMILY_WINDOW_ALL || (rule == FAMILY_WINDOW_UPPER && i >= first) ||
                      (rule == FAMILY_WINDOW_ALTERNATING && i % 2 == 0) ||
                      (rule == FAMILY_WINDOW_PATTERN && pattern && (i + 1) % pattern);
        if (!listed && used && slides)
            config->layer[i] |= MODEL_LAYER_WINDOW;
        if (!config->window)
            config->layer[i] &= (uint8_t)~MODEL_LAYER_WINDOW;
    }
}

/* ---- experts ---- */

static void check_top_k(struct model_fields *fields, const struct model_config *config)
{
    if (!fields->failed && config->experts_per_token > config->experts)
        model_fields_fail(fields, "num_experts_per_tok %" PRId64 " is more than the %" PRId64 " experts",
                          config->experts_per_token, config->experts);
}

static void mark_all_sparse(struct model_config *config)
{
    for (int64_t i = 0; i < config->layers; i++)
        config->layer[i] |= MODEL_LAYER_SPARSE;
}

static void read_mixtral(struct model_fields *fields, struct model_config *config)
{
    config->experts = size(fields, config, "num_local_experts", MOST_EXPERTS);
    if (config->family->moe == FAMILY_GPT_OSS_MOE && !model_fields_find(fields, "num_experts_per_tok"))
        config->experts_per_token = size(fields, config, "experts_per_token", MOST_EXPERTS);
    else
        config->experts_per_token = size(fields, config, "num_experts_per_tok", MOST_EXPERTS);
    config->expert_ffn = size(fields, config, "intermediate_size", MOST_FFN);
    mark_all_sparse(config);
}

static void read_qwen_moe(struct model_fields *fields, struct model_config *config)
{
    config->experts = size(fields, config, "num_experts", MOST_EXPERTS);
    config->experts_per_token = size(fields, config, "num_experts_per_tok", MOST_EXPERTS);
    config->expert_ffn = size(fields, config, "moe_intermediate_size", MOST_FFN);
    config->ffn = size(fields, config, "intermediate_size", MOST_FFN);
    if (!strcmp(config->family->model_type, "qwen2_moe")) {
        config->shared_ffn = size(fields, config, "shared_expert_intermediate_size", MOST_FFN);
        config->shared_gate = true;
    }
    int64_t step = size(fields, config, "decoder_sparse_step", MOST_LAYERS);
    for (int64_t i = 0; i < config->layers; i++)
        if ((i + 1) % step == 0)
            config->layer[i] |= MODEL_LAYER_SPARSE;
    const json_t *dense = model_fields_find(fields, "mlp_only_layers"), *index;
    size_t i;
    if (dense && !json_is_array(dense))
        model_fields_fail(fields, "field 'mlp_only_layers' must be an array of layer numbers");
    json_array_foreach((json_t *)dense, i, index)
    {
        int64_t layer = json_is_integer(index) ? json_integer_value(index) : -1;
        if (layer < 0)
            model_fields_fail(fields, "field 'mlp_only_layers' must be an array of layer numbers");
        else if (layer < config->layers)
            config->layer[layer] &= (uint8_t)~MODEL_LAYER_SPARSE;
    }
}

static void read_deepseek_moe(struct model_fields *fields, struct model_config *config)
{
    config->ffn = size(fields, config, "intermediate_size", MOST_FFN);
    config->experts = size(fields, config, "n_routed_experts", MOST_EXPERTS);
    config->experts_per_token = size(fields, config, "num_experts_per_tok", MOST_EXPERTS);
    config->expert_ffn = size(fields, config, "moe_intermediate_size", MOST_FFN);
    config->shared_ffn = config->expert_ffn * model_fields_size_or(fields, "n_shared_experts", 0, MOST_EXPERTS, 0);
    int64_t first = model_fields_size(fields, "first_k_dense_replace", 0, MOST_LAYERS, 0, 0);
    int64_t step = size(fields, config, "moe_layer_freq", MOST_LAYERS);
    for (int64_t i = 0; i < config->layers; i++)
        if (i >= first && i % step == 0)
            config->layer[i] |= MODEL_LAYER_SPARSE;
}

static void read_ffn(struct model_fields *fields, struct model_config *config)
{
    switch (config->family->moe) {
    case FAMILY_DENSE:
        config->ffn = size(fields, config, "intermediate_size", MOST_FFN);
        return;
    case FAMILY_MIXTRAL:
    case FAMILY_GPT_OSS_MOE:
        read_mixtral(fields, config);
        break;
    case FAMILY_QWEN_MOE:
        read_qwen_moe(fields, config);
        break;
    case FAMILY_DEEPSEEK_MOE:
        read_deepseek_moe(fields, config);
        break;
    }
    check_top_k(fields, config);
}

/* ---- the whole file ---- */

static void read_geometry(struct model_fields *fields, struct model_config *config)
{
    config->hidden = size(fields, config, "hidden_size", MOST_HIDDEN);
    config->layers = size(fields, config, "num_hidden_layers", MOST_LAYERS);
    if (!model_fields_is_null(fields, "max_position_embeddings"))
        config->positions = model_fields_size_or(fields, "max_position_embeddings", 1, MOST_WINDOW, 0);
    config->query_heads = size(fields, config, "num_attention_heads", MOST_HEADS);
    config->vocab = size(fields, config, "vocab_size", MOST_VOCAB);
    if (fields->failed)
        return;
    config->layer = allocate((size_t)config->layers, 1);
    if (config->family->attention == FAMILY_MLA)
        read_latent(fields, config);
    else
        read_heads(fields, config);
    read_ffn(fields, config);
    read_biases(fields, config);
    mark_windows(fields, config);
}

/* A file for text and images keeps the language model in `text_config`. */
static bool choose_model(struct model_fields *fields, const json_t *root, struct model_config *config)
{
    const json_t *text = json_object_get(root, "text_config");
    fields->object = root;
    if (json_is_object(text)) {
        fields->object = text;
        fields->outer = root;
        snprintf(config->note, sizeof config->note,
                 "the language model of text_config only; other towers are not counted");
    }
    const json_t *more = model_fields_find(fields, "num_nextn_predict_layers");
    if (json_is_integer(more) && json_integer_value(more) > 0)
        snprintf(config->note + strlen(config->note), sizeof config->note - strlen(config->note),
                 "%smulti-token prediction layers are not counted", config->note[0] ? "; " : "");
    const json_t *field = model_fields_find(fields, "model_type");
    const char *name = json_string_value(field);
    char list[512];
    model_family_list(list, sizeof list);
    if (!name) {
        model_fields_fail(fields, "field 'model_type' is %s; expected one of %s", field ? "no string" : "missing",
                          list);
        return false;
    }
    if (!strcmp(name, "gemma3")) /* text_config of the first releases names no type of its own */
        name = "gemma3_text";
    snprintf(config->model_type, sizeof config->model_type, "%s", name);
    config->family = fields->family = model_family_find(name);
    if (!config->family)
        model_fields_fail(fields, "model_type '%.40s' is not supported; supported are %s", name, list);
    return config->family;
}

static void read_formats(struct model_fields *fields, struct model_config *config)
{
    const json_t *field = model_fields_find(fields, "torch_dtype");
    if (!field)
        field = model_fields_find(fields, "dtype");
    const char *name = json_string_value(field);
    if (field && !name) {
        model_fields_fail(fields, "field 'torch_dtype' must be a string such as \"bfloat16\"");
    } else if (!field) {
        config->format = model_format_by_name("bf16");
        config->format_assumed = true;
    } else {
        config->format = model_format_by_torch(name);
        if (!config->format)
            model_fields_fail(fields, "field 'torch_dtype' is '%.40s'; expected bfloat16, float16 or float32", name);
    }
    if (fields->failed)
        return;
    config->storage = (struct model_storage){.bits = config->format->bits};
    snprintf(config->storage.name, sizeof config->storage.name, "%s", config->format->name);
    model_quantisation_read(model_fields_find(fields, "quantization_config"), config);
}

bool model_config_parse(const char *text, size_t bytes, struct model_config *config, struct model_error *error)
{
    *config = (struct model_config){0};
    json_error_t problem;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &problem);
    if (!root) {
        snprintf(error->text, sizeof error->text, "is neither a GGUF nor JSON: line %d: %.200s", problem.line,
                 problem.text);
        return false;
    }
    struct model_fields fields = {.error = error, .defaulted = config->defaulted};
    if (!json_is_object(root))
        model_fields_fail(&fields, "is no JSON object; expected the config.json of a model");
    else if (choose_model(&fields, root, config)) {
        read_geometry(&fields, config);
        if (!fields.failed)
            read_formats(&fields, config);
    }
    json_decref(root);
    if (fields.failed)
        model_config_free(config);
    return !fields.failed;
}

static bool refuse_file(struct model_error *error, int number)
{
    snprintf(error->text, sizeof error->text, "can't be read: %s; expected a config.json or its folder",
             number ? strerror(number) : "it is no regular file");
    return false;
}

bool model_config_read(const char *path, struct model_config *config, char *used, size_t used_bytes,
                       struct model_error *error)
{
    struct stat status;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    snprintf(used, used_bytes, "%s%s", path, folder ? "/config.json" : "");
    uint64_t bytes;
    FILE *file = regular_file_open(used, &bytes);
    if (!file)
        return refuse_file(error, errno);
    if (bytes > MODEL_CONFIG_LARGEST_BYTES) {
        fclose(file);
        snprintf(error->text, sizeof error->text, "has %" PRIu64 " bytes; a config.json has %d at most", bytes,
                 MODEL_CONFIG_LARGEST_BYTES);
        return false;
    }
    char *text = allocate((size_t)bytes + 1, 1);
    size_t got = fread(text, 1, (size_t)bytes, file);
    bool failed = ferror(file);
    int number = errno;
    fclose(file);
    bool good = failed ? refuse_file(error, number) : model_config_parse(text, got, config, error);
    free(text);
    return good;
}

void model_config_free(struct model_config *config)
{
    free(config->layer);
    config->layer = NULL;
}
