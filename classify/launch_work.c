/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch that was read costs, by the same models as library calls (gemm_work.h, attention_work.h). */
#include <math.h>
#include <string.h>

#include "classify/launch_decode.h"

/* A fused gate makes two products of one activation matrix and writes one output: the products count twice, the activations
 * and the output once. The gate's own multiplication, M x N, is an activation function, which no figure counts. */
static struct gemm_model model_of(const struct launch_decode *d, double matrices)
{
    const struct weight_format *format = d->weight_format;
    return (struct gemm_model){
        .m = d->m,
        .n = d->n,
        .k = d->k,
        .batch = d->batch * d->weights,
        .right_is_weight = d->weight_parameter >= 0,
        .reads_c = d->adds,
        .operand =
            {
                [GEMM_LEFT] = {.bits = d->a_bits, .matrices = d->activations},
                [GEMM_RIGHT] = {.bits = format ? format->bits : NAN,
                                .matrices = matrices,
                                .scales = format ? format->scales : (struct gemm_scales){0, 0, 0, 0}},
                [GEMM_C] = {.bits = d->d_bits, .matrices = (double)d->batch},
                [GEMM_D] = {.bits = d->d_bits, .matrices = (double)d->batch},
            },
    };
}

/* Types that a library's operands may have, too. */
static struct number_format plain_type(const char *name)
{
    static const struct {
        const char *name;
        struct number_format format;
    } types[] = {
        {"fp32", {NUMBER_FP32, false, 32}},
        {"fp16", {NUMBER_FP16, false, 16}},
        {"bf16", {NUMBER_BF16, false, 16}},
    };
    for (size_t i = 0; name && i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(types[i].name, name))
            return types[i].format;
    return (struct number_format){NUMBER_UNKNOWN, false, 0};
}

static const struct work nothing_known = {
    .m = TRACE_UNKNOWN,
    .n = TRACE_UNKNOWN,
    .k = TRACE_UNKNOWN,
    .batch = TRACE_UNKNOWN,
    .path = GPU_PATH_UNKNOWN,
    .provenance = TRACE_NONE,
    .flops = NAN,
    .bytes = NAN,
    .intensity = NAN,
    .bytes_per_row = NAN,
    .bytes_fixed = NAN,
    .flops_per_row = NAN,
    .model = {.batch = TRACE_UNKNOWN},
};

void launch_decode_work(const struct launch_decode *decode, struct work *work)
{
    *work = nothing_known;
    if (decode->reading != LAUNCH_READ || decode->kind != LAUNCH_MATMUL)
        return;
    struct gemm_work product;
    work->model = model_of(decode, decode->matrices_most);
    gemm_work(&work->model, &product);
    work->shape_known = true;
    work->m = decode->m;
    work->n = decode->n;
    work->k = decode->k;
    work->batch = decode->batch;
    work->weight = decode->weight_parameter >= 0 ? WORK_WEIGHT_A : WORK_WEIGHT_NONE;
    work->type[0] = plain_type(decode->weight_format ? decode->weight_format->name : NULL);
    work->type[1] = plain_type(decode->a_format);
    work->type[2] = work->type[3] = plain_type(decode->d_format);
    work->path = decode->path;
    if (work->path != GPU_PATH_UNKNOWN)
        work->type_compute = gpu_paths[work->path].type;
    work->provenance = decode->provenance;
    work->flops = product.flops;
    work->bytes = product.bytes;
    if (work->bytes > 0)
        work->intensity = work->flops / work->bytes;
    if (decode->experts) /* another row may go to other experts, so what it adds is not known */
        return;
    work->flops_per_row = product.flops_per_row;
    work->bytes_per_row = product.bytes_per_row;
    work->bytes_fixed = product.bytes_fixed;
}

double launch_decode_bytes_least(const struct launch_decode *decode)
{
    if (decode->reading != LAUNCH_READ || decode->kind != LAUNCH_MATMUL)
        return NAN;
    struct gemm_model model = model_of(decode, decode->matrices_least);
    struct gemm_work product;
    gemm_work(&model, &product);
    return product.bytes;
}

void launch_decode_attention(const struct launch_decode *decode, struct attention_model *model)
{
    bool splits = decode->splits > 1;
    *model = (struct attention_model){
        .n_q = decode->n_q,
        .n_kv = decode->n_kv,
        .d = decode->d,
        .d_v = decode->d_v,
        .q_bits = decode->q_bits,
        .k_bits = decode->k_bits,
        .v_bits = decode->v_bits,
        .o_bits = decode->o_bits,
        .v_in_k = decode->v_in_k,
        .mask = ATTENTION_NO_MASK,
        .window_left = ATTENTION_NO_WINDOW,
        .window_right = ATTENTION_NO_WINDOW,
        .each = {.queries = decode->queries, .keys = decode->keys},
        .sequence_count = decode->sequences > 0 ? (size_t)decode->sequences : 0,
        .splits = splits ? decode->splits : 0,
        /* The model has d_v elements and a log-sum-exp of one size: so the whole row is as large as the launch's. */
        .partial_bits = splits ? decode->split_row_bits / (double)(decode->d_v + 1) : 0,
    };
}
