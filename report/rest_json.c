/* SPDX-License-Identifier: Apache-2.0 */
/* A sum is of those rows of which the value is known; of calls that nobody counted there is none, as in the tables. */
#include "report/rest_json.h"

#include <math.h>

#include "classify/roofline.h"
#include "report/json_value.h"
#include "report/operators_json.h"

enum { BOUNDS = BOUND_OVERHEAD + 1 };

struct rest {
    size_t count;
    bool calls_known, executed, counted, timed;
    uint64_t calls, executions, kernels, time_ns;
    double flops, bytes, t_roof_ns, gain_ns;
    uint64_t count_of[BOUNDS], time_ns_of[BOUNDS];
    bool timed_of[BOUNDS];
};

static struct rest nothing(void)
{
    return (struct rest){.calls_known = true, .flops = NAN, .bytes = NAN, .t_roof_ns = NAN, .gain_ns = NAN};
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
    for (int bound = 0; bound < BOUNDS; bound++) {
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

json_t *rest_json_operators(const struct session *session, size_t shown)
{
    struct rest rest = nothing();
    for (size_t i = shown; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        add_operator(&rest, op, operators_json_executed(op));
    }
    return rest.count ? rest_object(session, &rest, by_bound_object(&rest)) : json_null();
}

/* Of a weight there are no calls and no kernels apart from its operators'. */
json_t *rest_json_weights(const struct session *session, size_t shown)
{
    struct rest rest = nothing();
    rest.calls_known = false;
    for (size_t i = shown; i < session->weight_count; i++) {
        const struct weight_row *weight = &session->weights[i];
        rest.count++;
        rest.executed = true;
        sum_add(&rest.executions, weight->executions);
        if (weight->timed && weight->time_ns) {
            rest.timed = true;
            sum_add(&rest.time_ns, weight->time_ns);
        }
    }
    return rest.count ? rest_object(session, &rest, json_null()) : json_null();
}

/* What differs by shape is not known of them. */
json_t *rest_json_kernels(const struct session *session, const struct operator_rows *kernels, size_t shown)
{
    struct rest rest = nothing();
    for (size_t i = shown; i < kernels->count; i++)
        add_operator(&rest, &kernels->merged[i].op, false);
    return rest.count ? rest_object(session, &rest, json_null()) : json_null();
}
