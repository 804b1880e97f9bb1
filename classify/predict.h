/* SPDX-License-Identifier: Apache-2.0 */
/* What a model asks of a GPU before anything runs: its operators in one prefill and one decode step, from config.json and the
 * GPU table alone. A bound at the roof, not a forecast: GEMMs and attention only, everything else takes no time, nothing
 * overlaps badly and nothing is communicated.
 *
 * Units: sizes in elements and tokens, bytes, FLOPs, seconds; everything is of one GPU of the tensor-parallel group but where
 * a field says otherwise. Prefill: all prompts, from nothing, in one pass or in passes of `chunk` tokens of one prompt; the
 * output projection runs for the last token of each prompt. Decode: one token for each sequence, CONTEXT keys visible,
 * its own included. Work models: classify/gemm_work.h, classify/attention_work.h.
 *
 * Figures that depend on how tokens are routed to experts are ranges: at least the weights of top_k experts, at most those of
 * min(experts, tokens x top_k); activations gathered in place, or copied for each expert. */
#ifndef CLASSIFY_PREDICT_H
#define CLASSIFY_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/gemm_work.h"
#include "classify/gpu_specs.h"
#include "classify/model/config.h"
#include "classify/model/formats.h"
#include "classify/model/geometry.h"
#include "classify/roofline.h"
#include "classify/weight_format.h"

struct predict_range {
    double low, high; /* equal where the figure is exact; NAN: not known */
};

static inline void predict_range_add(struct predict_range *sum, struct predict_range part, double times)
{
    sum->low += times * part.low;
    sum->high += times * part.high;
}

enum predict_phase { PREDICT_PREFILL, PREDICT_DECODE, PREDICT_PHASES };

enum predict_kind {
    PREDICT_GEMM,
    PREDICT_BATCHED_GEMM, /* one product a head: absorbed MLA */
    PREDICT_EXPERTS,      /* a grouped GEMM: M rows in all, spread over the experts that are touched */
    PREDICT_ATTENTION,
};

enum predict_roof { PREDICT_SPECIFICATION, PREDICT_ACHIEVABLE, PREDICT_ROOFS };

/* One row: all calls of one shape in one step. FLOPs, bytes and seconds are those of all its calls. */
struct predict_operator {
    /* "layers.*.self_attn.q_proj", as the checkpoint names the weight; fused ones "layers.*.self_attn.q_proj+k_proj+v_proj" */
    char name[MODEL_NAME_BYTES + 16];
    enum predict_kind kind;
    enum gpu_path path;
    int64_t calls;
    /* GEMMs, a call: M activation rows (tokens; experts: tokens x top_k), N, K; batch products of that shape. M runs from
     * m_min to m where the calls differ (MLA's keys and values of earlier chunks). */
    int64_t m, m_min, n, k, batch;
    double left_bits, weight_bits, output_bits; /* of an element; weight_bits: scales included */
    struct predict_range experts;               /* touched in a call; 0 for other kinds */
    struct gemm_ridge at_ridge;                 /* rows at which it turns compute-bound; experts: rows of one expert */
    /* Attention, a call: KEYS is the longest, with chunks they grow up to it. WINDOW 0: none. */
    int64_t query_heads, kv_heads, head_dim, value_dim, queries, keys, sequences, window;
    bool value_in_key; /* absorbed MLA */
    double kv_bits;
    double kv_bytes; /* K and V read; 0 for GEMMs */

    double flops;
    struct predict_range bytes, weight_bytes; /* compulsory; of which weights with their scales */
    struct predict_range intensity;           /* FLOP/byte; this one classifies */
    double intensity_kv;                      /* attention: FLOPs by kv_bytes, the textbook form; else NAN */
    double ridge;                             /* FLOP/byte of its path, specification; NAN: the GPU has no such path */
    enum bound bound;                         /* UNKNOWN also where it depends on the routing */
    enum bound bound_kv;                      /* attention: what intensity_kv would say */
    struct predict_range seconds[PREDICT_ROOFS]; /* at the roof, call by call; NAN: that roof is not known */
    double share;                                /* of the step's seconds at the specification (at most) */
};

struct predict_step {
    enum predict_phase phase;
    struct predict_operator *operators; /* owned */
    size_t count;
    int64_t tokens; /* computed in the step, all sequences */
    int64_t passes; /* over the weights */
    double flops;
    struct predict_range bytes;
    struct predict_range intensity;     /* FLOPs by bytes: the byte-weighted mean of the operators' */
    double memory_share, compute_share; /* of the seconds (at most) in rows of that class; the rest is not known */
    struct predict_range weight_bytes;  /* of the GEMMs: what a report's weights of one step add up to */
    double vector_bytes;                /* norms and biases read beside them */
    double kv_bytes;                    /* K and V read by attention */
    struct predict_range seconds[PREDICT_ROOFS];
    struct predict_range tokens_per_second[PREDICT_ROOFS]; /* of the whole group of GPUs */
    double all_reduces, all_reduce_bytes; /* how many, and the bytes of one message each summed; not in any roof */
};

struct predict_options {
    const struct gpu_spec *gpu;
    int64_t batch, prompt, context;      /* sequences, tokens each */
    int64_t chunk;                       /* tokens of a prefill pass; 0: all prompts in one pass */
    int64_t tensor_parallel;             /* GPUs; 1: one */
    const struct weight_format *weights; /* of all linear layers but lm_head and router; NULL: as config.json says */
    const struct model_format *kv;       /* of the KV cache; NULL: as the activations */
    const struct model_format *operands; /* what the linear layers multiply in; NULL: as config.json says */
    bool
        fused; /* products of the same activation that follow one another (q, k and v; gate and up) are one, as in engines */
};

/* Tokens of all prompts stay far below what 64-bit products of sizes can hold. */
#define PREDICT_TOKENS_MOST INT64_C(1000000000000)

enum { PREDICT_OPTION_MOST = 1 << 30, PREDICT_CHUNKS_MOST = 1 << 16, PREDICT_LENGTHS = 9 };

struct predict_share {
    int64_t length;
    double share; /* attention's, of the FLOPs of a layer's GEMMs and attention in causal prefill */
};

struct predict {
    const struct model_geometry *geometry;
    struct predict_options options;
    struct device_roofs roofs;
    enum gpu_path attention_path;
    const struct model_format *format;        /* of activations, norms and what is not quantised */
    const struct model_format *kv, *operands; /* of the cache; what the linear layers multiply in */
    struct gemm_scales operand_scales;        /* of activations in those; bits 0: none that count */
    struct model_storage storage;             /* of the quantised weights, chosen */
    char storage_note[MODEL_NOTE_BYTES];      /* what of quantization_config is not followed; empty: nothing */
    struct predict_step steps[PREDICT_PHASES];

    double layer_parameters;   /* P_layer: active matmul parameters, mean over layers */
    double crossover;          /* L* of full causal attention */
    double crossover_windowed; /* the same with the model's windows; INFINITY: never */
    struct predict_share shares[PREDICT_LENGTHS];
    double ridge_length_kv, ridge_length; /* L_ridge: KV-only and compulsory; NAN: no ridge */
    double group;                         /* g in prefill */
    struct predict_range
        layer_rows_at_ridge; /* tokens in a pass at which all layers' GEMMs together turn compute-bound */

    double kv_bytes_per_token;    /* all layers, while no window is full */
    double kv_bytes_per_sequence; /* of max(prompt, context) tokens, windows kept short */
    double kv_bytes;              /* of the batch */
    double resident_weight_bytes; /* all parameters, experts and embedding included */
    /* Of the GPU: what the data sheet names, in GB of 10^9 bytes, and of 2^30, which the chips hold. Drivers report something
     * between. */
    double memory_bytes, memory_bytes_most;
    /* Beside the weights in either, activations not counted; below 0: the weights do not. */
    double sequences_that_fit, sequences_that_fit_most;
};

/* GEOMETRY must outlive the result. False: what can't be predicted, in ERROR; nothing is owned then. */
bool predict_model(const struct model_geometry *geometry, const struct predict_options *options,
                   struct predict *predict, struct model_error *error);
void predict_free(struct predict *predict);

const char *predict_kind_name(enum predict_kind kind); /* "gemm", "batched_gemm", "experts", "attention" */

#endif
