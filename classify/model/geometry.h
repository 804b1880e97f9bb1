/* SPDX-License-Identifier: Apache-2.0 */
/* The matrices and vectors that a model is made of, by the names its checkpoint uses, and their parameter counts. `*` in a
 * name stands for the number of a layer, a second one for that of an expert. */
#ifndef CLASSIFY_MODEL_GEOMETRY_H
#define CLASSIFY_MODEL_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/model/config.h"

enum model_role {
    MODEL_EMBEDDING, /* read a row a token, not multiplied */
    MODEL_QKV,
    MODEL_LATENT_DOWN,  /* MLA: q_a_proj, kv_a_proj_with_mqa */
    MODEL_LATENT_UP_Q,  /* q_b_proj */
    MODEL_LATENT_UP_KV, /* kv_b_proj: folded into q and the output in absorbed decode */
    MODEL_ATTENTION_OUTPUT,
    MODEL_ROUTER,
    MODEL_FFN_UP, /* gate and up */
    MODEL_FFN_DOWN,
    MODEL_EXPERT_UP,
    MODEL_EXPERT_DOWN,
    MODEL_SHARED_UP, /* shared experts: every token */
    MODEL_SHARED_DOWN,
    MODEL_SHARED_GATE,
    MODEL_HEAD,
};

enum model_layers { MODEL_NO_LAYER, MODEL_ALL_LAYERS, MODEL_DENSE_LAYERS, MODEL_SPARSE_LAYERS };

enum { MODEL_NAME_BYTES = 64, MODEL_MATRICES_MOST = 24, MODEL_VECTORS_MOST = 24 };

struct model_matrix {
    char name[MODEL_NAME_BYTES]; /* "layers.*.self_attn.q_proj" */
    enum model_role role;
    enum model_layers where;
    int64_t copies;            /* in the whole model: layers that have it; times experts where it is an expert's */
    int64_t experts;           /* of one layer; 1 for what is no expert */
    int64_t out, in;           /* N, K */
    int64_t query_out, kv_out; /* fused q, k, v: how much of OUT belongs to q, and to k and v together; else 0 */
    bool bias;
    bool stacked; /* one tensor for all experts, in x out each (gpt-oss) */
    bool tied;    /* lm_head that is the embedding: no parameters of its own */
};

struct model_vector {
    char name[MODEL_NAME_BYTES]; /* the tensor's: "layers.*.input_layernorm.weight" */
    enum model_layers where;
    int64_t copies, elements;
};

struct model_geometry {
    const struct model_config *config;
    int64_t dense_layers, sparse_layers, window_layers;
    struct model_matrix matrices[MODEL_MATRICES_MOST];
    int matrix_count;
    struct model_vector vectors[MODEL_VECTORS_MOST];
    int vector_count;
    /* Parameters. */
    int64_t total;                     /* all: matrices, biases, norms, embeddings */
    int64_t matmul, biases, norms;     /* norms: also sinks and the router's correction */
    int64_t embedding;                 /* the table; also lm_head where tied */
    int64_t active;                    /* of one token: all but the experts it is not routed to */
    int64_t layer_dense, layer_sparse; /* P_layer: active matmul parameters of one such layer; 0: none such */
};

/* CONFIG must outlive it. False: an absurd size, of which ERROR tells. */
bool model_geometry_build(const struct model_config *config, struct model_geometry *geometry,
                          struct model_error *error);
/* Mean active matmul parameters of a layer: the P_layer of L*. */
double model_geometry_layer_parameters(const struct model_geometry *geometry);
/* How many layers WHERE stands for; 1 for MODEL_NO_LAYER. */
int64_t model_geometry_layers(const struct model_geometry *geometry, enum model_layers where);

#endif
