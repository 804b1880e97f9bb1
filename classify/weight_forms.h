/* SPDX-License-Identifier: Apache-2.0 */
/* The weights of a model in every form in which an engine may multiply them: as the checkpoint has them, joined along N with
 * those that read the same activation (q, k and v, or k and v; gate and up), by heads (kv_b_proj of absorbed MLA), with the
 * vocabulary padded. Forms of the same weights are alternatives: what one of them reads, the others don't.
 * Shapes are those of one GPU of the tensor-parallel group (classify/predict_shard.h). The embedding is in only as an lm_head
 * that it is tied to: a table is read a row a token. */
#ifndef CLASSIFY_WEIGHT_FORMS_H
#define CLASSIFY_WEIGHT_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/predict.h"

enum weight_form_kind {
    WEIGHT_FORM_PLAIN,  /* a part: as the checkpoint has it */
    WEIGHT_FORM_FUSED,  /* joined along N */
    WEIGHT_FORM_HEADS,  /* one product a head in a batched GEMM */
    WEIGHT_FORM_PADDED, /* N up to whole multiples */
};

struct weight_form {
    char name[MODEL_NAME_BYTES + 16]; /* without the prefix "layers.*." */
    enum weight_form_kind kind;
    int64_t n, k, batch; /* batch: products of one call, each with a matrix of its own; experts: 1 */
    bool experts;        /* any number of them may be in one call */
    uint32_t parts;      /* bit i: it has weights of plain form i in it */
    /* Matrices a pass over the weights: calls, but for experts, of which those count that tokens are routed to: at least
     * top_k of them a layer, at most all. */
    struct predict_range calls;
    double bits; /* of one weight as it is stored, scales included */
};

enum { WEIGHT_FORMS_MOST = 96, WEIGHT_FORMS_VOCABULARY_PAD = 64 };

struct weight_forms {
    struct weight_form forms[WEIGHT_FORMS_MOST]; /* plain ones first, in the order of a layer */
    size_t count, plain_count;                   /* plain_count: at most MODEL_MATRICES_MOST */
};

/* How the model runs; what config.json says where a field is NULL. */
struct weight_forms_options {
    int64_t tensor_parallel; /* GPUs; 1: one */
    const struct weight_format *weights;
};

/* False: what can't be predicted, in ERROR. */
bool weight_forms_of(const struct model_geometry *geometry, const struct weight_forms_options *options,
                     struct weight_forms *forms, struct model_error *error);

/* Bytes that the form reads in a pass. */
struct predict_range weight_form_bytes(const struct weight_form *form);

#endif
