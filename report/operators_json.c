/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and keys as JSON.md has them. Names are demangled for the rows that are there alone. */
#include "report/operators_json.h"

#include <math.h>
#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/launch_groups.h"
#include "report/device_json.h"
#include "report/json_value.h"
#include "report/launch_json.h"
#include "report/model_books_json.h"
#include "report/timing_json.h"
#include "report/weights_json.h"

/* ---- operators ---- */

static json_t *operation_or_null(uint8_t operation)
{
    static const char *const names[] = {"N", "T", "C"};
    return json_value_text(operation < sizeof names / sizeof names[0] ? names[operation] : NULL);
}

static json_t *cublas_object(const struct operator_row *op)
{
    if (!op->of_call)
        return json_null();
    json_t *object = json_object();
    json_value_set(object, "m", json_value_size(op->signature.m));
    json_value_set(object, "n", json_value_size(op->signature.n));
    json_value_set(object, "k", json_value_size(op->signature.k));
    json_value_set(object, "transa", operation_or_null(op->signature.trans_a));
    json_value_set(object, "transb", operation_or_null(op->signature.trans_b));
    return object;
}

static json_t *flags_array(unsigned flags)
{
    json_t *array = json_array();
    for (int i = 0; i < ROOFLINE_FLAG_COUNT; i++)
        if (flags & 1u << i)
            json_array_append_new(array, json_string(roofline_flag_name(1u << i)));
    return array;
}

void operators_json_set_shape(json_t *object, const struct operator_row *op)
{
    static const char *const keys[] = {"type_a", "type_b", "type_c", "type_d"};
    static const char *const weights[] = {[WORK_WEIGHT_A] = "a", [WORK_WEIGHT_B] = "b"};
    const bool sizes = op->of_call || (launch_of_operator_is_read(op) && op->launch->kind == LAUNCH_MATMUL);
    json_value_set(object, "m", json_value_size(sizes ? op->work.m : TRACE_UNKNOWN));
    json_value_set(object, "n", json_value_size(sizes ? op->work.n : TRACE_UNKNOWN));
    json_value_set(object, "k", json_value_size(sizes ? op->work.k : TRACE_UNKNOWN));
    json_value_set(object, "batch", json_value_size(sizes ? op->work.batch : TRACE_UNKNOWN));
    json_value_set(object, "weight", json_value_text(weights[op->work.weight]));
    json_value_set(object, "cublas", cublas_object(op));
    for (int i = 0; i < 4; i++)
        json_value_set(object, keys[i], json_value_text(sizes ? number_format_name(op->work.type[i]) : NULL));
    const bool computes = op->of_call || launch_of_operator_is_read(op);
    json_value_set(object, "type_compute", json_value_text(computes ? number_type_name(op->work.type_compute) : NULL));
}

bool operators_json_executed(const struct operator_row *op)
{
    return op->timed && (op->of_call || launch_of_operator_is_read(op));
}

static json_t *display_name_or_null(const struct operator_row *op, struct demangler *demangler)
{
    if (!op->name)
        return json_null();
    char *name = demangler_name(demangler, op->name);
    json_t *value = json_value_text(name);
    free(name);
    return value;
}

static json_t *family_or_null(const struct operator_row *op)
{
    bool known = !op->of_call && op->family != KERNEL_FAMILY_UNKNOWN;
    return json_value_text(known ? kernel_family_name(op->family) : NULL);
}

static json_t *operator_object(const struct column_source *source, struct demangler *demangler,
                               const struct operator_row *op)
{
    const struct roofline *roofline = &op->roofline;
    const bool rates = operator_has_shape(op);
    json_t *object = json_object();
    json_value_set(object, "kind", json_value_text(operator_kind_name(op->kind)));
    json_value_set(object, "family", family_or_null(op));
    json_value_set(object, "role", json_value_text(op->of_call ? NULL : kernel_role_name(op->role)));
    json_value_set(object, "name", json_value_text(op->name));
    json_value_set(object, "display_name", display_name_or_null(op, demangler));
    json_value_set(object, "device", json_value_size(op->device));
    operators_json_set_shape(object, op);
    json_value_set(object, "calls", json_value_count_if(op->calls_known, op->calls));
    json_value_set(object, "executions", json_value_count_if(operators_json_executed(op), op->executions));
    json_value_set(object, "kernels", json_value_count_if(op->timed, op->kernels));
    json_value_set(object, "blocks", json_value_count_if(op->blocks, op->blocks));
    json_value_set(object, "bandwidth_fill", json_value_real(op->bandwidth_fill));
    json_value_set(object, "time_ns", json_value_count_if(op->timed && op->kernels, op->time_ns));
    json_value_set(object, "time_p50_ns", json_value_real(duration_histogram_at(&op->durations, 0.5)));
    json_value_set(object, "time_p99_ns", json_value_real(duration_histogram_at(&op->durations, 0.99)));
    json_value_set(object, "time_percentile_error", json_value_real(op->durations.total ? DURATION_ERROR : NAN));
    json_value_set(object, "share", op->timed && op->kernels ? json_value_real(op->share) : json_null());
    json_value_set(object, "flops", json_value_real(op->flops));
    json_value_set(object, "bytes", json_value_real(op->bytes));
    json_value_set(object, "intensity", json_value_real(roofline->intensity));
    json_value_set(object, "ridge", json_value_real(roofline->ridge));
    json_value_set(object, "m_star", json_value_real(op->rows_at_ridge));
    json_value_set(object, "t_roof_ns", json_value_real(op->t_roof_ns));
    json_value_set(object, "bound", json_value_text(bound_name(roofline->bound)));
    json_value_set(object, "flags", flags_array(roofline->flags));
    json_value_set(object, "above_roof_reason", json_value_text(above_roof_name(roofline->above_roof)));
    json_value_set(object, "flops_per_second", rates ? json_value_real(roofline->flops_per_second) : json_null());
    json_value_set(object, "bytes_per_second", rates ? json_value_real(roofline->bytes_per_second) : json_null());
    json_value_set(object, "roof_fraction", json_value_real(roofline->roof_fraction));
    json_value_set(object, "shape_source", json_value_text(provenance_name(op->shape_source)));
    json_value_set(object, "phase_calls", weights_json_phase_calls(op));
    json_value_set(object, "gain_ns", json_value_real(op->gain_ns));
    json_value_set(object, "gain_share", json_value_real(columns_gain_share(source, op)));
    json_value_set(object, "roof", json_value_size(device_json_roof_of(source->session, op)));
    launch_json_set_operator(object, op);
    timing_json_set_operator(object, op);
    return object;
}

json_t *operators_json(struct json_cut *cut, const struct column_source *source, struct demangler *demangler)
{
    const struct session *session = source->session;
    const size_t rows = json_cut_rows(cut), count = rows < session->operator_count ? rows : session->operator_count;
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *object = operator_object(source, demangler, &session->operators[i]);
        if (source->model_books)
            json_value_set(object, "model_weights", model_books_json_names(source->model_books, i));
        json_array_append_new(array, object);
    }
    return array;
}

/* ---- kernels ---- */

static json_t *kernel_object(const struct column_source *source, struct demangler *demangler,
                             const struct kernel_row *row)
{
    const struct operator_row *op = &row->op;
    const bool timed = op->timed && op->kernels;
    json_t *object = json_object();
    json_value_set(object, "kind", json_value_text(row->kinds ? NULL : operator_kind_name(op->kind)));
    json_value_set(object, "family", family_or_null(op));
    json_value_set(object, "role", json_value_text(kernel_role_name(op->role)));
    json_value_set(object, "name", json_value_text(op->name));
    json_value_set(object, "display_name", display_name_or_null(op, demangler));
    json_value_set(object, "device", json_value_size(op->device));
    json_value_set(object, "calls", json_value_count_if(op->calls_known, op->calls));
    json_value_set(object, "kernels", json_value_count_if(op->timed, op->kernels));
    json_value_set(object, "time_ns", json_value_count_if(timed, op->time_ns));
    json_value_set(object, "share", json_value_real(timed ? op->share : NAN));
    json_value_set(object, "roof_fraction", json_value_real(timed ? op->roofline.roof_fraction : NAN));
    json_value_set(object, "gain_ns", json_value_real(timed ? op->gain_ns : NAN));
    json_value_set(object, "gain_share", json_value_real(columns_gain_share(source, op)));
    json_value_set(object, "shapes", json_value_count(row->shapes));
    json_value_set(object, "bound", json_value_text(row->mixed ? NULL : bound_name(op->roofline.bound)));
    json_value_set(object, "mixed", json_boolean(row->mixed));
    json_value_set(object, "operators", json_array());
    return object;
}

static const struct kernel_row *kernel_at(const struct operator_rows *rows, size_t i)
{
    return rows->rows[i];
}

/* Each operator's place to the kernel that it is merged into, as far as both are there. */
static void set_operators(struct json_cut *cut, json_t *kernels, const struct session *session,
                          const struct operator_rows *rows)
{
    const size_t count = json_array_size(kernels);
    size_t *items = allocate(count + 1, sizeof *items), left = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *list = json_object_get(json_array_get(kernels, i), "operators");
        items[i] = json_cut_items(cut, list, kernel_at(rows, i)->shapes);
        left += items[i];
    }
    for (size_t i = 0; i < session->operator_count && left; i++) {
        const size_t place = rows->merged[rows->kernel_of[i]].place;
        if (place >= count || !items[place])
            continue;
        items[place]--;
        left--;
        json_array_append_new(json_object_get(json_array_get(kernels, place), "operators"), json_value_count(i));
    }
    free(items);
}

json_t *operators_json_kernels(struct json_cut *cut, const struct column_source *source,
                               const struct operator_rows *rows, struct demangler *demangler)
{
    const size_t count = json_cut_rows(cut) < rows->count ? json_cut_rows(cut) : rows->count;
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, kernel_object(source, demangler, kernel_at(rows, i)));
    set_operators(cut, array, source->session, rows);
    return array;
}
