/* SPDX-License-Identifier: Apache-2.0 */
/* One function a part: what attention, a dense FFN, experts and norms consist of. A family's row chooses among them. */
#include "classify/model/geometry.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define MOST_PARAMETERS 1e15

int64_t model_geometry_layers(const struct model_geometry *geometry, enum model_layers where)
{
    switch (where) {
    case MODEL_NO_LAYER:
        return 1;
    case MODEL_ALL_LAYERS:
        return geometry->config->layers;
    case MODEL_DENSE_LAYERS:
        return geometry->dense_layers;
    case MODEL_SPARSE_LAYERS:
        return geometry->sparse_layers;
    }
    return 0;
}

/* "layers.*.self_attn.q_proj": as checkpoints have it, with * for the layer. */
static void set_name(char name[MODEL_NAME_BYTES], enum model_layers where, const char *part)
{
    static const char layer[] = "layers.*.";
    snprintf(name, MODEL_NAME_BYTES, "%s%.*s", where == MODEL_NO_LAYER ? "" : layer,
             MODEL_NAME_BYTES - (int)sizeof layer, part);
}

static struct model_matrix *add(struct model_geometry *geometry, const char *name, enum model_role role,
                                enum model_layers where, int64_t out, int64_t in, bool bias)
{
    assert(geometry->matrix_count < MODEL_MATRICES_MOST);
    struct model_matrix *matrix = &geometry->matrices[geometry->matrix_count];
    *matrix = (struct model_matrix){.role = role,
                                    .where = where,
                                    .copies = model_geometry_layers(geometry, where),
                                    .experts = 1,
                                    .out = out,
                                    .in = in,
                                    .bias = bias};
    set_name(matrix->name, where, name);
    if (matrix->copies > 0)
        geometry->matrix_count++;
    return matrix;
}

static void add_expert(struct model_geometry *geometry, const char *name, enum model_role role, int64_t out, int64_t in,
                       bool stacked)
{
    struct model_matrix *matrix = add(geometry, name, role, MODEL_SPARSE_LAYERS, out, in, stacked);
    matrix->experts = geometry->config->experts;
    matrix->copies *= matrix->experts;
    matrix->stacked = stacked;
}

static void add_vector(struct model_geometry *geometry, const char *name, enum model_layers where, int64_t elements)
{
    assert(geometry->vector_count < MODEL_VECTORS_MOST);
    struct model_vector *vector = &geometry->vectors[geometry->vector_count];
    *vector =
        (struct model_vector){.where = where, .copies = model_geometry_layers(geometry, where), .elements = elements};
    set_name(vector->name, where, name);
    if (vector->copies > 0)
        geometry->vector_count++;
}

static void add_norm(struct model_geometry *geometry, const char *name, enum model_layers where, int64_t elements)
{
    char full[MODEL_NAME_BYTES];
    snprintf(full, sizeof full, "%s.weight", name);
    add_vector(geometry, full, where, elements);
    snprintf(full, sizeof full, "%s.bias", name);
    if (geometry->config->norm_bias)
        add_vector(geometry, full, where, elements);
}

/* ---- attention ---- */

static void build_separate_qkv(struct model_geometry *g)
{
    const struct model_config *c = g->config;
    int64_t q = c->query_heads * c->head_dim, kv = c->kv_heads * c->head_dim;
    add(g, "self_attn.q_proj", MODEL_QKV, MODEL_ALL_LAYERS, q, c->hidden, c->qkv_bias)->query_out = q;
    add(g, "self_attn.k_proj", MODEL_QKV, MODEL_ALL_LAYERS, kv, c->hidden, c->qkv_bias)->kv_out = kv;
    add(g, "self_attn.v_proj", MODEL_QKV, MODEL_ALL_LAYERS, kv, c->hidden, c->qkv_bias)->kv_out = kv;
    /* Phi-1 and 2 call it dense. */
    const char *output = c->family->ffn == FAMILY_PLAIN ? "self_attn.dense" : "self_attn.o_proj";
    add(g, output, MODEL_ATTENTION_OUTPUT, MODEL_ALL_LAYERS, c->hidden, q, c->output_bias);
}

static void build_fused_qkv(struct model_geometry *g)
{
    const struct model_config *c = g->config;
    int64_t q = c->query_heads * c->head_dim, kv = 2 * c->kv_heads * c->head_dim;
    struct model_matrix *matrix =
        add(g, "self_attn.qkv_proj", MODEL_QKV, MODEL_ALL_LAYERS, q + kv, c->hidden, c->qkv_bias);
    matrix->query_out = q;
    matrix->kv_out = kv;
    add(g, "self_attn.o_proj", MODEL_ATTENTION_OUTPUT, MODEL_ALL_LAYERS, c->hidden, q, c->output_bias);
}

static void build_latent(struct model_geometry *g)
{
    const struct model_config *c = g->config;
    int64_t q = c->query_heads * c->head_dim;
    if (c->q_rank) {
        add(g, "self_attn.q_a_proj", MODEL_LATENT_DOWN, MODEL_ALL_LAYERS, c->q_rank, c->hidden, c->qkv_bias);
        add_vector(g, "self_attn.q_a_layernorm.weight", MODEL_ALL_LAYERS, c->q_rank);
    } else {
        add(g, "self_attn.q_proj", MODEL_QKV, MODEL_ALL_LAYERS, q, c->hidden, false)->query_out = q;
    }
    add(g, "self_attn.kv_a_proj_with_mqa", MODEL_LATENT_DOWN, MODEL_ALL_LAYERS, c->kv_rank + c->rope_dim, c->hidden,
        c->qkv_bias);
    if (c->q_rank)
        add(g, "self_attn.q_b_proj", MODEL_LATENT_UP_Q, MODEL_ALL_LAYERS, q, c->q_rank, false);
    add_vector(g, "self_attn.kv_a_layernorm.weight", MODEL_ALL_LAYERS, c->kv_rank);
    add(g, "self_attn.kv_b_proj", MODEL_LATENT_UP_KV, MODEL_ALL_LAYERS, c->query_heads * (c->nope_dim + c->value_dim),
        c->kv_rank, false);
    add(g, "self_attn.o_proj", MODEL_ATTENTION_OUTPUT, MODEL_ALL_LAYERS, c->hidden, c->query_heads * c->value_dim,
        c->output_bias);
}

static void build_attention(struct model_geometry *g)
{
    const struct model_config *c = g->config;
    static void (*const builders[])(struct model_geometry *) = {
        [FAMILY_SEPARATE_QKV] = build_separate_qkv,
        [FAMILY_FUSED_QKV] = build_fused_qkv,
        [FAMILY_MLA] = build_latent,
    };
    builders[c->family->attention](g);
    if (c->qk_norm) {
        add_vector(g, "self_attn.q_norm.weight", MODEL_ALL_LAYERS, c->head_dim);
        add_vector(g, "self_attn.k_norm.weight", MODEL_ALL_LAYERS, c->head_dim);
    }
    if (c->qk_layernorm) {
        add_norm(g, "self_attn.q_layernorm", MODEL_ALL_LAYERS, c->head_dim);
        add_norm(g, "self_attn.k_layernorm", MODEL_ALL_LAYERS, c->head_dim);
    }
    if (c->family->traits & FAMILY_SINKS)
        add_vector(g, "self_attn.sinks", MODEL_ALL_LAYERS, c->query_heads);
}

/* ---- dense FFN ---- */

static void build_ffn(struct model_geometry *g)
{
    const struct model_config *c = g->config;
    switch (c->family->ffn) {
    case FAMILY_GATED:
        add(g, "mlp.gate_proj", MODEL_FFN_UP, MODEL_DENSE_LAYERS, c->ffn, c->hidden, c->ffn_bias);
        add(g, "mlp.up_proj", MODEL_FFN_UP, MODEL_DENSE_LAYERS, c->ffn, c->hidden, c->ffn_bias);
        add(g, "mlp.down_proj", MODEL_FFN_DOWN, MODEL_DENSE_LAYERS, c->hidden, c->ffn, c->ffn_bias);
        return;
    case FAMILY_FUSED_GATED:
        add(g, "mlp.gate_up_proj", MODEL_FFN_UP, MODEL_DENSE_LAYERS, 2 * c->ffn, c->hidden, c->ffn_bias);
        add(g, "mlp.down_proj", MODEL_FFN_DOWN, MODEL_DENSE_LAYERS, c->hidden, c->ffn, c->ffn_bias);
        return;
    case FAMILY_PLAIN:
        add(g, "mlp.fc1", MODEL_FFN_UP, MODEL_DENSE_LAYERS, c->ffn, c->hidden, c->ffn_bias);
        add(g, "mlp.fc2", MODEL_FFN_DOWN, MODEL_DENSE_LAYERS, c->hidden, c->ffn, c->ffn_bias);
        return;
    }
}

/* ---- experts ---- */

static void build_mixtral(struct model_geometry *g)
{
    const struct model_config *c = g->config;
    add(g, "block_sparse_moe.gate", MODEL_ROUTER, MODEL_SPARSE_LAYERS, c->experts, c->hidden, false);
    add_expert(g, "block_sparse_moe.experts.*.w1", MODEL_EXPERT_UP, c->expert_ffn, c->hidden, false);
    add_expert(g, "block_sparse_moe.experts.*.w3", MODEL_EXPERT_UP, c->expert_ffn, c->hidden, false);
    add_expert(g, "block_sparse_moe.experts.*.w2", MODEL_EXPERT_DOWN, c->hidden, c->expert_ffn, false);
}

/* SHARED: what the module of the shared experts is called. */
static void build_gated_moe(struct model_geometry *g, const char *shared)
{
    const struct model_config *c = g->config;
    add(g, "mlp.gate", MODEL_ROUTER, MODEL_SPARSE_LAYERS, c->experts, c->hidden, false);
    if (c->family->traits & FAMILY_CORRECTION_BIAS)
        add_vector(g, "mlp.gate.e_score_correction_bias", MODEL_SPARSE_LAYERS, c->experts);
    add_expert(g, "mlp.experts.*.gate_proj", MODEL_EXPERT_UP, c->expert_ffn, c->hidden, false);
    add_expert(g, "mlp.experts.*.up_proj", MODEL_EXPERT_UP, c->expert_ffn, c->hidden, false);
    add_expert(g, "mlp.experts.*.down_proj", MODEL_EXPERT_DOWN, c->hidden, c->expert_ffn, false);
    if (!c->shared_ffn)
        return;
    char name[MODEL_NAME_BYTES];
    snprintf(name, sizeof name, "mlp.%s.gate_proj", shared);
    add(g, name, MODEL_SHARED_UP, MODEL_SPARSE_LAYERS, c->shared_ffn, c->hidden, false);
    snprintf(name, sizeof name, "mlp.%s.up_proj", shared);
    add(g, name, MODEL_SHARED_UP, MODEL_SPARSE_LAYERS, c->shared_ffn, c->hidden, false);
    snprintf(name, sizeof name, "mlp.%s.down_proj", shared);
    add(g, name, MODEL_SHARED_DOWN, MODEL_SPARSE_LAYERS, c->hidden, c->shared_ffn, false);
    if (c->shared_gate)
        add(g, "mlp.shared_expert_gate", MODEL_SHARED_GATE, MODEL_SPARSE_LAYERS, 1, c->hidden, false);
}

static void build_gpt_oss(struct model_geometry *g)
{
    const struct model_config *c = g->config;
    add(g, "mlp.router", MODEL_ROUTER, MODEL_SPARSE_LAYERS, c->experts, c->hidden, true);
    add_expert(g, "mlp.experts.gate_up_proj", MODEL_EXPERT_UP, 2 * c->expert_ffn, c->hidden, true);
    add_expert(g, "mlp.experts.down_proj", MODEL_EXPERT_DOWN, c->hidden, c->expert_ffn, true);
}

static void build_experts(struct model_geometry *g)
{
    switch (g->config->family->moe) {
    case FAMILY_DENSE:
        return;
    case FAMILY_MIXTRAL:
        build_mixtral(g);
        return;
    case FAMILY_QWEN_MOE:
        build_gated_moe(g, "shared_expert");
        return;
    case FAMILY_DEEPSEEK_MOE:
        build_gated_moe(g, "shared_experts");
        return;
    case FAMILY_GPT_OSS_MOE:
        build_gpt_oss(g);
        return;
    }
}

/* ---- norms, embedding, head ---- */

static void build_norms(struct model_geometry *g)
{
    static const char *const names[][5] = {
        [FAMILY_TWO_NORMS] = {"input_layernorm", "post_attention_layernorm"},
        [FAMILY_FOUR_NORMS] = {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                               "post_feedforward_layernorm"},
        [FAMILY_ONE_NORM] = {"input_layernorm"},
    };
    const struct model_config *c = g->config;
    for (const char *const *name = names[c->family->norms]; *name; name++)
        add_norm(g, *name, MODEL_ALL_LAYERS, c->hidden);
    add_norm(g, c->family->ffn == FAMILY_PLAIN ? "final_layernorm" : "norm", MODEL_NO_LAYER, c->hidden);
}

static bool is_expert(const struct model_matrix *matrix)
{
    return matrix->role == MODEL_EXPERT_UP || matrix->role == MODEL_EXPERT_DOWN;
}

static void count_matrix(struct model_geometry *g, const struct model_matrix *m)
{
    int64_t elements = m->out * m->in, active = elements, layers = model_geometry_layers(g, m->where);
    if (is_expert(m))
        active *= g->config->experts_per_token;
    if (!m->tied)
        g->total += elements * m->copies;
    g->biases += m->bias ? m->out * m->copies : 0;
    g->active += m->tied ? 0 : active * layers;
    if (m->bias)
        g->active += m->out * layers * (is_expert(m) ? g->config->experts_per_token : 1);
    if (m->role == MODEL_EMBEDDING)
        g->embedding = elements;
    else
        g->matmul += elements * m->copies;
    if (m->where == MODEL_ALL_LAYERS || m->where == MODEL_DENSE_LAYERS)
        g->layer_dense += active;
    if (m->where == MODEL_ALL_LAYERS || m->where == MODEL_SPARSE_LAYERS)
        g->layer_sparse += active;
}

static void count(struct model_geometry *g)
{
    for (int i = 0; i < g->matrix_count; i++)
        count_matrix(g, &g->matrices[i]);
    for (int i = 0; i < g->vector_count; i++)
        g->norms += g->vectors[i].elements * g->vectors[i].copies;
    g->total += g->biases + g->norms;
    g->active += g->norms;
    if (!g->dense_layers)
        g->layer_dense = 0;
    if (!g->sparse_layers)
        g->layer_sparse = 0;
}

/* Counts are 64-bit: nothing near that size is a model. */
static bool is_absurd(const struct model_geometry *g)
{
    double sum = 0;
    for (int i = 0; i < g->matrix_count; i++)
        sum += (double)g->matrices[i].out * (double)g->matrices[i].in * (double)g->matrices[i].copies;
    return sum > MOST_PARAMETERS;
}

bool model_geometry_build(const struct model_config *config, struct model_geometry *geometry, struct model_error *error)
{
    *geometry = (struct model_geometry){.config = config};
    for (int64_t i = 0; i < config->layers; i++) {
        geometry->sparse_layers += !!(config->layer[i] & MODEL_LAYER_SPARSE);
        geometry->window_layers += !!(config->layer[i] & MODEL_LAYER_WINDOW);
    }
    geometry->dense_layers = config->layers - geometry->sparse_layers;
    add(geometry, "embed_tokens", MODEL_EMBEDDING, MODEL_NO_LAYER, config->vocab, config->hidden, false);
    build_attention(geometry);
    build_ffn(geometry);
    build_experts(geometry);
    add(geometry, "lm_head", MODEL_HEAD, MODEL_NO_LAYER, config->vocab, config->hidden, config->head_bias)->tied =
        config->tied;
    build_norms(geometry);
    if (is_absurd(geometry)) {
        snprintf(error->text, sizeof error->text,
                 "describes a model of more than %.0e parameters; check hidden_size, num_hidden_layers and the experts",
                 MOST_PARAMETERS);
        return false;
    }
    count(geometry);
    return true;
}

double model_geometry_layer_parameters(const struct model_geometry *geometry)
{
    return ((double)geometry->layer_dense * (double)geometry->dense_layers +
            (double)geometry->layer_sparse * (double)geometry->sparse_layers) /
           (double)geometry->config->layers;
}
