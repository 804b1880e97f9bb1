/* SPDX-License-Identifier: Apache-2.0 */
/* The model families that can be predicted: one row each. A row says which parts the family's layers are built of, which
 * fields of config.json it reads and what its configuration class documents for those that released files leave out. */
#ifndef CLASSIFY_MODEL_FAMILIES_H
#define CLASSIFY_MODEL_FAMILIES_H

#include <stddef.h>
#include <stdint.h>

enum family_trait {
    FAMILY_QKV_BIAS = 1 << 0,           /* always, whatever attention_bias says */
    FAMILY_QKV_BIAS_FIELD = 1 << 1,     /* `qkv_bias`, true where absent */
    FAMILY_ATTENTION_BIAS = 1 << 2,     /* `attention_bias` gives q, k, v and o biases; false where absent */
    FAMILY_MLP_BIAS = 1 << 3,           /* `mlp_bias`; false where absent */
    FAMILY_ALL_BIASES = 1 << 4,         /* every projection, and norms are LayerNorm with bias */
    FAMILY_HEAD_BIAS = 1 << 5,          /* lm_head always has one */
    FAMILY_HEAD_BIAS_FIELD = 1 << 6,    /* `lm_head_bias` */
    FAMILY_NORM_BIAS = 1 << 7,          /* LayerNorm with bias */
    FAMILY_QK_NORM = 1 << 8,            /* q_norm and k_norm of head_dim */
    FAMILY_QK_LAYERNORM_FIELD = 1 << 9, /* `qk_layernorm` */
    FAMILY_TIED = 1 << 10,              /* tie_word_embeddings is true where absent */
    FAMILY_SINKS = 1 << 11,             /* one learned sink a query head */
    FAMILY_CORRECTION_BIAS = 1 << 12,   /* e_score_correction_bias of the router */
    FAMILY_NO_HEAD_DIM = 1 << 13,       /* head_dim is always hidden_size / num_attention_heads */
    FAMILY_BIAS_DEFAULT = 1 << 14,      /* attention_bias is true where absent */
};

enum family_attention { FAMILY_SEPARATE_QKV, FAMILY_FUSED_QKV, FAMILY_MLA };
enum family_ffn { FAMILY_GATED, FAMILY_FUSED_GATED, FAMILY_PLAIN };
enum family_moe { FAMILY_DENSE, FAMILY_MIXTRAL, FAMILY_QWEN_MOE, FAMILY_DEEPSEEK_MOE, FAMILY_GPT_OSS_MOE };
enum family_norms { FAMILY_TWO_NORMS, FAMILY_FOUR_NORMS, FAMILY_ONE_NORM };

/* Which layers attend to a window of keys. `layer_types` wins where the file has it. */
enum family_window {
    FAMILY_NO_WINDOW,
    FAMILY_WINDOW_ALL,     /* sliding_window, null: none */
    FAMILY_WINDOW_UPPER,   /* use_sliding_window, from layer max_window_layers on */
    FAMILY_WINDOW_UNCLEAR, /* use_sliding_window, but which layers differs between releases: layer_types is needed */
    FAMILY_WINDOW_ALTERNATING, /* layers 0, 2, 4, ... */
    FAMILY_WINDOW_PATTERN,     /* all but each sliding_window_pattern-th */
};

enum family_default_value { FAMILY_DEFAULT_QUERY_HEADS = -1, FAMILY_DEFAULT_HIDDEN_BY_HEADS = -2 };

struct family_default {
    const char *field; /* NULL ends the list */
    int64_t value;     /* or enum family_default_value */
};

enum { FAMILY_DEFAULTS = 8 };

struct model_family {
    const char *model_type, *title;
    enum family_attention attention;
    enum family_ffn ffn;
    enum family_moe moe;
    enum family_norms norms;
    enum family_window window;
    unsigned traits;
    const char *config_class; /* whose documentation gives the defaults */
    struct family_default defaults[FAMILY_DEFAULTS];
    const char *source; /* where the layout comes from */
};

const struct model_family *model_families(size_t *count);
const struct model_family *model_family_find(const char *model_type); /* NULL: none */
const struct family_default *model_family_default(const struct model_family *family, const char *field); /* NULL */
/* "llama, mistral, ..." */
void model_family_list(char *text, size_t bytes);

#endif
