/* SPDX-License-Identifier: Apache-2.0 */
/* The table of model families. Sources are files of huggingface/transformers, src/transformers/models/; defaults are the
 * ones that the configuration class there documents. */
#include "classify/model/families.h"

#include <stdio.h>
#include <string.h>

#define KV_AS_HEADS                                                                                                    \
    {                                                                                                                  \
        "num_key_value_heads", FAMILY_DEFAULT_QUERY_HEADS                                                              \
    }
#define DERIVED_HEAD_DIM                                                                                               \
    {                                                                                                                  \
        "head_dim", FAMILY_DEFAULT_HIDDEN_BY_HEADS                                                                     \
    }

/* clang-format off */
static const struct model_family families[] = {
    {.model_type = "llama", .title = "Llama 1, 2, 3", .attention = FAMILY_SEPARATE_QKV, .ffn = FAMILY_GATED,
     .traits = FAMILY_ATTENTION_BIAS | FAMILY_MLP_BIAS, .config_class = "LlamaConfig",
     .defaults = {KV_AS_HEADS, DERIVED_HEAD_DIM}, .source = "llama/modeling_llama.py"},
    {.model_type = "mistral", .title = "Mistral", .attention = FAMILY_SEPARATE_QKV, .ffn = FAMILY_GATED,
     .window = FAMILY_WINDOW_ALL, .config_class = "MistralConfig",
     .defaults = {{"num_key_value_heads", 8}, DERIVED_HEAD_DIM, {"sliding_window", 4096}},
     .source = "mistral/modeling_mistral.py"},
    {.model_type = "mixtral", .title = "Mixtral", .attention = FAMILY_SEPARATE_QKV, .moe = FAMILY_MIXTRAL,
     .window = FAMILY_WINDOW_ALL, .config_class = "MixtralConfig",
     .defaults = {{"num_key_value_heads", 8}, DERIVED_HEAD_DIM, {"sliding_window", 0}},
     .source = "mixtral/modeling_mixtral.py"},
    {.model_type = "qwen2", .title = "Qwen2, Qwen2.5", .attention = FAMILY_SEPARATE_QKV, .ffn = FAMILY_GATED,
     .window = FAMILY_WINDOW_UPPER, .traits = FAMILY_QKV_BIAS, .config_class = "Qwen2Config",
     .defaults = {DERIVED_HEAD_DIM, {"sliding_window", 4096}, {"max_window_layers", 28}},
     .source = "qwen2/modeling_qwen2.py"},
    {.model_type = "qwen2_moe", .title = "Qwen1.5-MoE, Qwen2-MoE", .attention = FAMILY_SEPARATE_QKV, .ffn = FAMILY_GATED,
     .moe = FAMILY_QWEN_MOE, .window = FAMILY_WINDOW_UNCLEAR, .traits = FAMILY_QKV_BIAS_FIELD,
     .config_class = "Qwen2MoeConfig", .defaults = {DERIVED_HEAD_DIM, {"sliding_window", 4096}, {"decoder_sparse_step", 1}},
     .source = "qwen2_moe/modeling_qwen2_moe.py"},
    {.model_type = "qwen3", .title = "Qwen3", .attention = FAMILY_SEPARATE_QKV, .ffn = FAMILY_GATED,
     .window = FAMILY_WINDOW_UPPER, .traits = FAMILY_ATTENTION_BIAS | FAMILY_QK_NORM, .config_class = "Qwen3Config",
     .defaults = {{"head_dim", 128}, {"sliding_window", 4096}, {"max_window_layers", 28}},
     .source = "qwen3/modeling_qwen3.py"},
    {.model_type = "qwen3_moe", .title = "Qwen3-MoE", .attention = FAMILY_SEPARATE_QKV, .ffn = FAMILY_GATED,
     .moe = FAMILY_QWEN_MOE, .window = FAMILY_WINDOW_UNCLEAR, .traits = FAMILY_ATTENTION_BIAS | FAMILY_QK_NORM,
     .config_class = "Qwen3MoeConfig", .defaults = {DERIVED_HEAD_DIM, {"sliding_window", 4096}, {"decoder_sparse_step", 1}},
     .source = "qwen3_moe/modeling_qwen3_moe.py"},
    {.model_type = "gemma", .title = "Gemma 1", .attention = FAMILY_SEPARATE_QKV, .ffn = FAMILY_GATED,
     .traits = FAMILY_ATTENTION_BIAS | FAMILY_TIED, .config_class = "GemmaConfig", .defaults = {{"head_dim", 256}},
     .source = "gemma/modeling_gemma.py"},
    {.model_type = "gemma2", .title = "Gemma 2", .attention = FAMILY_SEPARATE_QKV, .ffn = FAMILY_GATED,
     .norms = FAMILY_FOUR_NORMS, .window = FAMILY_WINDOW_ALTERNATING, .traits = FAMILY_ATTENTION_BIAS | FAMILY_TIED,
     .config_class = "Gemma2Config", .defaults = {{"head_dim", 256}, {"sliding_window", 4096}},
     .source = "gemma2/modeling_gemma2.py"},
    {.model_type = "gemma3_text", .title = "Gemma 3", .attention = FAMILY_SEPARATE_QKV, .ffn = FAMILY_GATED,
     .norms = FAMILY_FOUR_NORMS, .window = FAMILY_WINDOW_PATTERN,
     .traits = FAMILY_ATTENTION_BIAS | FAMILY_TIED | FAMILY_QK_NORM, .config_class = "Gemma3TextConfig",
     .defaults = {{"num_attention_heads", 8}, {"num_key_value_heads", 4}, {"head_dim", 256}, {"vocab_size", 262208},
                  {"sliding_window", 4096}, {"sliding_window_pattern", 6}},
     .source = "gemma3/modeling_gemma3.py"},
    {.model_type = "phi", .title = "Phi-1, Phi-1.5, Phi-2", .attention = FAMILY_SEPARATE_QKV, .ffn = FAMILY_PLAIN,
     .norms = FAMILY_ONE_NORM, .config_class = "PhiConfig", .defaults = {KV_AS_HEADS, DERIVED_HEAD_DIM},
     .traits = FAMILY_ALL_BIASES | FAMILY_NORM_BIAS | FAMILY_HEAD_BIAS | FAMILY_QK_LAYERNORM_FIELD | FAMILY_NO_HEAD_DIM,
     .source = "phi/modeling_phi.py"},
    {.model_type = "phi3", .title = "Phi-3, Phi-3.5, Phi-4", .attention = FAMILY_FUSED_QKV, .ffn = FAMILY_FUSED_GATED,
     .window = FAMILY_WINDOW_ALL, .config_class = "Phi3Config",
     .defaults = {KV_AS_HEADS, DERIVED_HEAD_DIM, {"sliding_window", 0}}, .source = "phi3/modeling_phi3.py"},
    {.model_type = "phimoe", .title = "Phi-3.5-MoE", .attention = FAMILY_SEPARATE_QKV, .moe = FAMILY_MIXTRAL,
     .window = FAMILY_WINDOW_ALL, .traits = FAMILY_ATTENTION_BIAS | FAMILY_NORM_BIAS | FAMILY_HEAD_BIAS_FIELD,
     .config_class = "PhimoeConfig", .defaults = {{"num_key_value_heads", 8}, DERIVED_HEAD_DIM, {"sliding_window", 0}},
     .source = "phimoe/modeling_phimoe.py"},
    {.model_type = "deepseek", .title = "DeepSeek-MoE", .attention = FAMILY_SEPARATE_QKV, .ffn = FAMILY_GATED,
     .moe = FAMILY_DEEPSEEK_MOE, .traits = FAMILY_ATTENTION_BIAS, .config_class = "DeepseekConfig",
     .defaults = {KV_AS_HEADS, DERIVED_HEAD_DIM, {"first_k_dense_replace", 0}, {"moe_layer_freq", 1}},
     .source = "deepseek-ai/deepseek-moe-16b-base, modeling_deepseek.py"},
    {.model_type = "deepseek_v2", .title = "DeepSeek V2", .attention = FAMILY_MLA, .ffn = FAMILY_GATED,
     .moe = FAMILY_DEEPSEEK_MOE, .traits = FAMILY_ATTENTION_BIAS, .config_class = "DeepseekV2Config",
     .defaults = {KV_AS_HEADS, {"first_k_dense_replace", 0}, {"moe_layer_freq", 1}},
     .source = "deepseek_v2/modeling_deepseek_v2.py"},
    {.model_type = "deepseek_v3", .title = "DeepSeek V3, R1", .attention = FAMILY_MLA, .ffn = FAMILY_GATED,
     .moe = FAMILY_DEEPSEEK_MOE, .traits = FAMILY_ATTENTION_BIAS | FAMILY_CORRECTION_BIAS,
     .config_class = "DeepseekV3Config",
     .defaults = {KV_AS_HEADS, {"first_k_dense_replace", 3}, {"moe_layer_freq", 1}},
     .source = "deepseek_v3/modeling_deepseek_v3.py"},
    {.model_type = "kimi_k2", .title = "Kimi K2", .attention = FAMILY_MLA, .ffn = FAMILY_GATED,
     .moe = FAMILY_DEEPSEEK_MOE, .traits = FAMILY_ATTENTION_BIAS | FAMILY_CORRECTION_BIAS,
     .config_class = "DeepseekV3Config",
     .defaults = {KV_AS_HEADS, {"first_k_dense_replace", 3}, {"moe_layer_freq", 1}},
     .source = "deepseek_v3/modeling_deepseek_v3.py, which Kimi K2 names as its architecture"},
    {.model_type = "gpt_oss", .title = "gpt-oss", .attention = FAMILY_SEPARATE_QKV, .moe = FAMILY_GPT_OSS_MOE,
     .window = FAMILY_WINDOW_ALTERNATING, .traits = FAMILY_ATTENTION_BIAS | FAMILY_BIAS_DEFAULT | FAMILY_SINKS,
     .config_class = "GptOssConfig", .defaults = {{"head_dim", 64}, {"sliding_window", 128}},
     .source = "gpt_oss/modeling_gpt_oss.py"},
};
/* clang-format on */

enum { FAMILIES = sizeof families / sizeof families[0] };

const struct model_family *model_families(size_t *count)
{
    *count = FAMILIES;
    return families;
}

const struct model_family *model_family_find(const char *model_type)
{
    for (size_t i = 0; i < FAMILIES; i++)
        if (!strcmp(families[i].model_type, model_type))
            return &families[i];
    return NULL;
}

const struct family_default *model_family_default(const struct model_family *family, const char *field)
{
    for (int i = 0; i < FAMILY_DEFAULTS && family->defaults[i].field; i++)
        if (!strcmp(family->defaults[i].field, field))
            return &family->defaults[i];
    return NULL;
}

void model_family_list(char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < FAMILIES && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", families[i].model_type);
}
