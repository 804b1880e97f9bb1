/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and keys as JSON.md has them; lists are indexes into the session's own arrays. */
#include "report/books_json.h"

#include "report/json_value.h"

static json_t *range(struct predict_range value)
{
    json_t *array = json_array();
    json_array_append_new(array, json_value_real(value.low));
    json_array_append_new(array, json_value_real(value.high));
    return array;
}

static json_t *pair(const double value[2])
{
    return range((struct predict_range){value[0], value[1]});
}

static json_t *indexes(struct json_cut *cut, const struct books_list *list)
{
    return json_cut_indexes(cut, list->indexes, list->count);
}

static json_t *weights_of(const struct books *books, const struct books_row *row)
{
    json_t *array = json_array();
    for (size_t i = 0; i < books->forms.plain_count; i++)
        if (row->parts & books->forms.forms[i].parts)
            json_array_append_new(array, json_value_text(books->forms.forms[i].name));
    return array;
}

static void set_measured(json_t *object, const struct books_measured *measured)
{
    json_value_set(object, "executions_counted", json_value_real(measured->counted));
    json_value_set(object, "measured_bits", json_value_real(measured->bits));
    json_value_set(object, "measured_calls", json_value_real(measured->calls));
    json_value_set(object, "measured_bytes", json_value_real(measured->bytes));
    json_value_set(object, "m_p50", json_value_size(measured->m_p50));
    json_value_set(object, "time_ns", json_value_real(measured->time_ns));
    json_value_set(object, "t_roof_ns", json_value_real(measured->roof_ns));
    json_value_set(object, "times_roof", json_value_real(measured->times_roof));
}

static json_t *row_object(struct json_cut *cut, const struct books *books, const struct books_row *row, double routed)
{
    static const char *const kinds[] = {
        [WEIGHT_FORM_PLAIN] = "plain",
        [WEIGHT_FORM_FUSED] = "fused",
        [WEIGHT_FORM_HEADS] = "heads",
        [WEIGHT_FORM_PADDED] = "padded",
    };
    json_t *object = json_object();
    bool seen = row->operators.count > 0;
    json_value_set(object, "name", json_value_text(row->names));
    json_value_set(object, "model_weights", weights_of(books, row));
    json_value_set(object, "form", json_value_text(kinds[row->kind]));
    json_value_set(object, "experts", json_boolean(row->experts));
    json_value_set(object, "n", json_value_size(row->n));
    json_value_set(object, "k", json_value_size(row->k));
    json_value_set(object, "batch", json_value_size(row->batch));
    json_value_set(object, "bits", json_value_real(row->bits));
    json_value_set(object, "calls", range(books_narrow(row->calls, routed)));
    json_value_set(object, "bytes", range(books_narrow(row->bytes, routed)));
    json_value_set(object, "seen", json_boolean(seen));
    json_value_set(object, "weights", indexes(cut, &row->weights));
    json_value_set(object, "operators", indexes(cut, &row->operators));
    json_value_set(object, "executions", json_value_real(row->executions));
    set_measured(object, &row->measured);
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++) {
        json_t *of = row->of[p].counted > 0 ? json_object() : json_null();
        if (row->of[p].counted > 0)
            set_measured(of, &row->of[p]);
        json_value_set(object, phase_name(p), of);
    }
    return object;
}

static json_t *named_object(const struct books_named *named)
{
    json_t *object = json_object();
    json_value_set(object, "kernels", json_value_count(named->kernels));
    json_value_set(object, "time_ns", json_value_real(named->time_ns));
    json_value_set(object, "decode_step_time_ns", json_value_real(named->decode_ns));
    return object;
}

static json_t *attention_object(const struct books *books, const struct books_attention *attention)
{
    json_t *object = named_object(&attention->named);
    int64_t context = books->options.context, batch = attention->batch;
    json_value_set(object, "read", named_object(&attention->read));
    json_value_set(object, "decode_steps", json_value_real(attention->decode_steps));
    json_value_set(object, "naive_times", json_value_count(attention->naive_times));
    json_value_set(object, "naive_time_ns", json_value_real(attention->naive_ns));
    json_value_set(object, "context", context ? json_value_size(context) : json_null());
    json_value_set(object, "batch", batch ? json_value_size(batch) : json_null());
    json_value_set(object, "decode_step_t_roof_ns", json_value_real(attention->roof_ns));
    return object;
}

static json_t *device_object(struct json_cut *cut, const struct books *books, const struct books_device *device)
{
    json_t *object = json_object(), *rows = json_array();
    const size_t items = json_cut_items(cut, rows, device->row_count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(rows, row_object(cut, books, &device->rows[i], device->routed[PHASE_UNKNOWN]));
    json_value_set(object, "device", json_value_size(device->device));
    json_value_set(object, "steps", json_value_real(device->steps));
    json_value_set(object, "steps_source", json_value_text(books_steps_source_name(device->steps_source)));
    json_value_set(object, "passes", json_value_real(device->passes));
    json_value_set(object, "passes_share", json_value_real(device->passes_share));
    json_value_set(object, "rows", rows);
    json_value_set(object, "extra_weights", indexes(cut, &device->extra_weights));
    json_value_set(object, "extra_grouped", indexes(cut, &device->extra_grouped));
    json_value_set(object, "extra_bytes", json_value_real(device->extra_bytes));
    json_value_set(object, "own_bytes", range(device->own_bytes));
    json_value_set(object, "bytes", json_value_real(device->bytes));
    json_value_set(object, "parameters", json_value_real(device->parameters));
    json_value_set(object, "share", pair(device->share));
    json_value_set(object, "parameter_share", pair(device->parameter_share));
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++) {
        json_t *phase = json_object();
        json_value_set(phase, "steps", json_value_real(device->steps_of[p]));
        json_value_set(phase, "share", pair(device->share_of[p]));
        json_value_set(object, phase_name(p), phase);
    }
    json_value_set(object, "shape_share", json_value_real(device->shape_share));
    json_value_set(object, "bits_differ", json_boolean(device->bits_differ));
    json_value_set(object, "attention", attention_object(books, &device->attention));
    json_value_set(object, "gemms_by_name", named_object(&device->gemms));
    return object;
}

static json_t *checkpoint_object(const struct books *books)
{
    static const char *const verdicts[] = {
        [CHECKPOINT_EQUAL] = "equal",
        [CHECKPOINT_DIFFERENT] = "different",
        [CHECKPOINT_NOT_COMPARABLE] = "not_comparable",
    };
    const struct checkpoint_comparison *c = &books->checkpoint;
    if (!books->checkpoint_path)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "path", json_value_text(books->checkpoint_path));
    bool unread = books->checkpoint_problem.text[0];
    json_value_set(object, "problem", json_value_text(unread ? books->checkpoint_problem.text : NULL));
    if (unread)
        return object;
    json_value_set(object, "kind", json_value_text(checkpoint_kind_name(c->kind)));
    json_value_set(object, "verdict", json_value_text(verdicts[c->verdict]));
    json_value_set(object, "parameters", json_value_size(c->parameters));
    json_value_set(object, "expected", json_value_size(c->expected));
    json_value_set(object, "bytes", json_value_real(c->bytes));
    return object;
}

json_t *books_json(struct json_cut *cut, const struct books *books)
{
    json_t *object = json_object(), *devices = json_array();
    const size_t items = json_cut_items(cut, devices, books->device_count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(devices, device_object(cut, books, &books->devices[i]));
    json_value_set(object, "config", json_value_text(books->config_path));
    json_value_set(object, "model_type", json_value_text(books->config.model_type));
    json_value_set(object, "tensor_parallel", json_value_size(books->options.model.tensor_parallel));
    json_value_set(object, "tied", json_boolean(books->config.tied));
    json_value_set(object, "bytes", range(books->model_bytes));
    json_value_set(object, "parameters", range(books->model_parameters));
    json_value_set(object, "checkpoint", checkpoint_object(books));
    json_value_set(object, "own_bytes", range(books->own_bytes));
    json_value_set(object, "own_source", json_value_text(books->own_of_checkpoint ? "checkpoint" : "config"));
    json_value_set(object, "devices", devices);
    json_value_set(object, "share_of_all_devices", json_value_real(books->all_share));
    json_value_set(object, "fits_tensor_parallel",
                   books->fits_better ? json_value_size(books->fits_better) : json_null());
    return object;
}
