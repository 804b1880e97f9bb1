/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of one matrix product; see the header for what is counted and what isn't. */
#include "classify/gemm_work.h"

#include <math.h>
#include <string.h>

enum { FLOPS_PER_PRODUCT = 2, FLOPS_PER_COMPLEX_PRODUCT = 8 };

static bool is_known(const struct gemm_model *model)
{
    return model->m >= 0 && model->n >= 0 && model->k >= 0 && model->batch >= 0;
}

static bool is_empty(const struct gemm_model *model)
{
    return model->m == 0 || model->n == 0 || model->batch == 0;
}

static int64_t inner_extent(const struct gemm_model *model, enum gemm_operand_index index)
{
    return index == GEMM_LEFT || index == GEMM_RIGHT ? model->k : model->n;
}

/* ---- bytes ---- */

static double blocks(double extent, int64_t block)
{
    return block > 0 ? ceil(extent / (double)block) : 1;
}

static double scale_sets(const struct gemm_operand *operand)
{
    return operand->scales.sets > 0 ? operand->scales.sets : operand->matrices;
}

/* Of OUTER x INNER elements a matrix. */
static double scale_bytes(const struct gemm_operand *operand, double outer, double inner)
{
    const struct gemm_scales *scales = &operand->scales;
    if (scales->bits == 0)
        return 0;
    return blocks(outer, scales->outer) * blocks(inner, scales->inner) * scale_sets(operand) * scales->bits / 8;
}

static double element_bytes(const struct gemm_operand *operand, double outer, double inner)
{
    double bits = operand->bits > 0 ? operand->bits : NAN;
    return outer * inner * operand->matrices * bits / 8;
}

static double operand_bytes(const struct gemm_operand *operand, double outer, double inner)
{
    if (outer == 0 || inner == 0)
        return 0;
    return element_bytes(operand, outer, inner) + scale_bytes(operand, outer, inner);
}

static double vector_bytes(double bits, double elements)
{
    return bits == 0 ? 0 : bits / 8 * elements;
}

/* Scales that are the same however many rows there are. */
static double scale_bytes_without_rows(const struct gemm_model *model, enum gemm_operand_index index)
{
    const struct gemm_operand *operand = &model->operand[index];
    int64_t inner = inner_extent(model, index);
    return inner == 0 || operand->scales.outer > 0 ? 0 : scale_bytes(operand, 1, (double)inner);
}

static double fixed_bytes(const struct gemm_model *model, double right_bytes)
{
    double fixed = right_bytes + vector_bytes(model->bias_bits_n, (double)model->n) +
                   scale_bytes_without_rows(model, GEMM_LEFT) + scale_bytes_without_rows(model, GEMM_D);
    return model->reads_c ? fixed + scale_bytes_without_rows(model, GEMM_C) : fixed;
}

static enum gemm_dimension dominant_of(const struct gemm_work *work)
{
    double of_m = work->operand_bytes[GEMM_RIGHT], of_n = work->operand_bytes[GEMM_LEFT];
    double of_k = work->operand_bytes[GEMM_C] + work->operand_bytes[GEMM_D] + work->aux_bytes;
    if (!(work->bytes > 0))
        return GEMM_DIMENSION_NONE;
    if (of_m >= of_n && of_m >= of_k)
        return GEMM_DIMENSION_M;
    return of_n >= of_k ? GEMM_DIMENSION_N : GEMM_DIMENSION_K;
}

static void set_bytes(const struct gemm_model *model, struct gemm_work *work)
{
    double m = (double)model->m, n = (double)model->n, k = (double)model->k;
    work->operand_bytes[GEMM_LEFT] = operand_bytes(&model->operand[GEMM_LEFT], m, k);
    work->operand_bytes[GEMM_RIGHT] = operand_bytes(&model->operand[GEMM_RIGHT], n, k);
    work->operand_bytes[GEMM_C] = model->reads_c ? operand_bytes(&model->operand[GEMM_C], m, n) : 0;
    work->operand_bytes[GEMM_D] = operand_bytes(&model->operand[GEMM_D], m, n);
    work->bias_bytes = vector_bytes(model->bias_bits_n, n) + vector_bytes(model->bias_bits_m, m);
    work->aux_bytes = vector_bytes(model->aux_bits, m * n * (double)model->batch);
    work->bytes = work->bias_bytes + work->aux_bytes;
    for (int i = 0; i < GEMM_OPERANDS; i++)
        work->bytes += work->operand_bytes[i];
    work->bytes_fixed = fixed_bytes(model, work->operand_bytes[GEMM_RIGHT]);
    work->bytes_per_row = (work->bytes - work->bytes_fixed) / m;
}

static const struct gemm_work nothing_known = {
    .flops = NAN,
    .bytes = NAN,
    .operand_bytes = {NAN, NAN, NAN, NAN},
    .bias_bytes = NAN,
    .aux_bytes = NAN,
    .intensity = NAN,
    .flops_per_row = NAN,
    .bytes_per_row = NAN,
    .bytes_fixed = NAN,
};

static double flops_of_row(const struct gemm_model *model)
{
    double product = model->complex ? FLOPS_PER_COMPLEX_PRODUCT : FLOPS_PER_PRODUCT;
    return product * (double)model->n * (double)model->k * (double)model->batch;
}

void gemm_work(const struct gemm_model *model, struct gemm_work *work)
{
    *work = nothing_known;
    if (!is_known(model))
        return;
    if (is_empty(model)) {
        *work = (struct gemm_work){.intensity = NAN};
        if (model->m == 0 && model->n && model->batch) { /* what the first row would add */
            struct gemm_model one = gemm_with_rows(model, 1);
            struct gemm_work of_one;
            gemm_work(&one, &of_one);
            work->flops_per_row = of_one.flops_per_row;
            work->bytes_per_row = of_one.bytes_per_row;
            work->bytes_fixed = of_one.bytes_fixed;
        }
        return;
    }
    work->flops_per_row = flops_of_row(model);
    work->flops = work->flops_per_row * (double)model->m;
    set_bytes(model, work);
    if (work->bytes > 0)
        work->intensity = work->flops / work->bytes;
    work->dominant = dominant_of(work);
}

/* ---- the ridge ---- */

/* What one more row adds to an operand of the rows, averaged over blocks of scales. */
static double bytes_of_row(const struct gemm_model *model, enum gemm_operand_index index)
{
    const struct gemm_operand *operand = &model->operand[index];
    double inner = (double)inner_extent(model, index);
    if (inner == 0)
        return 0;
    double bytes = element_bytes(operand, 1, inner);
    if (operand->scales.outer > 0)
        bytes += scale_bytes(operand, 1, inner) / (double)operand->scales.outer;
    return bytes;
}

struct gemm_ridge gemm_work_ridge(const struct gemm_model *model, double ridge)
{
    struct gemm_ridge result = {NAN, NAN, GEMM_DIMENSION_NONE};
    if (!is_known(model) || model->n == 0 || model->batch == 0)
        return result;
    double left = bytes_of_row(model, GEMM_LEFT);
    double output = bytes_of_row(model, GEMM_D) + vector_bytes(model->bias_bits_m, 1) +
                    vector_bytes(model->aux_bits, (double)model->n * (double)model->batch);
    if (model->reads_c)
        output += bytes_of_row(model, GEMM_C);
    double flops = flops_of_row(model);
    double fixed = fixed_bytes(model, operand_bytes(&model->operand[GEMM_RIGHT], (double)model->n, (double)model->k));
    double gain = flops - ridge * (left + output);
    result.cap = flops / (left + output);
    if (isnan(result.cap))
        return result;
    result.caps_at = left >= output ? GEMM_DIMENSION_N : GEMM_DIMENSION_K;
    if (isnan(gain) || isnan(fixed))
        return result;
    result.rows = gain > 0 ? ridge * fixed / gain : INFINITY;
    return result;
}

/* ---- other models ---- */

struct gemm_model gemm_with_weight(const struct gemm_model *model, double bits, struct gemm_scales scales)
{
    struct gemm_model changed = *model;
    changed.operand[GEMM_RIGHT].bits = bits;
    changed.operand[GEMM_RIGHT].scales = scales;
    return changed;
}

struct gemm_model gemm_with_rows(const struct gemm_model *model, int64_t rows)
{
    struct gemm_model changed = *model;
    changed.m = rows;
    return changed;
}

struct gemm_model gemm_plain(int64_t m, int64_t n, int64_t k, double bits)
{
    struct gemm_operand operand = {.bits = bits, .matrices = 1};
    return (struct gemm_model){
        .m = m,
        .n = n,
        .k = k,
        .batch = 1,
        .right_is_weight = true,
        .operand = {operand, operand, operand, operand},
    };
}

const char *gemm_dimension_name(enum gemm_dimension dimension)
{
    switch (dimension) {
    case GEMM_DIMENSION_M:
        return "M";
    case GEMM_DIMENSION_N:
        return "N";
    case GEMM_DIMENSION_K:
        return "K";
    default:
        return NULL;
    }
}
