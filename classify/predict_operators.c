/* SPDX-License-Identifier: Apache-2.0 */
/* Each row is made of calls; times are added call by call, since the larger of two sums is not the sum of the larger. */
#include "classify/predict_operators.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/attention_work.h"
#include "classify/predict_weight.h"

struct builder {
    const struct predict *predict;
    const struct predict_shard *shard;
    struct predict_step *step;
    size_t capacity;
};

/* What one call asks for. */
struct call {
    double flops;
    struct predict_range bytes, weight_bytes;
    double kv_bytes;
};

/* ---- rows ---- */

static struct predict_operator *append(struct builder *builder, const char *name, enum predict_kind kind,
                                       enum gpu_path path)
{
    struct predict_step *step = builder->step;
    step->operators = allocate_grow(step->operators, step->count, &builder->capacity, sizeof *step->operators);
    struct predict_operator *row = &step->operators[step->count++];
    *row = (struct predict_operator){
        .kind = kind, .path = path, .intensity_kv = NAN, .at_ridge = {NAN, NAN, GEMM_DIMENSION_NONE}};
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

static double seconds(double flops, double flops_per_second, double bytes, double bytes_per_second)
{
    double compute = flops / flops_per_second, memory = bytes / bytes_per_second;
    return isnan(compute) || isnan(memory) ? NAN : fmax(compute, memory);
}

static void add_calls(struct builder *builder, struct predict_operator *row, const struct call *call, int64_t calls)
{
    double times = (double)calls;
    row->calls += calls;
    row->flops += times * call->flops;
    row->bytes.low += times * call->bytes.low;
    row->bytes.high += times * call->bytes.high;
    row->weight_bytes.low += times * call->weight_bytes.low;
    row->weight_bytes.high += times * call->weight_bytes.high;
    row->kv_bytes += times * call->kv_bytes;
    for (int roof = 0; roof < PREDICT_ROOFS; roof++) {
        double peak = predict_roof_flops(builder->predict, roof, row->path),
               speed = predict_roof_bytes(builder->predict, roof);
        row->seconds[roof].low += times * seconds(call->flops, peak, call->bytes.low, speed);
        row->seconds[roof].high += times * seconds(call->flops, peak, call->bytes.high, speed);
    }
}

static enum bound bound_of(double low, double high, double ridge)
{
    if (low >= ridge)
        return BOUND_COMPUTE;
    return high < ridge ? BOUND_MEMORY : BOUND_UNKNOWN;
}

static void finish_row(const struct predict *predict, struct predict_operator *row)
{
    row->ridge = predict_roof_flops(predict, PREDICT_SPECIFICATION, row->path) /
                 predict_roof_bytes(predict, PREDICT_SPECIFICATION);
    row->intensity = (struct predict_range){row->flops / row->bytes.high, row->flops / row->bytes.low};
    row->bound = bound_of(row->intensity.low, row->intensity.high, row->ridge);
    if (row->kind == PREDICT_ATTENTION) {
        row->intensity_kv = row->flops / row->kv_bytes;
        row->bound_kv = bound_of(row->intensity_kv, row->intensity_kv, row->ridge);
    }
}

/* ---- GEMMs ---- */

static enum gpu_path path_of(const struct builder *builder, const struct model_matrix *matrix)
{
    return predict_weight_of(builder->predict, matrix).operands->path;
}

static void describe_gemm(const struct predict *predict, const struct gemm_model *model, struct predict_operator *row)
{
    struct gemm_work one;
    struct gemm_model single = gemm_with_rows(model, 1);
    gemm_work(&single, &one);
    row->m = row->m_min = model->m;
    row->n = model->n;
    row->k = model->k;
    row->batch = model->batch;
    row->left_bits = model->operand[GEMM_LEFT].bits;
    row->output_bits = model->operand[GEMM_D].bits;
    row->weight_bits =
        one.operand_bytes[GEMM_RIGHT] * 8 / ((double)model->n * (double)model->k * model->operand[GEMM_RIGHT].matrices);
    double ridge = predict_roof_flops(predict, PREDICT_SPECIFICATION, row->path) /
                   predict_roof_bytes(predict, PREDICT_SPECIFICATION);
    row->at_ridge = gemm_work_ridge(model, ridge);
}

static struct call call_of(const struct gemm_model *model)
{
    struct gemm_work work;
    gemm_work(model, &work);
    double weight = work.operand_bytes[GEMM_RIGHT];
    return (struct call){work.flops, {work.bytes, work.bytes}, {weight, weight}, 0};
}

static void add_gemm(struct builder *builder, const struct model_matrix *matrix, int64_t rows, int64_t calls)
{
    struct gemm_model model = predict_gemm_model(builder->predict, builder->shard, matrix, rows);
    struct predict_operator *row = append(builder, matrix->name, PREDICT_GEMM, path_of(builder, matrix));
    describe_gemm(builder->predict, &model, row);
    struct call call = call_of(&model);
    add_calls(builder, row, &call, calls);
}

/* TOKENS x top_k rows. Gate and up read a token's row once where the kernel gathers, once an expert where it was copied;
 * down writes one row a token where the kernel adds up, one an expert where it doesn't. */
static void add_experts(struct builder *builder, const struct model_matrix *matrix, int64_t tokens, int64_t calls)
{
    const struct model_config *config = builder->predict->geometry->config;
    int64_t rows = tokens * config->experts_per_token;
    struct gemm_model one = predict_gemm_model(builder->predict, builder->shard, matrix, 1);
    struct predict_operator *row = append(builder, matrix->name, PREDICT_EXPERTS, path_of(builder, matrix));
    describe_gemm(builder->predict, &one, row);
    struct gemm_work work;
    gemm_work(&one, &work);
    row->m = row->m_min = rows;
    row->experts =
        (struct predict_range){(double)config->experts_per_token, fmin((double)config->experts, (double)rows)};
    bool down = matrix->role == MODEL_EXPERT_DOWN;
    double left = work.operand_bytes[GEMM_LEFT], output = work.operand_bytes[GEMM_D];
    double weight = work.operand_bytes[GEMM_RIGHT], fixed = weight + work.bias_bytes;
    struct predict_range touched = row->experts;
    double few = (double)tokens, all = (double)rows;
    struct call call = {
        .flops = work.flops * all,
        .bytes = {touched.low * fixed + (down ? all : few) * left + (down ? few : all) * output,
                  touched.high * fixed + all * (left + output)},
        .weight_bytes = {touched.low * weight, touched.high * weight},
    };
    add_calls(builder, row, &call, calls);
}

/* kv_b_proj taken apart by heads: q is multiplied into the latent space, the output back out of it. Engines keep copies in the
 * activations' type of a quantised one, and multiply in that: vLLM (model_executor/layers/attention/mla_attention.py,
 * process_weights_after_loading: "do not have quantized bmm's"), and SGLang for the fp8 of 128 x 128 blocks that DeepSeek's
 * files have (models/deepseek_common, block_quant_dequant(), unless SGL_USE_DEEPGEMM_BMM). */
static void add_absorbed(struct builder *builder, const struct model_matrix *matrix, int64_t rows, int64_t calls)
{
    const struct model_config *config = builder->predict->geometry->config;
    static const char *const parts[] = {"k", "v"};
    for (int part = 0; part < 2; part++) {
        struct gemm_model model = predict_gemm_model(builder->predict, builder->shard, matrix, rows);
        model.n = part ? config->value_dim : config->kv_rank;
        model.k = part ? config->kv_rank : config->nope_dim;
        model.batch = builder->shard->query_heads;
        for (int i = 0; i < GEMM_OPERANDS; i++)
            model.operand[i].matrices = (double)model.batch;
        model.operand[GEMM_LEFT].bits = model.operand[GEMM_RIGHT].bits = builder->predict->format->bits;
        model.operand[GEMM_LEFT].scales = model.operand[GEMM_RIGHT].scales = (struct gemm_scales){0};
        char name[sizeof(((struct predict_operator *)0)->name)];
        snprintf(name, sizeof name, "%s (%s)", matrix->name, parts[part]);
        struct predict_operator *row = append(builder, name, PREDICT_BATCHED_GEMM, builder->predict->format->path);
        describe_gemm(builder->predict, &model, row);
        struct call call = call_of(&model);
        add_calls(builder, row, &call, calls);
    }
}

/* ---- attention ---- */

static struct attention_model attention_of(const struct builder *builder, bool absorbed, bool windowed)
{
    const struct model_config *config = builder->predict->geometry->config;
    double kv_bits = builder->predict->kv->bits, bits = builder->predict->format->bits;
    struct attention_model model = {
        .n_q = builder->shard->query_heads,
        .n_kv = absorbed ? 1 : builder->shard->kv_heads,
        .d = absorbed ? config->kv_rank + config->rope_dim : config->head_dim,
        .d_v = absorbed ? config->kv_rank : config->value_dim,
        .q_bits = bits,
        .k_bits = kv_bits,
        .v_bits = kv_bits,
        .o_bits = bits,
        .v_in_k = absorbed,
        .mask = ATTENTION_CAUSAL_BOTTOM_RIGHT,
        .window_left = windowed ? config->window - 1 : ATTENTION_NO_WINDOW,
        .window_right = ATTENTION_NO_WINDOW,
    };
    /* Unfolded from the latent just before: these K and V are activations, not the cache. */
    if (config->kv_rank && !absorbed)
        model.k_bits = model.v_bits = bits;
    return model;
}

static void add_attention_call(struct builder *builder, struct predict_operator *row, struct attention_model *model,
                               struct attention_sequence each, int64_t sequences, int64_t calls)
{
    model->each = each;
    model->sequence_count = (size_t)sequences;
    struct attention_work work;
    attention_work(model, &work);
    struct call call = {work.flops, {work.bytes, work.bytes}, {0, 0}, work.kv_bytes};
    add_calls(builder, row, &call, calls);
    row->queries = each.queries > row->queries ? each.queries : row->queries;
    row->keys = each.keys;
    row->sequences = sequences;
}

static struct predict_operator *append_attention(struct builder *builder, const struct attention_model *model,
                                                 bool windowed)
{
    struct predict_operator *row = append(builder, windowed ? "layers.*.self_attn (window)" : "layers.*.self_attn",
                                          PREDICT_ATTENTION, builder->predict->attention_path);
    row->query_heads = model->n_q;
    row->kv_heads = model->n_kv;
    row->head_dim = model->d;
    row->value_dim = model->d_v;
    row->value_in_key = model->v_in_k;
    row->kv_bits = model->k_bits;
    row->window = windowed ? builder->predict->geometry->config->window : 0;
    return row;
}

static void add_attention(struct builder *builder, enum predict_phase phase, bool windowed)
{
    const struct predict_options *options = &builder->predict->options;
    const struct model_geometry *geometry = builder->predict->geometry;
    int64_t layers = windowed ? geometry->window_layers : geometry->config->layers - geometry->window_layers;
    if (layers == 0)
        return;
    bool decode = phase == PREDICT_DECODE;
    struct attention_model model = attention_of(builder, decode && geometry->config->kv_rank, windowed);
    struct predict_operator *row = append_attention(builder, &model, windowed);
    if (decode) {
        struct attention_sequence each = {1, options->context};
        add_attention_call(builder, row, &model, each, options->batch, layers);
    } else if (!options->chunk) {
        struct attention_sequence each = {options->prompt, options->prompt};
        add_attention_call(builder, row, &model, each, options->batch, layers);
    } else {
        for (int64_t done = 0; done < options->prompt; done += options->chunk) {
            int64_t left = options->prompt - done, rows = left < options->chunk ? left : options->chunk;
            struct attention_sequence each = {rows, done + rows};
            add_attention_call(builder, row, &model, each, 1, layers * options->batch);
        }
    }
}

/* ---- a step ---- */

/* Passes over the weights with the same number of tokens. */
struct pass {
    int64_t tokens, times;
};

static int passes_of(const struct predict_options *options, enum predict_phase phase, struct pass passes[2])
{
    if (phase == PREDICT_DECODE) {
        passes[0] = (struct pass){options->batch, 1};
        return 1;
    }
    if (!options->chunk) {
        passes[0] = (struct pass){options->batch * options->prompt, 1};
        return 1;
    }
    int count = 0;
    if (options->prompt >= options->chunk)
        passes[count++] = (struct pass){options->chunk, options->batch * (options->prompt / options->chunk)};
    if (options->prompt % options->chunk)
        passes[count++] = (struct pass){options->prompt % options->chunk, options->batch};
    return count;
}

/* Keys and values of all tokens so far are unfolded anew in each pass, since the cache holds the latent only. */
static void add_unfolding(struct builder *builder, const struct model_matrix *matrix, int64_t layers)
{
    const struct predict_options *options = &builder->predict->options;
    struct predict_operator *row = NULL;
    for (int64_t done = 0; done < options->prompt; done += options->chunk) {
        int64_t keys = done + options->chunk < options->prompt ? done + options->chunk : options->prompt;
        struct gemm_model model = predict_gemm_model(builder->predict, builder->shard, matrix, keys);
        if (!row) {
            row = append(builder, matrix->name, PREDICT_GEMM, path_of(builder, matrix));
            describe_gemm(builder->predict, &model, row);
        }
        struct call call = call_of(&model);
        add_calls(builder, row, &call, layers * options->batch);
        row->m = keys;
    }
}

static void add_matrix(struct builder *builder, enum predict_phase phase, const struct model_matrix *matrix)
{
    const struct predict_options *options = &builder->predict->options;
    int64_t layers = model_geometry_layers(builder->predict->geometry, matrix->where);
    if (matrix->role == MODEL_EMBEDDING)
        return;
    if (matrix->role == MODEL_HEAD) { /* of the last token of each prompt only */
        if (phase == PREDICT_PREFILL && options->chunk)
            add_gemm(builder, matrix, 1, options->batch);
        else
            add_gemm(builder, matrix, options->batch, 1);
        return;
    }
    if (matrix->role == MODEL_LATENT_UP_KV && phase == PREDICT_DECODE) {
        add_absorbed(builder, matrix, options->batch, layers);
        return;
    }
    if (matrix->role == MODEL_LATENT_UP_KV && options->chunk) {
        add_unfolding(builder, matrix, layers);
        return;
    }
    struct pass passes[2];
    int count = passes_of(options, phase, passes);
    for (int i = 0; i < count; i++) {
        if (predict_is_expert(matrix))
            add_experts(builder, matrix, passes[i].tokens, layers * passes[i].times);
        else
            add_gemm(builder, matrix, passes[i].tokens, layers * passes[i].times);
    }
}

/* Whether B can be part of one product with A: the same activation, and the same formats. */
static bool is_sibling(const struct builder *builder, const struct model_matrix *a, const struct model_matrix *b)
{
    struct predict_weight one = predict_weight_of(builder->predict, a), other = predict_weight_of(builder->predict, b);
    bool of_input = a->role == MODEL_QKV || a->role == MODEL_LATENT_DOWN || a->role == MODEL_FFN_UP ||
                    a->role == MODEL_EXPERT_UP || a->role == MODEL_SHARED_UP;
    return of_input && a->role == b->role && a->where == b->where && a->in == b->in && a->bias == b->bias &&
           one.bits == other.bits && one.operands == other.operands;
}

static void join_name(char name[MODEL_NAME_BYTES], const char *other)
{
    const char *last = strrchr(other, '.');
    size_t used = strlen(name);
    snprintf(name + used, MODEL_NAME_BYTES - used, "+%s", last ? last + 1 : other);
}

/* The matrices from INDEX on that are multiplied as one, joined along N. Returns how many. */
static int join_siblings(const struct builder *builder, int index, struct model_matrix *joined)
{
    const struct model_geometry *geometry = builder->predict->geometry;
    int end = index + 1;
    *joined = geometry->matrices[index];
    for (; builder->predict->options.fused && end < geometry->matrix_count; end++) {
        const struct model_matrix *next = &geometry->matrices[end];
        if (!is_sibling(builder, &geometry->matrices[index], next))
            break;
        joined->out += next->out;
        joined->query_out += next->query_out;
        joined->kv_out += next->kv_out;
        join_name(joined->name, next->name);
    }
    return end - index;
}

static void sum_step(const struct predict *predict, struct predict_step *step)
{
    for (size_t i = 0; i < step->count; i++) {
        struct predict_operator *row = &step->operators[i];
        finish_row(predict, row);
        step->flops += row->flops;
        step->kv_bytes += row->kv_bytes;
        predict_range_add(&step->bytes, row->bytes, 1);
        predict_range_add(&step->weight_bytes, row->weight_bytes, 1);
        for (int roof = 0; roof < PREDICT_ROOFS; roof++)
            predict_range_add(&step->seconds[roof], row->seconds[roof], 1);
    }
    if (isnan(step->seconds[PREDICT_SPECIFICATION].high))
        step->memory_share = step->compute_share = NAN;
    for (size_t i = 0; i < step->count; i++) {
        struct predict_operator *row = &step->operators[i];
        row->share = row->seconds[PREDICT_SPECIFICATION].high / step->seconds[PREDICT_SPECIFICATION].high;
        if (row->bound == BOUND_MEMORY)
            step->memory_share += row->share;
        else if (row->bound == BOUND_COMPUTE)
            step->compute_share += row->share;
    }
    step->intensity = (struct predict_range){step->flops / step->bytes.high, step->flops / step->bytes.low};
    for (int roof = 0; roof < PREDICT_ROOFS; roof++)
        step->tokens_per_second[roof] = (struct predict_range){(double)step->tokens / step->seconds[roof].high,
                                                               (double)step->tokens / step->seconds[roof].low};
    step->vector_bytes = (double)predict->geometry->norms * predict->format->bits / 8 * (double)step->passes;
}

void predict_operators_of_step(const struct predict *predict, const struct predict_shard *shard,
                               enum predict_phase phase, struct predict_step *step)
{
    *step = (struct predict_step){.phase = phase};
    struct builder builder = {.predict = predict, .shard = shard, .step = step};
    struct pass passes[2];
    int count = passes_of(&predict->options, phase, passes);
    for (int i = 0; i < count; i++) {
        step->passes += passes[i].times;
        step->tokens += passes[i].tokens * passes[i].times;
    }
    bool attention_done = false;
    struct model_matrix matrix;
    for (int i = 0; i < predict->geometry->matrix_count;) {
        i += join_siblings(&builder, i, &matrix);
        if (matrix.role == MODEL_ATTENTION_OUTPUT && !attention_done) { /* in the order of a layer */
            add_attention(&builder, phase, false);
            add_attention(&builder, phase, true);
            attention_done = true;
        }
        add_matrix(&builder, phase, &matrix);
    }
    sum_step(predict, step);
}
