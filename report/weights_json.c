/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and keys as JSON.md has them; operators are named by their index. */
#include "report/weights_json.h"

#include <math.h>

#include "report/json_value.h"

static json_t *indexes(const size_t *index, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_value_count(index[i]));
    return array;
}

/* ---- weights ---- */

static void set_types(json_t *object, const struct weight_row *weight)
{
    static const char *const keys[] = {"type_a", "type_b", "type_c", "type_d"};
    for (int i = 0; i < 4; i++)
        json_value_set(object, keys[i], json_value_text(number_format_name(weight->type[i])));
    bool known = weight->path != GPU_PATH_UNKNOWN;
    json_value_set(object, "type_compute",
                   json_value_text(known ? number_type_name(gpu_paths[weight->path].type) : NULL));
}

static json_t *saved_object(const struct weight_row *weight)
{
    json_t *object = json_object();
    for (int c = 0; c < WEIGHT_CHANGE_COUNT; c++)
        json_value_set(object, weight_change_name(c), json_value_real(weight->saved_ns[c]));
    return object;
}

static json_t *weight_object(const struct weight_row *weight)
{
    json_t *object = json_object();
    bool never = isinf(weight->rows_at_ridge), has_time = weight->timed && weight->time_ns;
    json_value_set(object, "device", json_value_size(weight->device));
    json_value_set(object, "n", json_value_size(weight->n));
    json_value_set(object, "k", json_value_size(weight->k));
    json_value_set(object, "batch", json_value_size(weight->batch));
    set_types(object, weight);
    json_value_set(object, "weight_format", json_value_text(weight->format ? weight->format->name : NULL));
    json_value_set(object, "operators", indexes(weight->operators, weight->operator_count));
    json_value_set(object, "executions", json_value_count(weight->executions));
    json_value_set(object, "time_ns", json_value_count_if(has_time, weight->time_ns));
    json_value_set(object, "share", has_time ? json_value_real(weight->share) : json_null());
    json_value_set(object, "m_min", json_value_size(weight->m_min));
    json_value_set(object, "m_p50", json_value_size(weight->m_p50));
    json_value_set(object, "m_p90", json_value_size(weight->m_p90));
    json_value_set(object, "m_max", json_value_size(weight->m_max));
    json_value_set(object, "m_star", json_value_real(weight->rows_at_ridge));
    json_value_set(object, "m_star_never", isnan(weight->rows_at_ridge) ? json_null() : json_boolean(never));
    json_value_set(object, "intensity_limit", json_value_real(weight->intensity_limit));
    json_value_set(object, "limited_by", json_value_text(gemm_side_name(weight->limited_by)));
    json_value_set(object, "executions_below", json_value_real(weight->executions_below));
    json_value_set(object, "time_below", json_value_real(weight->time_below));
    json_value_set(object, "short_side", json_value_text(gemm_side_name(weight->short_side)));
    json_value_set(object, "skinny", json_boolean(weight->skinny));
    json_value_set(object, "blocks", json_value_count_if(weight->blocks, weight->blocks));
    json_value_set(object, "sm_count", json_value_size(weight->sm_count));
    json_value_set(object, "fill", json_value_real(weight->fill));
    json_value_set(object, "bandwidth_fill", json_value_real(weight->bandwidth_fill));
    json_value_set(object, "starved", json_boolean(weight->starved));
    json_value_set(object, "sibling_group", json_value_size(weight->sibling_group));
    json_value_set(object, "saved_ns", saved_object(weight));
    return object;
}

json_t *weights_json(const struct session *session, size_t rows)
{
    json_t *array = json_array();
    for (size_t i = 0; i < session->weight_count && i < rows; i++)
        json_array_append_new(array, weight_object(&session->weights[i]));
    return array;
}

/* ---- siblings and attention ---- */

static json_t *group_object(const struct sibling_group *group)
{
    json_t *object = json_object();
    json_value_set(object, "device", json_value_size(group->device));
    json_value_set(object, "m", json_value_size(group->m));
    json_value_set(object, "k", json_value_size(group->k));
    json_value_set(object, "n_fused", json_value_size(group->n_fused));
    json_value_set(object, "operators", indexes(group->operators, group->count));
    json_value_set(object, "times", json_value_count(group->times));
    json_value_set(object, "intensity", json_value_real(group->intensity));
    json_value_set(object, "intensity_fused", json_value_real(group->intensity_fused));
    json_value_set(object, "bytes_saved", json_value_real(group->bytes_saved));
    json_value_set(object, "roof_ns", json_value_real(group->roof_ns));
    json_value_set(object, "roof_fused_ns", json_value_real(group->roof_fused_ns));
    json_value_set(object, "saved_ns", json_value_real(group->saved_ns));
    json_value_set(object, "fill", json_value_real(group->fill));
    json_value_set(object, "fill_fused", json_value_real(group->fill_fused));
    return object;
}

json_t *weights_json_siblings(const struct session *session)
{
    json_t *array = json_array();
    for (size_t i = 0; i < session->sibling_group_count; i++)
        json_array_append_new(array, group_object(&session->sibling_groups[i]));
    return array;
}

static json_t *attention_object(const struct naive_attention *pair)
{
    json_t *object = json_object();
    json_value_set(object, "device", json_value_size(pair->device));
    json_value_set(object, "scores", json_value_count(pair->scores));
    json_value_set(object, "output", json_value_count(pair->output));
    json_value_set(object, "times", json_value_count(pair->times));
    json_value_set(object, "replays", json_value_real(pair->replays));
    json_value_set(object, "batch", json_value_size(pair->batch));
    json_value_set(object, "l_q", json_value_size(pair->l_q));
    json_value_set(object, "l_k", json_value_size(pair->l_k));
    json_value_set(object, "d", json_value_size(pair->d));
    json_value_set(object, "d_v", json_value_size(pair->d_v));
    json_value_set(object, "softmax_seen", json_boolean(pair->softmax_seen));
    json_value_set(object, "flops", json_value_real(pair->flops));
    json_value_set(object, "bytes", json_value_real(pair->bytes));
    json_value_set(object, "kv_bytes", json_value_real(pair->kv_bytes));
    json_value_set(object, "bytes_fused", json_value_real(pair->bytes_fused));
    json_value_set(object, "intensity_limit", json_value_real(pair->intensity_limit));
    json_value_set(object, "intensity_kv", json_value_real(pair->intensity_kv));
    json_value_set(object, "intensity_fused", json_value_real(pair->intensity_fused));
    json_value_set(object, "saved_ns", json_value_real(pair->saved_ns));
    return object;
}

json_t *weights_json_attention(const struct session *session)
{
    json_t *array = json_array();
    for (size_t i = 0; i < session->naive_attention_count; i++)
        json_array_append_new(array, attention_object(&session->naive_attention[i]));
    return array;
}

/* ---- phases ---- */

static json_t *phase_object(const struct phase_sum *sum)
{
    json_t *object = json_object();
    json_value_set(object, "steps", json_value_count(sum->steps));
    json_value_set(object, "rows_per_step", json_value_real(sum->rows_per_step));
    json_value_set(object, "time_ns", json_value_real(sum->time_ns));
    json_value_set(object, "share", json_value_real(sum->share));
    json_value_set(object, "gpu_time_ns", json_value_real(sum->gpu_time_ns));
    json_value_set(object, "gpu_share", json_value_real(sum->gpu_share));
    json_value_set(object, "flops", json_value_real(sum->flops));
    json_value_set(object, "bytes", json_value_real(sum->bytes));
    json_value_set(object, "intensity", json_value_real(sum->intensity));
    return object;
}

json_t *weights_json_phases(const struct session *session)
{
    json_t *object = json_object();
    for (int p = 0; p < PHASE_COUNT; p++)
        json_value_set(object, phase_name(p), phase_object(&session->phases[p]));
    return object;
}

json_t *weights_json_step(const struct session *session)
{
    return phase_object(&session->step);
}

json_t *weights_json_phase_calls(const struct operator_row *op)
{
    if (!op->calls_known)
        return json_null();
    json_t *object = json_object();
    for (int p = 0; p < PHASE_COUNT; p++)
        json_value_set(object, phase_name(p), json_value_count(op->phase_calls[p]));
    return object;
}
