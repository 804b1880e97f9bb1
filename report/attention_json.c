/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and keys as JSON.md has them; operators are named by their index. */
#include "report/attention_json.h"

#include <math.h>

#include "report/device_json.h"
#include "report/json_value.h"

/* ---- scores that go through memory ---- */

static json_t *naive_object(const struct naive_attention *pair)
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

json_t *attention_json_naive(struct json_cut *cut, const struct session *session)
{
    json_t *array = json_array();
    const size_t items = json_cut_items(cut, array, session->naive_attention_count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(array, naive_object(&session->naive_attention[i]));
    return array;
}

/* ---- by geometry ---- */

static json_t *length_object(const struct attention_length *length)
{
    json_t *object = json_object();
    json_value_set(object, "queries", json_value_size(length->queries));
    json_value_set(object, "keys", json_value_size(length->keys));
    json_value_set(object, "keys_at_most", json_boolean(length->keys_at_most));
    json_value_set(object, "sequences", json_value_size(length->sequences));
    json_value_set(object, "phase", json_value_text(phase_name(length->phase)));
    json_value_set(object, "executions", json_value_number(length->executions));
    json_value_set(object, "time_ns", json_value_number(length->time_ns));
    json_value_set(object, "intensity", json_value_real(length->intensity));
    json_value_set(object, "intensity_kv", json_value_real(length->intensity_kv));
    json_value_set(object, "bound", json_value_text(bound_name(length->bound)));
    return object;
}

static json_t *lengths_array(struct json_cut *cut, const struct attention_row *row)
{
    json_t *array = json_array();
    const size_t items = json_cut_items(cut, array, row->length_count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(array, length_object(&row->lengths[i]));
    return array;
}

static json_t *attention_object(struct json_cut *cut, const struct session *session, const struct attention_row *row)
{
    json_t *object = json_object();
    json_value_set(object, "device", json_value_size(row->device));
    json_value_set(object, "source", json_value_text(row->of_model ? "model" : "launches"));
    json_value_set(object, "n_q", json_value_size(row->n_q));
    json_value_set(object, "n_kv", json_value_size(row->n_kv));
    json_value_set(object, "d", json_value_size(row->d));
    json_value_set(object, "d_v", json_value_size(row->d_v));
    json_value_set(object, "group", json_value_real(row->group));
    json_value_set(object, "q_bits", json_value_real(row->q_bits));
    json_value_set(object, "k_bits", json_value_real(row->k_bits));
    json_value_set(object, "v_bits", json_value_real(row->v_bits));
    json_value_set(object, "o_bits", json_value_real(row->o_bits));
    json_value_set(object, "roof", json_value_size(device_json_roof(session, row->device, row->path)));
    json_value_set(object, "ridge", json_value_real(row->ridge));
    json_value_set(object, "l_ridge_kv", json_value_real(row->ridge_length_kv));
    json_value_set(object, "l_ridge", json_value_real(row->ridge_length));
    json_value_set(object, "l_star", json_value_real(row->crossover));
    json_value_set(object, "layer_parameters", json_value_number(row->layer_parameters));
    json_value_set(object, "operators", json_cut_indexes(cut, row->operators, row->operator_count));
    json_value_set(object, "executions", json_value_count_if(!row->of_model, row->executions));
    json_value_set(object, "time_ns", json_value_count_if(row->timed, row->time_ns));
    json_value_set(object, "lengths", lengths_array(cut, row));
    return object;
}

json_t *attention_json(struct json_cut *cut, const struct session *session, const struct attention_rows *rows)
{
    json_t *array = json_array();
    const size_t items = json_cut_items(cut, array, rows->count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(array, attention_object(cut, session, &rows->items[i]));
    return array;
}
