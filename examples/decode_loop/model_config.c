/* SPDX-License-Identifier: Apache-2.0 */
/* Reads config.json with jansson. Names are those of Hugging Face's configurations of Llama-like models. */
#include "model_config.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define LARGEST_SIZE 100000000 /* products with a batch stay far below what an int holds */

static bool read_size(const char *path, const json_t *root, const char *key, int default_value, int *value)
{
    const json_t *found = json_object_get(root, key);
    if (!found && default_value > 0) {
        *value = default_value;
        return true;
    }
    const json_int_t number = json_integer_value(found);
    if (!json_is_integer(found) || number < 1 || number > LARGEST_SIZE) {
        fprintf(stderr, "decode_loop: %s: %s %s; expected an integer from 1 to %d; use the config.json of a model\n",
                path, key, found ? "is out of range or no integer" : "is missing", LARGEST_SIZE);
        return false;
    }
    *value = (int)number;
    return true;
}

static bool read_qkv_bias(const char *path, const json_t *root, bool *bias)
{
    const json_t *explicit_bias = json_object_get(root, "attention_bias");
    if (explicit_bias && !json_is_boolean(explicit_bias) && !json_is_null(explicit_bias)) {
        fprintf(stderr, "decode_loop: %s: attention_bias is no boolean; expected true, false or no such key\n", path);
        return false;
    }
    /* Qwen2 has biases on q, k and v without saying so. */
    const char *type = json_string_value(json_object_get(root, "model_type"));
    *bias = json_is_boolean(explicit_bias) ? json_is_true(explicit_bias) : type && !strcmp(type, "qwen2");
    return true;
}

static bool read_sizes(const char *path, const json_t *root, struct model_config *config)
{
    if (!read_size(path, root, "hidden_size", 0, &config->hidden) ||
        !read_size(path, root, "intermediate_size", 0, &config->intermediate) ||
        !read_size(path, root, "num_hidden_layers", 0, &config->layers) ||
        !read_size(path, root, "num_attention_heads", 0, &config->heads) ||
        !read_size(path, root, "num_key_value_heads", config->heads, &config->kv_heads) ||
        !read_size(path, root, "vocab_size", 0, &config->vocabulary))
        return false;
    const bool whole = config->hidden % config->heads == 0;
    if (!whole && !json_object_get(root, "head_dim")) {
        fprintf(stderr,
                "decode_loop: %s: hidden_size %d is no multiple of num_attention_heads %d; expected a head_dim then\n",
                path, config->hidden, config->heads);
        return false;
    }
    if (!read_size(path, root, "head_dim", whole ? config->hidden / config->heads : 0, &config->head_dim))
        return false;
    if (config->heads % config->kv_heads) {
        fprintf(stderr, "decode_loop: %s: num_attention_heads %d is no multiple of num_key_value_heads %d\n", path,
                config->heads, config->kv_heads);
        return false;
    }
    if ((long long)config->heads * config->head_dim > LARGEST_SIZE) {
        fprintf(stderr, "decode_loop: %s: num_attention_heads times head_dim is above %d\n", path, LARGEST_SIZE);
        return false;
    }
    return true;
}

bool model_config_read(const char *path, struct model_config *config)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root) {
        if (error.line > 0)
            fprintf(stderr, "decode_loop: %s:%d: %s; expected a model's config.json\n", path, error.line, error.text);
        else
            fprintf(stderr, "decode_loop: %s; give --config a readable config.json\n", error.text);
        return false;
    }
    bool good = json_is_object(root);
    if (!good)
        fprintf(stderr, "decode_loop: %s: no JSON object; expected a model's config.json\n", path);
    good = good && read_sizes(path, root, config) && read_qkv_bias(path, root, &config->qkv_bias);
    json_decref(root);
    return good;
}
