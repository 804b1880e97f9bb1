/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and keys as JSON.md has them. */
#include "report/model_books_json.h"

#include <math.h>

#include "report/json_value.h"

static json_t *range(struct predict_range value)
{
    json_t *array = json_array();
    json_array_append_new(array, json_value_real(value.low));
    json_array_append_new(array, json_value_real(value.high));
    return array;
}

static json_t *range_of_step(struct predict_range value, double steps)
{
    return range((struct predict_range){value.low / steps, value.high / steps});
}

static json_t *names_of(const struct model_books_class *class)
{
    json_t *array = json_array();
    for (size_t i = 0; i < class->name_count; i++)
        json_array_append_new(array, json_value_text(class->names[i].name));
    return array;
}

json_t *model_books_json_names(const struct model_books *books, size_t op)
{
    const char *names[MODEL_BOOKS_NAMES_MOST];
    const size_t count = books ? model_books_names(books, op, names) : 0;
    json_t *array = count ? json_array() : json_null();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_value_text(names[i]));
    return array;
}

static json_t *measured_object(const struct model_books_measured *measured, struct predict_range own, double steps)
{
    json_t *object = json_object();
    json_value_set(object, "model_matrices", range(own));
    json_value_set(object, "matrices", range_of_step(measured->matrices, steps));
    json_value_set(object, "bytes", range_of_step(measured->bytes, steps));
    json_value_set(object, "m_p50", json_value_size(measured->m_p50));
    json_value_set(object, "time_ns", json_value_real(measured->time_ns / steps));
    json_value_set(object, "t_roof_ns", json_value_real(measured->roof_ns / steps));
    return object;
}

static json_t *class_object(struct json_cut *cut, const struct model_books *books,
                            const struct model_books_class *class)
{
    json_t *object = json_object(), *tensors = json_array();
    for (size_t i = 0; i < class->name_count; i++)
        json_array_append_new(tensors, json_value_size(class->names[i].tensors));
    json_value_set(object, "names", names_of(class));
    json_value_set(object, "tensors", tensors);
    json_value_set(object, "n", json_value_size(class->n));
    json_value_set(object, "k", json_value_size(class->k));
    json_value_set(object, "format", json_value_text(class->format->name));
    json_value_set(object, "matrix_bytes", json_value_real(class->matrix_bytes));
    json_value_set(object, "experts", class->experts ? json_value_size(class->experts) : json_null());
    json_value_set(object, "operators", json_cut_indexes(cut, class->operators, class->operator_count));
    json_value_set(object, "cut", json_boolean(class->cut));
    json_value_set(object, "other_format", json_boolean(class->other_format));
    json_value_set(object, "run_matrices", range(class->measured[PHASE_UNKNOWN].matrices));
    json_value_set(object, "run_bytes", range(class->measured[PHASE_UNKNOWN].bytes));
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++) {
        const double steps = books->phases[p].steps;
        json_value_set(object, phase_name(p),
                       steps > 0 ? measured_object(&class->measured[p], class->own[p], steps) : json_null());
    }
    return object;
}

static json_t *phase_object(const struct model_books_phase *phase)
{
    json_t *object = json_object();
    json_value_set(object, "steps", json_value_real(phase->steps));
    json_value_set(object, "rows_per_step", json_value_real(phase->rows));
    json_value_set(object, "model_bytes", range(phase->own));
    json_value_set(object, "measured_bytes", range_of_step(phase->bytes, phase->steps > 0 ? phase->steps : NAN));
    json_value_set(object, "run_bytes", range(phase->bytes));
    json_value_set(object, "verdict", json_value_text(model_books_verdict_name(phase->verdict)));
    return object;
}

static json_t *device_object(const struct model_books *books, const struct model_books_device *device)
{
    json_t *object = json_object();
    json_value_set(object, "device", json_value_size(device->device));
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++) {
        const double steps = books->phases[p].steps;
        json_value_set(object, phase_name(p), range_of_step(device->bytes[p], steps > 0 ? steps : NAN));
    }
    return object;
}

static void set_model(json_t *object, const struct gguf_model *model)
{
    bool tied = false;
    for (size_t i = 0; i < model->count; i++)
        tied |= model->matrices[i].tied;
    json_value_set(object, "architecture",
                   json_value_text(model->facts.architecture[0] ? model->facts.architecture : NULL));
    json_value_set(object, "name", json_value_text(model->facts.name[0] ? model->facts.name : NULL));
    json_value_set(object, "layers", json_value_size(model->facts.layers));
    json_value_set(object, "experts", json_value_size(model->facts.experts));
    json_value_set(object, "experts_used", json_value_size(model->facts.experts_used));
    json_value_set(object, "tied", json_boolean(tied));
    json_value_set(object, "table_bytes", json_value_real(model->table_bytes));
    json_value_set(object, "files_missing", json_value_count(model->files_missing));
}

json_t *model_books_json(struct json_cut *cut, const struct model_books *books)
{
    json_t *object = json_object(), *classes = json_array(), *devices = json_array();
    const size_t items = json_cut_items(cut, classes, books->class_count);
    for (size_t i = 0; i < items; i++)
        json_array_append_new(classes, class_object(cut, books, &books->classes[i]));
    for (size_t i = 0; i < books->device_count; i++)
        json_array_append_new(devices, device_object(books, &books->devices[i]));
    json_value_set(object, "path", json_value_text(books->path));
    set_model(object, &books->model);
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++)
        json_value_set(object, phase_name(p), phase_object(&books->phases[p]));
    json_value_set(object, "classes", classes);
    json_value_set(object, "devices", devices);
    json_value_set(object, "layers_seen", json_value_size(books->layers_seen));
    json_value_set(object, "extra_operators", json_cut_indexes(cut, books->extra, books->extra_count));
    return object;
}
