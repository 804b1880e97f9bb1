/* SPDX-License-Identifier: Apache-2.0 */
/* A model's geometry out of its config.json, as Hugging Face's configuration classes write it. A stranger's file: nothing
 * in it is trusted, and a field that is missing, of the wrong kind or out of range is named. */
#ifndef CLASSIFY_MODEL_CONFIG_H
#define CLASSIFY_MODEL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/gemm_work.h"
#include "classify/model/families.h"
#include "classify/model/formats.h"

struct model_error {
    char text[512]; /* one line: what, and what was expected; without the file's name */
};

enum model_layer_kind {
    MODEL_LAYER_WINDOW = 1 << 0, /* attends to `window` keys only */
    MODEL_LAYER_SPARSE = 1 << 1, /* routed experts instead of a dense FFN */
};

/* How the weights of the linear layers lie in memory. */
struct model_storage {
    char name[96]; /* for people: "bf16", "awq 4-bit, groups of 128" */
    double bits;
    struct gemm_scales scales;
};

/* Modules that quantization_config leaves as they are: "self_attn", or "layers.*.mlp.up_proj" of so many layers. */
struct model_exclusion {
    char pattern[96];
    bool numbered;    /* the file names single layers */
    int64_t mentions; /* how often, with different numbers */
};

enum { MODEL_EXCLUDED_MOST = 64, MODEL_DEFAULTED_BYTES = 512, MODEL_NOTE_BYTES = 256 };

struct model_config {
    const struct model_family *family;
    int64_t hidden, ffn, layers, vocab;
    int64_t query_heads, kv_heads;
    int64_t head_dim, value_dim; /* of Q and K, and of V; MLA: nope + rope */
    int64_t q_rank, kv_rank;     /* MLA; q_rank 0: one q_proj. kv_rank 0: no MLA */
    int64_t nope_dim, rope_dim;
    int64_t positions; /* max_position_embeddings, without what rope_scaling adds; 0: not in the file */
    int64_t window;    /* keys that a row of a MODEL_LAYER_WINDOW layer sees, its own included; 0: none */
    int64_t experts, experts_per_token, expert_ffn; /* 0: no routed experts */
    int64_t shared_ffn;                             /* of all shared experts together; 0: none */
    bool shared_gate;                               /* Qwen2-MoE's shared_expert_gate */
    bool tied;
    bool qkv_bias, output_bias, ffn_bias, norm_bias, head_bias, qk_norm, qk_layernorm;
    uint8_t *layer; /* `layers` of them: enum model_layer_kind; owned */

    const struct model_format *format; /* of activations, norms and of what is not quantised: torch_dtype */
    bool format_assumed;               /* the file has no torch_dtype; bf16 is what published models have */
    bool quantised;
    struct model_storage storage;        /* of the quantised weights; else the format's */
    bool experts_only;                   /* only routed experts are quantised (mxfp4) */
    const struct model_format *operands; /* what the quantised GEMMs multiply in, where the file says so; NULL */
    struct gemm_scales
        operand_scales; /* of their activations, made while it runs; bits 0: one a tensor or row, not counted */
    struct model_exclusion excluded[MODEL_EXCLUDED_MOST];
    int excluded_count;
    int64_t excluded_unclear;                    /* entries that are regular expressions, or too many: not applied */
    char quantisation_problem[MODEL_NOTE_BYTES]; /* not understood: why; empty: none */

    char model_type[64];                   /* of the language model */
    char defaulted[MODEL_DEFAULTED_BYTES]; /* "num_key_value_heads = 32, ...": not in the file; empty: none */
    char note[MODEL_NOTE_BYTES];           /* what is left out, such as a vision tower; empty: none */
};

enum { MODEL_CONFIG_LARGEST_BYTES = 4 << 20 };

/* TEXT need not end with a zero byte. On failure nothing is owned and ERROR tells why. */
bool model_config_parse(const char *text, size_t bytes, struct model_config *config, struct model_error *error);
/* PATH: the file, or a folder with a config.json. USED gets the path read, of USED_BYTES. */
bool model_config_read(const char *path, struct model_config *config, char *used, size_t used_bytes,
                       struct model_error *error);
void model_config_free(struct model_config *config);

#endif
