/* SPDX-License-Identifier: Apache-2.0 */
/* A sum is of those rows of which the value is known; of calls that nobody counted there is none, as in the tables. */
#include "report/rest_json.h"

#include <math.h>

#include "report/json_value.h"
#include "report/operators_json.h"

struct rest rest_of_none(size_t rows)
{
    return (struct rest){
        .from = rows, .calls_known = true, .flops = NAN, .bytes = NAN, .t_roof_ns = NAN, .gain_ns = NAN};
}

/* More rows are shown than the last time: what was summed up holds too much. */
static void begin(struct rest *rest, size_t shown, size_t rows)
{
    if (shown > rest->from)
        *rest = rest_of_none(rows);
}

static void add(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

/* EXECUTED: its executions are known. */
static void add_operator(struct rest *rest, const struct operator_row *op, bool executed)
{
    const enum bound bound = op->roofline.bound;
    const bool timed = op->timed && op->kernels;
    rest->count++;
    rest->count_of[bound]++;
    rest->calls_known &= op->calls_known;
    sum_add(&rest->calls, op->calls);
    if (executed)
        sum_add(&rest->executions, op->executions);
    if (op->timed)
        sum_add(&rest->kernels, op->kernels);
    if (timed) {
        sum_add(&rest->time_ns, op->time_ns);
        sum_add(&rest->time_ns_of[bound], op->time_ns);
    }
    rest->executed |= executed;
    rest->counted |= op->timed;
    rest->timed |= timed;
    rest->timed_of[bound] |= timed;
    add(&rest->flops, op->flops);
    add(&rest->bytes, op->bytes);
    add(&rest->t_roof_ns, op->t_roof_ns);
    if (timed)
        add(&rest->gain_ns, op->gain_ns);
}

static json_t *by_bound_object(const struct rest *rest)
{
    json_t *object = json_object();
    for (int bound = 0; bound < REST_BOUNDS; bound++) {
        json_t *of = json_object();
        json_value_set(of, "count", json_value_count(rest->count_of[bound]));
        json_value_set(of, "time_ns",
                       json_value_count_if(rest->timed_of[bound] || !rest->count_of[bound], rest->time_ns_of[bound]));
        json_value_set(object, bound_name((enum bound)bound), of);
    }
    return object;
}

static json_t *rest_object(const struct session *session, const struct rest *rest, json_t *by_bound)
{
    const double all = session->coverage.gpu_time_ns;
    json_t *object = json_object();
    json_value_set(object, "count", json_value_count(rest->count));
    json_value_set(object, "calls", json_value_count_if(rest->calls_known, rest->calls));
    json_value_set(object, "executions", json_value_count_if(rest->executed, rest->executions));
    json_value_set(object, "kernels", json_value_count_if(rest->counted, rest->kernels));
    json_value_set(object, "time_ns", json_value_count_if(rest->timed, rest->time_ns));
    json_value_set(object, "share", json_value_real(rest->timed && all > 0 ? (double)rest->time_ns / all : NAN));
    json_value_set(object, "flops", json_value_real(rest->flops));
    json_value_set(object, "bytes", json_value_real(rest->bytes));
    json_value_set(object, "t_roof_ns", json_value_real(rest->t_roof_ns));
    json_value_set(object, "gain_ns", json_value_real(rest->gain_ns));
    json_value_set(object, "by_bound", by_bound);
    return object;
}

json_t *rest_json_operators(struct rest *rest, const struct session *session, size_t shown)
{
    begin(rest, shown, session->operator_count);
    while (rest->from > shown) {
        const struct operator_row *op = &session->operators[--rest->from];
        add_operator(rest, op, operators_json_executed(op));
    }
    return rest->count ? rest_object(session, rest, by_bound_object(rest)) : json_null();
}

/* Of a weight there are no calls and no kernels apart from its operators'. */
json_t *rest_json_weights(struct rest *rest, const struct session *session, size_t shown)
{
    begin(rest, shown, session->weight_count);
    rest->calls_known = false;
    while (rest->from > shown) {
        const struct weight_row *weight = &session->weights[--rest->from];
        rest->count++;
        rest->executed = true;
        sum_add(&rest->executions, weight->executions);
        if (weight_has_time(weight)) {
            rest->timed = true;
            sum_add(&rest->time_ns, weight->time_ns);
        }
    }
    return rest->count ? rest_object(session, rest, json_null()) : json_null();
}

/* What differs by shape is not known of them. */
json_t *rest_json_kernels(struct rest *rest, const struct session *session, const struct operator_rows *kernels,
                          size_t shown)
{
    begin(rest, shown, kernels->count);
    while (rest->from > shown)
        add_operator(rest, &((const struct kernel_row *)kernels->rows[--rest->from])->op, false);
    return rest->count ? rest_object(session, rest, json_null()) : json_null();
}
