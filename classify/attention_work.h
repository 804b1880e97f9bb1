/* SPDX-License-Identifier: Apache-2.0 */
/* What attention costs: visible (query, key) pairs, FLOPs, KV bytes and compulsory bytes, exact for every mask, and the
 * closed forms of the text-books under names of their own.
 *
 * Units: sizes in tokens, heads and elements; bytes may be fractions (bits / 8).
 * FLOPs: 2 (d + d_v) for each visible pair and query head; softmax, scaling and masks are not counted.
 * Assumptions: every distinct bit crosses the memory bus once. KV bytes are those of keys that some row sees; a query row
 * that sees no key is not read, though its output is written. Scores stay on chip but for attention_naive().
 * Sources: FlashAttention (Dao et al., arXiv 2205.14135 and 2307.08691; its README for the bottom-right alignment and
 * windows: row i sees keys i + L_k - L_q - left ... i + L_k - L_q + right), PyTorch scaled_dot_product_attention (is_causal
 * is aligned to the top left), DeepSeek-V2 (arXiv 2405.04434, absorbed MLA). */
#ifndef CLASSIFY_ATTENTION_WORK_H
#define CLASSIFY_ATTENTION_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/gemm_work.h"

enum attention_mask {
    ATTENTION_NO_MASK,
    ATTENTION_CAUSAL_TOP_LEFT,     /* row i sees keys 0 ... i */
    ATTENTION_CAUSAL_BOTTOM_RIGHT, /* row i sees keys 0 ... i + L_k - L_q */
};

enum { ATTENTION_NO_WINDOW = -1 };

struct attention_sequence {
    int64_t queries, keys; /* L_q, L_k; negative: not known */
};

/* Scales of a quantised KV cache, one for TOKENS tokens times ELEMENTS elements of one head, for K and for V each.
 * elements 0: the whole head; tokens 0: one for the whole tensor, all heads and sequences. */
struct attention_kv_scales {
    double bits; /* 0: there are none */
    int64_t tokens, elements;
};

struct attention_model {
    int64_t n_q, n_kv;                     /* heads; n_kv divides n_q */
    int64_t d, d_v;                        /* head dim of Q and K, of V and the output */
    double q_bits, k_bits, v_bits, o_bits; /* an element; NAN: not known */
    bool v_in_k;                           /* V is part of what is read as K (absorbed MLA): n_kv 1, d 576, d_v 512 */
    enum attention_mask mask;
    /* Keys that a row sees before and after its diagonal, FlashAttention's window_left and window_right: a window of w keys
     * is left w - 1, right 0. ATTENTION_NO_WINDOW: all of them. The diagonal is bottom-right aligned but under
     * ATTENTION_CAUSAL_TOP_LEFT; a causal mask allows no key after it. */
    int64_t window_left, window_right;
    /* Either a list, or SEQUENCE_COUNT equal ones of EACH where the list is NULL. */
    const struct attention_sequence *sequences;
    struct attention_sequence each;
    size_t sequence_count;
    struct attention_kv_scales kv_scales;
    double lse_bits;     /* of one log-sum-exp a row and head, written; 0: not written */
    int64_t splits;      /* KV splits whose partial results cross memory; below 2: none */
    double partial_bits; /* an element of a partial output, and of its log-sum-exp */
    int64_t page_tokens; /* tokens of one block of a paged cache; 0: not paged */
    double page_entry_bits;
};

/* NAN where not known. */
struct attention_work {
    double pairs; /* visible (query, key), of one head, over all sequences */
    double keys;  /* that some row sees, over all sequences */
    double flops;
    double kv_bytes;                                               /* K and V with their scales */
    double q_bytes, o_bytes, lse_bytes, page_bytes, partial_bytes; /* partial: written and read again */
    double bytes;                                                  /* compulsory: all of the above */
    double intensity_kv;                                           /* flops / kv_bytes; NAN where there are none */
    double intensity;                                              /* flops / bytes: this one classifies */
};

/* Unmasked, no window, everything in BITS an element, one sequence, nothing beside. */
struct attention_model attention_plain(int64_t n_q, int64_t n_kv, int64_t d, int64_t queries, int64_t keys,
                                       double bits);

void attention_work(const struct attention_model *model, struct attention_work *work);

/* Scores materialised: two batched products around a softmax, which compute the whole L_q x L_k whatever the mask. */
struct attention_naive {
    double flops, bytes;         /* of what runs */
    double score_bytes;          /* of which scores and probabilities: written, read, written, read */
    double intensity, cap;       /* cap: for L without end; d/b where d = d_v and one size */
    struct attention_work fused; /* what one kernel would compute and move, with the model's mask */
};

/* SCORE_BITS: of the first product's output; PROBABILITY_BITS: of the second's input. */
void attention_naive(const struct attention_model *model, double score_bits, double probability_bits,
                     struct attention_naive *naive);

/* The attention that SCORES (L_q x L_k from d) and VALUES (L_q x d_v from L_k) amount to, a query head for each product of
 * the batch; mask ATTENTION_NO_MASK, which no product tells. False where the two don't fit each other. */
bool attention_of_gemms(const struct gemm_model *scores, const struct gemm_model *values,
                        struct attention_model *model);

/* ---- closed forms, for tables; b in bytes an element, g = n_q / n_kv, R in FLOP/byte; d = d_v ---- */

/* Length at which a prefill's intensity is RIDGE, which it grows in proportion to. By KV bytes, L^2/2 pairs: b R / g; unmasked
 * half of it. */
double attention_ridge_length_kv(double g, double kv_bytes, double ridge, bool causal);
/* Compulsory, causal, L^2/2 pairs: R (2 b_kv + g (b_q + b_o)) / 2 g, with one size b R (g + 1) / g. */
double attention_ridge_length(double g, double kv_bytes, double q_bytes, double o_bytes, double ridge);
/* bound of naive attention, (d + d_v) / (b_score + b_probability), with one size d/b */
double attention_naive_cap(double d, double d_v, double score_bytes, double probability_bytes);

/* Length at which a causal prefill's attention costs as many FLOPs as the layer's products: 2 P / (n_q (d + d_v)), P the
 * active parameters of the layer's products; and attention's share of both at LENGTH, L / (L + L*). */
double attention_crossover_length(double layer_parameters, double n_q, double d, double d_v);
double attention_share(double length, double crossover_length);

#endif
