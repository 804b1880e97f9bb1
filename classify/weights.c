/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of one weight brought together, and what could be done about each: differences of times at the roof. */
#include "classify/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/index_map.h"
#include "classify/launch_groups.h"
#include "classify/roof_time.h"
#include "classify/session.h"

static const struct gemm_scales no_scales;
static const struct gemm_scales scales_of_4_bit = {16, 1, 128, 0}; /* a 16-bit scale for each 128 along K */

enum { PARTIAL_SUM_BYTES = 4 }; /* split-K adds up in fp32 */

const char *gemm_side_name(enum gemm_side side)
{
    static const char *const names[] = {
        [GEMM_SIDE_NONE] = NULL,
        [GEMM_SIDE_M] = "M",
        [GEMM_SIDE_N] = "N",
        [GEMM_SIDE_K] = "K",
    };
    return names[side];
}

bool weight_has_time(const struct weight_row *weight)
{
    return weight->timed && weight->time_ns;
}

const char *weight_change_name(enum weight_change change)
{
    static const char *const names[WEIGHT_CHANGE_COUNT] = {
        [WEIGHT_BATCH] = "batch", [WEIGHT_FUSE] = "fuse",   [WEIGHT_SPLIT_K] = "split_k",
        [WEIGHT_8_BIT] = "8_bit", [WEIGHT_4_BIT] = "4_bit",
    };
    return (unsigned)change < WEIGHT_CHANGE_COUNT ? names[change] : NULL;
}

static enum gemm_side side_of(enum gemm_dimension dimension)
{
    static const enum gemm_side sides[] = {
        [GEMM_DIMENSION_NONE] = GEMM_SIDE_NONE,
        [GEMM_DIMENSION_M] = GEMM_SIDE_M,
        [GEMM_DIMENSION_N] = GEMM_SIDE_N,
        [GEMM_DIMENSION_K] = GEMM_SIDE_K,
    };
    return sides[dimension];
}

/* ---- which operators ---- */

/* Which experts another row would go to is not known, so nothing here is about those. What launches multiply by heads is a
 * KV cache, if attention isn't one kernel, far more often than a weight. */
static bool is_product(const struct operator_row *op)
{
    return op->of_call || (launch_of_operator_is_read(op) && !op->launch->experts && op->launch->batch == 1);
}

static bool has_weight(const struct operator_row *op)
{
    return is_product(op) && (op->kind == OPERATOR_GEMM || op->kind == OPERATOR_GEMV) && op->work.shape_known &&
           op->work.weight != WORK_WEIGHT_NONE && op->work.m > 0 && op->work.n > 0 && op->work.k > 0 &&
           op->work.batch > 0;
}

/* The library's rule takes the second operand of an attention's products for weights. */
static bool *find_attention_operators(const struct session *session)
{
    bool *is_attention = allocate(session->operator_count, sizeof *is_attention);
    for (size_t i = 0; i < session->naive_attention_count; i++) {
        is_attention[session->naive_attention[i].scores] = true;
        is_attention[session->naive_attention[i].output] = true;
    }
    return is_attention;
}

static struct weight_row *weight_of(struct session *session, struct index_map *map, size_t *capacity,
                                    const struct operator_row *op)
{
    const struct weight_format *format = op->of_call ? NULL : op->launch->weight_format;
    const int64_t fused = op->of_call ? 1 : op->launch->weights;
    int64_t key[11] = {op->device, op->work.n, op->work.k, op->work.batch, op->work.path};
    for (int i = 0; i < 4; i++)
        key[5 + i] = (int64_t)op->work.type[i].type << 32 | op->work.type[i].bits << 1 | op->work.type[i].complex;
    key[9] = (int64_t)(uintptr_t)format;
    key[10] = fused;
    uint32_t *index = index_map_at(map, trace_hash(key, (uint32_t)sizeof key), (uint64_t)op->work.n);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)session->weight_count;
        session->weights = allocate_grow(session->weights, session->weight_count, capacity, sizeof *session->weights);
        struct weight_row *added = &session->weights[session->weight_count++];
        *added = (struct weight_row){
            .device = op->device,
            .n = op->work.n,
            .k = op->work.k,
            .batch = op->work.batch,
            .format = format,
            .path = op->work.path,
            .sibling_group = WEIGHT_NO_GROUP,
        };
        memcpy(added->type, op->work.type, sizeof added->type);
    }
    return &session->weights[*index];
}

/* Operators are sorted, longest time first, and so each weight's are. */
static void group_operators(struct session *session)
{
    struct index_map map = {0};
    size_t capacity = 0, *capacities = NULL, capacities_size = 0;
    bool *is_attention = find_attention_operators(session);
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (!has_weight(op) || is_attention[i])
            continue;
        struct weight_row *weight = weight_of(session, &map, &capacity, op);
        size_t w = (size_t)(weight - session->weights);
        if (w >= capacities_size) {
            capacities = allocate_grow(capacities, w, &capacities_size, sizeof *capacities);
            memset(capacities + w, 0, (capacities_size - w) * sizeof *capacities);
        }
        weight->operators =
            allocate_grow(weight->operators, weight->operator_count, &capacities[w], sizeof *weight->operators);
        weight->operators[weight->operator_count++] = i;
    }
    free(capacities);
    free(is_attention);
    index_map_free(&map);
}

/* ---- facts ---- */

/* Those that savings are of, since they are shown as a share of time: where there is time, those that it covers. */
static double executions_to_save_of(const struct weight_row *weight, const struct operator_row *op)
{
    return (double)(weight->time_ns > 0 ? op->executions : operator_row_executions(op));
}

static const struct operator_row *operator_at(const struct session *session, const struct weight_row *weight, size_t i)
{
    return &session->operators[weight->operators[i]];
}

struct rows_executed {
    int64_t m;
    uint64_t times;
};

static int compare_rows(const void *a, const void *b)
{
    const struct rows_executed *x = a, *y = b;
    return (x->m > y->m) - (x->m < y->m);
}

/* Nearest rank: the least M that PERCENT of the executions don't exceed. */
static int64_t percentile(const struct rows_executed *rows, size_t count, double all, double percent)
{
    double rank = ceil(percent / 100 * all), seen = 0;
    for (size_t i = 0; i < count; i++) {
        seen += (double)rows[i].times;
        if (seen >= rank)
            return rows[i].m;
    }
    return rows[count - 1].m;
}

static void find_rows(const struct session *session, struct weight_row *weight)
{
    struct rows_executed *rows = allocate(weight->operator_count, sizeof *rows);
    double all = 0;
    for (size_t i = 0; i < weight->operator_count; i++) {
        const struct operator_row *op = operator_at(session, weight, i);
        rows[i] = (struct rows_executed){op->work.m, operator_row_executions(op)};
        all += (double)rows[i].times;
    }
    qsort(rows, weight->operator_count, sizeof *rows, compare_rows);
    weight->m_min = rows[0].m;
    weight->m_max = rows[weight->operator_count - 1].m;
    weight->m_p50 = percentile(rows, weight->operator_count, all, 50);
    weight->m_p90 = percentile(rows, weight->operator_count, all, 90);
    free(rows);
}

static void find_times(const struct session *session, struct weight_row *weight)
{
    double shares = 0;
    for (size_t i = 0; i < weight->operator_count; i++) {
        const struct operator_row *op = operator_at(session, weight, i);
        sum_add(&weight->executions, operator_row_executions(op));
        sum_add(&weight->time_ns, op->time_ns);
        weight->timed |= op->timed;
        weight->starved |= (op->roofline.flags & ROOFLINE_STARVED) != 0;
        weight->skinny |= op->roofline.intensity < op->roofline.ridge ||
                          (isnan(op->roofline.ridge) && op->roofline.bound == BOUND_MEMORY);
        shares += op->share;
    }
    weight->share = shares;
}

static void find_ridge(const struct session *session, struct weight_row *weight)
{
    const struct operator_row *first = operator_at(session, weight, 0);
    struct gemm_ridge ridge = gemm_work_ridge(&first->work.model, first->roofline.ridge);
    struct gemm_model median = gemm_with_rows(&first->work.model, weight->m_p50);
    struct gemm_work work;
    gemm_work(&median, &work);
    weight->rows_at_ridge = ridge.rows;
    weight->intensity_limit = ridge.cap;
    weight->limited_by = isinf(ridge.rows) ? side_of(ridge.caps_at) : GEMM_SIDE_NONE;
    weight->short_side = side_of(work.dominant);

    double executions = 0, below = 0, time = 0, time_below = 0;
    for (size_t i = 0; i < weight->operator_count; i++) {
        const struct operator_row *op = operator_at(session, weight, i);
        executions += (double)operator_row_executions(op);
        time += (double)op->time_ns;
        if (!((double)op->work.m < weight->rows_at_ridge))
            continue;
        below += (double)operator_row_executions(op);
        time_below += (double)op->time_ns;
    }
    bool known = !isnan(weight->rows_at_ridge);
    weight->executions_below = known && executions > 0 ? below / executions : NAN;
    weight->time_below = known && time > 0 ? time_below / time : NAN;
}

static void find_fill(const struct session *session, struct weight_row *weight)
{
    const struct operator_row *longest = operator_at(session, weight, 0);
    weight->blocks = longest->blocks;
    weight->sm_count = roof_sm_count(session, weight->device);
    weight->fill = roof_fill_of_operator(session, longest);
    weight->bandwidth_fill = longest->bandwidth_fill;
}

/* ---- changes ---- */

static double roof_of_model(const struct session *session, const struct weight_row *weight,
                            const struct gemm_model *model)
{
    struct gemm_work work;
    gemm_work(model, &work);
    return roof_time_ns(session, weight->device, weight->path, work.flops, work.bytes);
}

/* The rows of all executions below M* in calls of M* rows, where the compute roof alone counts; where there are fewer than
 * M* of them, in one call. Without an M* there is no number of rows to aim at. */
static double saved_by_batching(const struct session *session, const struct weight_row *weight)
{
    double rows = 0, now = 0, flops_per_row = NAN, bytes_per_row = NAN, bytes_fixed = NAN;
    if (!isfinite(weight->rows_at_ridge))
        return NAN;
    for (size_t i = 0; i < weight->operator_count; i++) {
        const struct operator_row *op = operator_at(session, weight, i);
        double times = executions_to_save_of(weight, op);
        if (!((double)op->work.m < weight->rows_at_ridge))
            continue;
        if (isnan(flops_per_row)) { /* of the longest of them: others differ by bias and C at most */
            struct gemm_work work;
            gemm_work(&op->work.model, &work);
            flops_per_row = work.flops_per_row;
            bytes_per_row = work.bytes_per_row;
            bytes_fixed = work.bytes_fixed;
        }
        rows += times * (double)op->work.m;
        now += times * roof_of_model(session, weight, &op->work.model);
    }
    if (rows == 0)
        return 0;
    double calls = fmax(1, rows / weight->rows_at_ridge);
    return now - roof_time_ns(session, weight->device, weight->path, rows * flops_per_row,
                              rows * bytes_per_row + calls * bytes_fixed);
}

/* What ran faster than its fill allows (a simulator's kernel) gains no more than its time
 * above the roof. */
static double bounded_by_time(const struct operator_row *op, double saved_ns)
{
    double above_ns = (double)op->time_ns * (1 - op->roofline.roof_fraction);
    return op->timed && op->kernels && saved_ns > above_ns ? fmax(0, above_ns) : saved_ns;
}

static double split_ns(const struct session *session, const struct weight_row *weight, const struct operator_row *op,
                       double splits)
{
    double sums = (double)op->work.m * (double)op->work.n * (double)op->work.batch * PARTIAL_SUM_BYTES * 2;
    return roof_blocks_ns(session, weight->device, weight->path, splits * (double)op->blocks, op->work.flops,
                          op->work.bytes + splits * sums);
}

/* The best of LOW to HIGH splits, over which the time of bytes rises or falls, but not both: up to it the time falls, of
 * compute or of bytes, from there on the sums' bytes raise it. */
static double best_between(const struct session *session, const struct weight_row *weight,
                           const struct operator_row *op, double low, double high)
{
    if (high < low)
        return INFINITY;
    while (low < high) {
        double middle = floor((low + high) / 2);
        if (split_ns(session, weight, op, middle + 1) < split_ns(session, weight, op, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return split_ns(session, weight, op, low);
}

/* Partial sums are written and read. Of all numbers of splits up to one wave, and no more than K has elements, the best.
 * Between two points of a calibration bandwidth is a straight line of blocks, so the time of bytes, of which both are
 * straight lines of the splits, rises or falls throughout. */
static double best_split_ns(const struct session *session, const struct weight_row *weight,
                            const struct operator_row *op)
{
    const struct calibration *calibration = weight->device >= 0 ? session->devices[weight->device].calibration : NULL;
    double low = 2, high = fmin(floor(weight->sm_count / (double)op->blocks), (double)op->work.k);
    double best = INFINITY;
    for (int i = 0; calibration && i < calibration->point_count && low <= high; i++) {
        double end = fmin(high, floor((double)calibration->points[i].blocks / (double)op->blocks));
        best = fmin(best, best_between(session, weight, op, low, end));
        low = fmax(low, end + 1);
    }
    return fmin(best, best_between(session, weight, op, low, high));
}

static double saved_by_splitting(const struct session *session, const struct weight_row *weight)
{
    double saved = 0;
    bool judged = false; /* of persistent kernels nothing is claimed */
    if (weight->sm_count <= 0)
        return NAN;
    for (size_t i = 0; i < weight->operator_count; i++) {
        const struct operator_row *op = operator_at(session, weight, i);
        if (op->persistent)
            continue;
        if (!op->blocks)
            return NAN;
        judged = true;
        if (op->blocks >= (uint64_t)weight->sm_count)
            continue;
        double now =
            roof_blocks_ns(session, weight->device, weight->path, (double)op->blocks, op->work.flops, op->work.bytes);
        double best = fmin(now, best_split_ns(session, weight, op));
        saved += bounded_by_time(op, executions_to_save_of(weight, op) * (now - best));
    }
    return judged ? saved : NAN;
}

/* The multipliers work on what the activations are: the path stays. */
static double saved_by_bits(const struct session *session, const struct weight_row *weight, double bits,
                            struct gemm_scales scales)
{
    double saved = 0;
    if (operator_at(session, weight, 0)->work.model.complex)
        return NAN; /* nobody stores complex weights in so few bits */
    for (size_t i = 0; i < weight->operator_count; i++) {
        const struct operator_row *op = operator_at(session, weight, i);
        struct gemm_model smaller = gemm_with_weight(&op->work.model, bits, scales);
        double gain = roof_of_model(session, weight, &op->work.model) - roof_of_model(session, weight, &smaller);
        saved += executions_to_save_of(weight, op) * (gain > 0 || isnan(gain) ? gain : 0);
    }
    return saved;
}

/* What ran faster than its roof (in cache, or a wrong peak) saves the same part of its time as it would at the roof, at most 1:
 * more than that part no change of its bytes or rows can give. */
static double part_of_roof_taken(const struct session *session, const struct weight_row *weight)
{
    double roof_ns = 0;
    for (size_t i = 0; i < weight->operator_count; i++) {
        const struct operator_row *op = operator_at(session, weight, i);
        if (op->timed && op->kernels)
            roof_ns += op->roofline.t_roof_ns;
    }
    return weight->time_ns > 0 && roof_ns > (double)weight->time_ns ? (double)weight->time_ns / roof_ns : 1;
}

static void find_savings(const struct session *session, struct weight_row *weight)
{
    double part = part_of_roof_taken(session, weight);
    if (!(weight->time_ns > 0) && roof_base_ns(session, weight->device) > 0)
        part = NAN; /* it is not in the time that savings are a share of */
    double saved[WEIGHT_CHANGE_COUNT] = {
        [WEIGHT_BATCH] = saved_by_batching(session, weight),
        [WEIGHT_SPLIT_K] = saved_by_splitting(session, weight),
        [WEIGHT_8_BIT] = saved_by_bits(session, weight, 8, no_scales),
        [WEIGHT_4_BIT] = saved_by_bits(session, weight, 4, scales_of_4_bit),
    };
    for (int c = 0; c < WEIGHT_CHANGE_COUNT; c++) {
        weight->saved_ns[c] = roof_saved_ns(session, weight->device, part * saved[c]);
        if (weight->time_ns > 0 && weight->saved_ns[c] > (double)weight->time_ns)
            weight->saved_ns[c] = (double)weight->time_ns;
    }
}

/* A group's saving in equal parts to its calls, so that the weights' sum is the groups'. Groups come most saved first. */
static void share_out_fusing(struct session *session)
{
    size_t *weight_of_operator = allocate(session->operator_count, sizeof *weight_of_operator); /* plus one; 0: none */
    for (size_t w = 0; w < session->weight_count; w++)
        for (size_t i = 0; i < session->weights[w].operator_count; i++)
            weight_of_operator[session->weights[w].operators[i]] = w + 1;
    for (size_t g = 0; g < session->sibling_group_count; g++) {
        const struct sibling_group *group = &session->sibling_groups[g];
        for (size_t i = 0; i < group->count; i++) {
            size_t w = weight_of_operator[group->operators[i]];
            if (!w)
                continue;
            struct weight_row *weight = &session->weights[w - 1];
            if (weight->sibling_group == WEIGHT_NO_GROUP)
                weight->sibling_group = (int)g;
            weight->saved_ns[WEIGHT_FUSE] += group->saved_ns / (double)group->count;
        }
    }
    free(weight_of_operator);
}

/* ---- the whole ---- */

static int compare_weights(const void *a, const void *b)
{
    const struct weight_row *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return (x->operators[0] > y->operators[0]) - (x->operators[0] < y->operators[0]);
}

void weights_find(struct session *session)
{
    group_operators(session);
    for (size_t w = 0; w < session->weight_count; w++) {
        struct weight_row *weight = &session->weights[w];
        find_times(session, weight);
        find_rows(session, weight);
        find_ridge(session, weight);
        find_fill(session, weight);
        find_savings(session, weight);
    }
    share_out_fusing(session);
    if (session->weight_count)
        qsort(session->weights, session->weight_count, sizeof *session->weights, compare_weights);
}

void weights_free(struct session *session)
{
    for (size_t w = 0; w < session->weight_count; w++)
        free(session->weights[w].operators);
    free(session->weights);
    free(session->sibling_groups);
    free(session->naive_attention);
    for (size_t i = 0; i < session->product_order_count; i++)
        free(session->product_orders[i].operators);
    free(session->product_orders);
}
