/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons with NAN are false throughout, as in advice.c. */
#include "classify/advice_launches.h"

#include <math.h>

#include "classify/attention_work.h"
#include "classify/launch_groups.h"
#include "classify/roof_time.h"
#include "classify/session.h"

bool advice_weight_is_launched(const struct session *session, const struct weight_row *weight)
{
    return weight->operator_count && launch_of_operator_is_read(&session->operators[weight->operators[0]]);
}

bool advice_operator_is_launched(const struct operator_row *op)
{
    return !op->of_call && op->launch && op->launch->reading != LAUNCH_NOT_IN_TABLE;
}

/* No more than its time, and of what ran faster than its roof the same part; NAN stays NAN, which fmin() would drop. */
static double at_most(double saved_ns, const struct operator_row *op)
{
    const double part = op->roofline.roof_fraction > 1 ? saved_ns / op->roofline.roof_fraction : saved_ns;
    return op->timed && op->kernels && part > (double)op->time_ns ? (double)op->time_ns : part;
}

/* Where others have times, what ran unseen (rotated out, outside of a window) is no part of those that savings are shares of. */
static bool is_unseen(const struct session *session, const struct operator_row *op)
{
    return session->coverage.gpu_time_ns > 0 && !op->kernels;
}

/* Of executions of fewer rows: as many rows in launches of ROWS_MOST, each of which reads the weight once; memory alone counts. */
static double saved_by_full_launches(const struct session *session, const struct operator_row *op)
{
    enum { ROWS_MOST = 8 };
    const double rows = (double)op->work.m, launches = rows / ROWS_MOST;
    const double bytes = op->work.bytes + op->work.bytes_per_row * (ROWS_MOST - rows);
    if (rows >= ROWS_MOST || op->roofline.bound != BOUND_MEMORY || is_unseen(session, op))
        return 0;
    const double then = launches * roof_memory_ns(session, op->device, bytes) * op->bytes / op->work.bytes;
    return at_most(op->t_roof_ns - then, op);
}

/* Up to M*; where that is not known, as of dp4a, up to what one mat-vec kernel takes. */
double advice_saved_by_slots(const struct session *session, size_t index)
{
    const struct weight_row *weight = &session->weights[index];
    double saved = 0;
    if (!weight->skinny || !advice_weight_is_launched(session, weight))
        return NAN;
    if (!isnan(weight->saved_ns[WEIGHT_BATCH]))
        return weight->saved_ns[WEIGHT_BATCH];
    for (size_t i = 0; i < weight->operator_count; i++)
        saved += saved_by_full_launches(session, &session->operators[weight->operators[i]]);
    return saved;
}

/* Of all that OP's time at the roof is of, which is no less than its executions' bytes. */
static double saved_by_bytes(const struct session *session, const struct operator_row *op, double part)
{
    if (op->roofline.bound != BOUND_MEMORY || is_unseen(session, op))
        return 0;
    return at_most(op->t_roof_ns - roof_time_ns(session, op->device, op->work.path, op->flops, op->bytes * (1 - part)),
                   op);
}

/* Q4_K, the usual choice of few bits, in place of formats that have notably more. */
double advice_saved_by_fewer_bits(const struct session *session, size_t index)
{
    static const double notably = 1.1;
    const struct weight_row *weight = &session->weights[index];
    const struct weight_format *small = weight_format_find("q4_K");
    double saved = 0;
    if (!weight->skinny || weight->short_side != GEMM_SIDE_M || !advice_weight_is_launched(session, weight) ||
        !weight->format || !(weight_format_bits(weight->format) > notably * weight_format_bits(small)))
        return NAN;
    for (size_t i = 0; i < weight->operator_count; i++) {
        const struct operator_row *op = &session->operators[weight->operators[i]];
        struct gemm_model model = gemm_with_weight(&op->work.model, small->bits, small->scales);
        struct gemm_work work;
        gemm_work(&model, &work);
        saved += saved_by_bytes(session, op, 1 - work.bytes / op->work.bytes);
    }
    return saved;
}

/* K and V of 16 bits in q8_0. Kernels that take such a cache as it is have few queries (llama.cpp: 2); for more, it is unpacked
 * before them. */
double advice_saved_by_small_cache(const struct session *session, size_t index)
{
    enum { QUERIES_MOST = 2, PLAIN_BITS = 16 };
    const struct operator_row *op = &session->operators[index];
    const struct launch_decode *launch = op->launch;
    struct attention_model model;
    struct attention_work now, then;
    if (!launch_of_operator_is_read(op) || launch->kind != LAUNCH_ATTENTION || launch->queries > QUERIES_MOST ||
        launch->k_bits != PLAIN_BITS || launch->v_bits != PLAIN_BITS)
        return NAN;
    launch_decode_attention(launch, &model);
    attention_work(&model, &now);
    model.k_bits = model.v_bits = weight_format_bits(weight_format_find("q8_0"));
    attention_work(&model, &then);
    return saved_by_bytes(session, op, 1 - then.bytes / now.bytes);
}
