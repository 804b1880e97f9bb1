/* SPDX-License-Identifier: Apache-2.0 */
/* One function a method, one row in the table. Sources: huggingface/transformers, src/transformers/utils/
 * quantization_config.py (fields and their defaults); the packing of each method as its own project describes it. */
#include "classify/model/quantisation.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void give_up(struct model_config *config, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void give_up(struct model_config *config, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(config->quantisation_problem, sizeof config->quantisation_problem, format, arguments);
    va_end(arguments);
}

static int64_t whole(const json_t *object, const char *name, const char *other)
{
    const json_t *value = json_object_get(object, name);
    if (!value && other)
        value = json_object_get(object, other);
    return json_is_integer(value) ? json_integer_value(value) : 0;
}

static void set_storage(struct model_config *config, double bits, struct gemm_scales scales, const char *name)
{
    config->quantised = true;
    config->storage = (struct model_storage){.bits = bits, .scales = scales};
    snprintf(config->storage.name, sizeof config->storage.name, "%s", name);
}

/* A 16-bit scale and a zero point of as many bits as a weight for each group along K. */
static void read_groups(const json_t *object, struct model_config *config, const char *method)
{
    int64_t bits = whole(object, "bits", "w_bit"), group = whole(object, "group_size", "q_group_size");
    if (bits < 2 || bits > 8 || group < -1 || group == 0 || group > 1 << 20) {
        give_up(config, "%s needs 'bits' from 2 to 8 and 'group_size', -1 or more than 0", method);
        return;
    }
    char name[96];
    if (group > 0)
        snprintf(name, sizeof name, "%s, %" PRId64 " bits, 16-bit scale and zero point for %" PRId64, method, bits,
                 group);
    else
        snprintf(name, sizeof name, "%s, %" PRId64 " bits, 16-bit scale and zero point a channel", method, bits);
    set_storage(config, (double)bits,
                (struct gemm_scales){.bits = 16 + (double)bits, .outer = 1, .inner = group > 0 ? group : 0}, name);
}

static void read_awq(const json_t *object, struct model_config *config)
{
    read_groups(object, config, "awq");
}

static void read_gptq(const json_t *object, struct model_config *config)
{
    if (json_object_size(json_object_get(object, "dynamic")) || json_is_true(json_object_get(object, "lm_head"))) {
        give_up(config, "gptq with 'dynamic' or a quantised 'lm_head' is not understood");
        return;
    }
    read_groups(object, config, "gptq");
}

/* Weights of one byte; activations too, unless the method is for weights only. */
static void read_fp8(const json_t *object, struct model_config *config)
{
    const json_t *block = json_object_get(object, "weight_block_size");
    struct gemm_scales scales = {.bits = 32};
    if (json_is_array(block) && json_array_size(block) == 2) {
        int64_t outer = json_integer_value(json_array_get(block, 0)),
                inner = json_integer_value(json_array_get(block, 1));
        if (outer < 1 || inner < 1 || outer > 1 << 20 || inner > 1 << 20) {
            give_up(config, "fp8 needs 'weight_block_size' with two numbers above 0");
            return;
        }
        scales.outer = outer, scales.inner = inner;
    } else if (block && !json_is_null(block)) {
        give_up(config, "fp8 needs 'weight_block_size' with two numbers above 0");
        return;
    }
    set_storage(config, 8, scales, scales.outer ? "fp8, 32-bit scale for each block" : "fp8, 32-bit scale a tensor");
    config->operands = model_format_by_name("fp8");
    const char *scheme = json_string_value(json_object_get(object, "activation_scheme"));
    /* As wide as the weights' blocks: the 1 x 128 tiles of DeepSeek-V3, arXiv 2412.19437, section 3.3.2. */
    if (scales.inner && scheme && !strcmp(scheme, "dynamic"))
        config->operand_scales = (struct gemm_scales){.bits = 32, .outer = 1, .inner = scales.inner};
}

static void read_mxfp4(const json_t *object, struct model_config *config)
{
    (void)object;
    set_storage(config, 4, (struct gemm_scales){.bits = 8, .outer = 1, .inner = 32},
                "mxfp4 experts, 8-bit scale for 32");
    config->experts_only = true; /* attention, router, embedding and lm_head are left out in every release */
}

static void read_bitsandbytes(const json_t *object, struct model_config *config)
{
    if (json_is_true(json_object_get(object, "load_in_8bit"))) {
        set_storage(config, 8, (struct gemm_scales){.bits = 32, .outer = 1},
                    "bitsandbytes int8, 32-bit scale a channel");
        return;
    }
    if (!json_is_true(json_object_get(object, "load_in_4bit"))) {
        give_up(config, "bitsandbytes needs load_in_4bit or load_in_8bit");
        return;
    }
    /* 32 bits for 64 weights; nested: 8 bits for 64, and 32 bits for 256 of those */
    if (json_is_true(json_object_get(object, "bnb_4bit_use_double_quant")))
        set_storage(config, 4, (struct gemm_scales){.bits = 8 + 32.0 / 256, .outer = 1, .inner = 64},
                    "bitsandbytes 4-bit, nested scale for 64");
    else
        set_storage(config, 4, (struct gemm_scales){.bits = 32, .outer = 1, .inner = 64},
                    "bitsandbytes 4-bit, 32-bit scale for 64");
}

static bool text_is(const json_t *object, const char *name, const char *text)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value && !strcmp(value, text);
}

/* Exactly one group, for all linear layers: what most published checkpoints have. */
static void read_compressed_tensors(const json_t *object, struct model_config *config)
{
    json_t *groups = json_object_get(object, "config_groups");
    json_t *group = json_object_iter_value(json_object_iter(groups));
    const json_t *weights = json_object_get(group, "weights"), *inputs = json_object_get(group, "input_activations");
    const json_t *targets = json_object_get(group, "targets");
    int64_t bits = whole(weights, "num_bits", NULL), size = whole(weights, "group_size", NULL);
    const char *target = json_string_value(json_array_get(targets, 0));
    if (json_object_size(groups) != 1 || json_array_size(targets) != 1 || !target || strcmp(target, "Linear") ||
        bits < 2 || bits > 8) {
        give_up(config, "compressed-tensors: expected one group with targets [\"Linear\"] and weights of 2 to 8 bits");
        return;
    }
    bool is_float = text_is(weights, "type", "float"), grouped = size > 0 && size <= 1 << 20;
    struct gemm_scales scales = {.bits = 16, .outer = text_is(weights, "strategy", "tensor") ? 0 : 1};
    if (grouped)
        scales.inner = size;
    if (bits == 4 && is_float)
        scales.bits = 8; /* nvfp4: fp8 scales for 16 */
    else if (!json_is_true(json_object_get(weights, "symmetric")) && !is_float)
        scales.bits += (double)bits;
    char name[96];
    snprintf(name, sizeof name, "compressed-tensors, %" PRId64 "-bit %s", bits, is_float ? "float" : "integer");
    set_storage(config, (double)bits, scales, name);
    if (json_is_object(inputs) && whole(inputs, "num_bits", NULL) == bits)
        config->operands = model_format_by_name(bits == 8 ? (is_float ? "fp8" : "int8") : is_float ? "nvfp4" : "");
}

static void read_modelopt(const json_t *object, struct model_config *config)
{
    const char *algorithm = json_string_value(json_object_get(object, "quant_algo"));
    if (algorithm && !strcmp(algorithm, "FP8")) {
        set_storage(config, 8, (struct gemm_scales){.bits = 32}, "modelopt fp8, 32-bit scale a tensor");
        config->operands = model_format_by_name("fp8");
    } else if (algorithm && !strcmp(algorithm, "NVFP4")) {
        set_storage(config, 4, (struct gemm_scales){.bits = 8, .outer = 1, .inner = 16},
                    "modelopt nvfp4, 8-bit scale for 16");
        config->operands = model_format_by_name("nvfp4");
    } else {
        give_up(config, "modelopt needs 'quant_algo' FP8 or NVFP4");
    }
}

static const struct {
    const char *method;
    void (*read)(const json_t *object, struct model_config *config);
} methods[] = {
    {"awq", read_awq},
    {"gptq", read_gptq},
    {"fp8", read_fp8},
    {"mxfp4", read_mxfp4},
    {"bitsandbytes", read_bitsandbytes},
    {"compressed-tensors", read_compressed_tensors},
    {"modelopt", read_modelopt},
};

/* ---- what stays as it is ---- */

/* Numbers become `*`, a leading "model." goes. False: a regular expression, or longer than any name. */
static bool make_pattern(const char *entry, struct model_exclusion *exclusion)
{
    static const char *const prefixes[] = {"model.language_model.", "language_model.model.", "language_model.",
                                           "model."};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (!strncmp(entry, prefixes[i], strlen(prefixes[i]))) {
            entry += strlen(prefixes[i]);
            break;
        }
    size_t used = 0;
    bool start = true;
    *exclusion = (struct model_exclusion){.mentions = 1};
    while (*entry) {
        size_t digits = start ? strspn(entry, "0123456789") : 0;
        bool star = *entry == '*' && start && (entry[1] == '.' || !entry[1]);
        if (used + 1 >= sizeof exclusion->pattern || (strchr("*?[]()|^$\\:", *entry) && !star))
            return false;
        if (digits && (entry[digits] == '.' || !entry[digits])) {
            exclusion->pattern[used++] = '*';
            exclusion->numbered = true;
            entry += digits;
        } else {
            exclusion->pattern[used++] = *entry++;
        }
        start = exclusion->pattern[used - 1] == '.';
    }
    return used > 0;
}

static void exclude(struct model_config *config, const char *entry)
{
    struct model_exclusion exclusion;
    bool clear = make_pattern(entry, &exclusion);
    for (int i = 0; clear && i < config->excluded_count; i++)
        if (!strcmp(config->excluded[i].pattern, exclusion.pattern)) {
            config->excluded[i].mentions++;
            return;
        }
    if (clear && config->excluded_count < MODEL_EXCLUDED_MOST)
        config->excluded[config->excluded_count++] = exclusion;
    else if (!strstr(entry, "lm_head") && !strstr(entry, "embed")) /* these are never quantised here anyway */
        config->excluded_unclear++;
}

static void note_excluded(const json_t *object, struct model_config *config)
{
    static const char *const fields[] = {"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules",
                                         "llm_int8_skip_modules"};
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        const json_t *list = json_object_get(object, fields[f]), *entry;
        size_t i;
        json_array_foreach((json_t *)list, i, entry)
        {
            if (json_is_string(entry))
                exclude(config, json_string_value(entry));
        }
    }
}

/* ENTRY as whole components of NAME: "self_attn" and "layers.*.self_attn" are in "layers.*.self_attn.q_proj". */
static bool names_part(const char *entry, const char *name)
{
    size_t length = strlen(entry);
    for (const char *found = strstr(name, entry); found; found = strstr(found + 1, entry))
        if ((found == name || found[-1] == '.' || found[-1] == '+') &&
            (!found[length] || found[length] == '.' || found[length] == '+'))
            return true;
    return false;
}

/* "layers.*.mlp" comes once a layer, "layers.*.mlp.experts.*" once an expert. */
static bool names_experts(const char *pattern)
{
    const char *star = strchr(pattern, '*');
    return star && strchr(star + 1, '*');
}

enum model_exclusion_extent model_quantisation_excludes(const struct model_config *config, const char *name,
                                                        int64_t layers, int64_t experts)
{
    enum model_exclusion_extent extent = MODEL_EXCLUDED_NOWHERE;
    for (int i = 0; i < config->excluded_count; i++) {
        const struct model_exclusion *exclusion = &config->excluded[i];
        if (!names_part(exclusion->pattern, name))
            continue;
        if (!exclusion->numbered || exclusion->mentions >= layers * (names_experts(exclusion->pattern) ? experts : 1))
            return MODEL_EXCLUDED_EVERYWHERE;
        extent = MODEL_EXCLUDED_IN_SOME_LAYERS;
    }
    return extent;
}

void model_quantisation_read(const json_t *object, struct model_config *config)
{
    if (!object)
        return;
    const char *method = json_string_value(json_object_get(object, "quant_method"));
    if (!method && (json_object_get(object, "load_in_4bit") || json_object_get(object, "load_in_8bit")))
        method = "bitsandbytes";
    for (size_t i = 0; method && i < sizeof methods / sizeof methods[0]; i++)
        if (!strcmp(methods[i].method, method)) {
            methods[i].read(object, config);
            note_excluded(object, config);
            return;
        }
    give_up(config, "quant_method '%.40s' is not understood", method ? method : "");
}
