/* SPDX-License-Identifier: Apache-2.0 */
/* A launch that was not read has its kernel, the reason and what the kernel's name tells of the weights; all else is null. */
#include "report/launch_json.h"

#include <math.h>

#include "classify/launch_groups.h"
#include "report/json_value.h"

static json_t *attention_or_null(const struct launch_decode *launch)
{
    if (launch->reading != LAUNCH_READ || launch->kind != LAUNCH_ATTENTION)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "n_q", json_value_size(launch->n_q));
    json_value_set(object, "n_kv", json_value_size(launch->n_kv));
    json_value_set(object, "d", json_value_size(launch->d));
    json_value_set(object, "d_v", json_value_size(launch->d_v));
    json_value_set(object, "queries", json_value_size(launch->queries));
    json_value_set(object, "keys", json_value_size(launch->keys));
    json_value_set(object, "keys_at_most", json_boolean(launch->keys_at_most));
    json_value_set(object, "masked", json_boolean(launch->masked));
    json_value_set(object, "sequences", json_value_size(launch->sequences));
    json_value_set(object, "splits", json_value_size(launch->splits));
    json_value_set(object, "q_bits", json_value_real(launch->q_bits));
    json_value_set(object, "k_bits", json_value_real(launch->k_bits));
    json_value_set(object, "v_bits", json_value_real(launch->v_bits));
    json_value_set(object, "o_bits", json_value_real(launch->o_bits));
    return object;
}

static json_t *matmul_or_null(const struct launch_decode *launch)
{
    if (launch->reading != LAUNCH_READ || launch->kind != LAUNCH_MATMUL)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "m", json_value_size(launch->m));
    json_value_set(object, "n", json_value_size(launch->n));
    json_value_set(object, "k", json_value_size(launch->k));
    json_value_set(object, "batch", json_value_size(launch->batch));
    json_value_set(object, "weights", json_value_size(launch->weights));
    json_value_set(object, "experts", json_boolean(launch->experts));
    json_value_set(object, "matrices_least", json_value_real(launch->matrices_least));
    json_value_set(object, "matrices_most", json_value_real(launch->matrices_most));
    json_value_set(object, "activations", json_value_real(launch->activations));
    json_value_set(object, "adds", json_boolean(launch->adds));
    json_value_set(object, "a_bits", json_value_real(launch->a_bits));
    json_value_set(object, "d_bits", json_value_real(launch->d_bits));
    return object;
}

static json_t *row_or_null(const struct launch_row *row)
{
    if (!row)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "place", json_value_text(launch_row_place(row)));
    json_value_set(object, "source", json_value_text(launch_row_source(row)));
    json_value_set(object, "version", json_value_text(launch_row_version(row)));
    return object;
}

json_t *launch_json_object(const struct launch_decode *launch, const struct weight_format *format)
{
    const bool read = launch->reading == LAUNCH_READ;
    const char *path = read && launch->path < GPU_PATH_COUNT ? gpu_paths[launch->path].word : NULL;
    json_t *object = json_object();
    json_value_set(object, "kernel", json_value_text(*launch->kernel ? launch->kernel : NULL));
    json_value_set(object, "reading", json_value_text(launch_reading_name(launch->reading)));
    json_value_set(object, "problem", json_value_text(*launch->problem ? launch->problem : NULL));
    json_value_set(object, "kind", json_value_text(read ? launch_kind_name(launch->kind) : NULL));
    json_value_set(object, "serves", json_value_text(read ? launch_serves_name(launch->serves) : NULL));
    json_value_set(object, "provenance", json_value_text(read ? provenance_name(launch->provenance) : NULL));
    json_value_set(object, "path", json_value_text(path));
    json_value_set(object, "weight_format", json_value_text(format ? format->name : NULL));
    json_value_set(object, "weight_bits", json_value_real(format ? weight_format_bits(format) : NAN));
    json_value_set(object, "matmul", matmul_or_null(launch));
    json_value_set(object, "attention", attention_or_null(launch));
    json_value_set(object, "row", row_or_null(launch->row));
    return object;
}

static json_t *launch_or_null(const struct operator_row *op)
{
    return op->launch ? launch_json_object(op->launch, launch_weight_format(op)) : json_null();
}

static json_t *helpers_array(const struct operator_row *op)
{
    json_t *array = json_array();
    for (size_t i = 0; i < op->helper_count; i++) {
        json_t *object = json_object();
        json_value_set(object, "name", json_value_text(op->helpers[i].name));
        json_value_set(object, "kernels", json_value_count(op->helpers[i].kernels));
        json_value_set(object, "time_ns", json_value_count(op->helpers[i].time_ns));
        json_array_append_new(array, object);
    }
    return array;
}

/* By its KV traffic alone; NAN: it is no attention, or not read. */
static double intensity_kv(const struct operator_row *op)
{
    struct attention_model model;
    struct attention_work work;
    if (!launch_of_operator_is_read(op) || op->launch->kind != LAUNCH_ATTENTION)
        return NAN;
    launch_decode_attention(op->launch, &model);
    attention_work(&model, &work);
    return work.intensity_kv;
}

/* Zeroed rows of what has no launch hold no figure. */
void launch_json_set_operator(json_t *object, const struct operator_row *op)
{
    const double kv = intensity_kv(op), ridge = op->roofline.ridge;
    const bool known = !isnan(kv) && !isnan(ridge);
    json_value_set(object, "launch", launch_or_null(op));
    json_value_set(object, "helpers", helpers_array(op));
    json_value_set(object, "bytes_least", json_value_real(launch_of_operator_is_read(op) ? op->bytes_least : NAN));
    json_value_set(object, "intensity_kv", json_value_real(kv));
    json_value_set(object, "bound_kv",
                   json_value_text(known ? bound_name(kv < ridge ? BOUND_MEMORY : BOUND_COMPUTE) : NULL));
}

void launch_json_set_coverage(json_t *object, const struct session *session)
{
    const struct session_coverage *c = &session->coverage;
    const struct explained_time explained = explained_time_of(session);
    json_t *readings = json_object();
    for (int reading = 0; reading < LAUNCH_READING_COUNT; reading++) {
        json_t *one = json_object();
        json_value_set(one, "launches", json_value_count(c->launches_by_reading[reading]));
        json_value_set(one, "time_ns",
                       json_value_real(isnan(c->gpu_time_ns) ? NAN : c->launch_time_ns_by_reading[reading]));
        json_value_set(readings, launch_reading_name((enum launch_reading)reading), one);
    }
    json_value_set(object, "launches_by_reading", readings);
    json_value_set(object, "helpers_uncharged", json_value_count(c->helpers_uncharged));
    json_value_set(object, "call_time_share", json_value_real(explained.calls));
    json_value_set(object, "read_launch_time_share", json_value_real(explained.launches));
}
