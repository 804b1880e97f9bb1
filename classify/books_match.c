/* SPDX-License-Identifier: Apache-2.0 */
/* Which forms are in use, which of them share a shape, what was measured of each shape, and the sums. */
#include "classify/books_match.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/session.h"

/* ---- shapes ---- */

/* Different matrices that one call reads. */
static double matrices_of(const struct session *session, const struct weight_row *weight)
{
    const struct gemm_model *model = &session->operators[weight->operators[0]].work.model;
    return model->batch > 0 ? model->operand[GEMM_RIGHT].matrices : NAN;
}

static bool has_shape(const struct session *session, const struct weight_row *weight, const struct weight_form *form)
{
    if (weight->n != form->n || weight->k != form->k || weight->operator_count == 0)
        return false;
    return form->experts || matrices_of(session, weight) == (double)form->batch;
}

static bool is_seen(const struct session *session, int device, const struct weight_form *form)
{
    for (size_t w = 0; w < session->weight_count; w++)
        if (session->weights[w].device == device && has_shape(session, &session->weights[w], form))
            return true;
    return false;
}

static bool same_shape(const struct weight_form *a, const struct weight_form *b)
{
    return a->n == b->n && a->k == b->k && a->batch == b->batch && a->experts == b->experts;
}

/* ---- which forms are in use ---- */

/* A plain form's shape may be another's too, and a joined one's may be that of a plain one: then what else was seen
 * decides. A joined form is in use where its shape was seen, and no plain form has that shape, or not all of its own parts
 * were seen apart. */
struct use {
    bool seen[WEIGHT_FORMS_MOST], used[WEIGHT_FORMS_MOST];
    uint32_t parts_seen;  /* plain forms whose shape was seen */
    uint32_t parts_other; /* in a form in use that is not plain */
};

static bool has_plain_shape(const struct weight_forms *forms, const struct weight_form *form)
{
    for (size_t i = 0; i < forms->plain_count; i++)
        if (same_shape(form, &forms->forms[i]))
            return true;
    return false;
}

/* A plain form that was joined stays where its shape is its own: both ways may be in one run. */
static bool shares_shape(const struct weight_forms *forms, const struct use *use, size_t plain)
{
    for (size_t i = 0; i < forms->plain_count; i++)
        if (i != plain && !(use->parts_other & forms->forms[i].parts) &&
            same_shape(&forms->forms[i], &forms->forms[plain]))
            return true;
    return false;
}

static void find_use(const struct weight_forms *forms, const struct session *session, int device, struct use *use)
{
    *use = (struct use){0};
    for (size_t i = 0; i < forms->count; i++) {
        use->seen[i] = is_seen(session, device, &forms->forms[i]);
        if (i < forms->plain_count && use->seen[i])
            use->parts_seen |= forms->forms[i].parts;
    }
    for (size_t i = forms->plain_count; i < forms->count; i++) {
        const struct weight_form *form = &forms->forms[i];
        bool apart = (form->parts & ~use->parts_seen) == 0;
        use->used[i] = use->seen[i] && (!has_plain_shape(forms, form) || !apart);
        if (use->used[i])
            use->parts_other |= form->parts;
    }
    for (size_t i = 0; i < forms->plain_count; i++) {
        bool joined = use->parts_other & forms->forms[i].parts;
        use->used[i] = !joined || (use->seen[i] && !shares_shape(forms, use, i));
    }
}

double books_shape_share(const struct weight_forms *forms, const struct session *session, int device)
{
    struct use use;
    double seen = 0, all = 0;
    uint32_t parts = 0;
    find_use(forms, session, device, &use);
    for (size_t i = 0; i < forms->count; i++)
        if (use.used[i] && use.seen[i])
            parts |= forms->forms[i].parts;
    for (size_t i = 0; i < forms->plain_count; i++) {
        double bytes = weight_form_bytes(&forms->forms[i]).high;
        all += bytes;
        seen += parts & forms->forms[i].parts ? bytes : 0;
    }
    return all > 0 ? seen / all : NAN;
}

/* ---- rows ---- */

static void add_range(struct predict_range *sum, struct predict_range part, double times)
{
    sum->low += times * part.low;
    sum->high += times * part.high;
}

static void join_names(struct books_row *row, const char *name)
{
    char *names = NULL;
    if (asprintf(&names, "%s%s%s", row->names ? row->names : "", row->names ? ", " : "", name) < 0)
        abort();
    free(row->names);
    row->names = names;
}

static void add_form(struct books_row *row, const struct weight_form *form)
{
    join_names(row, form->name);
    if (form->kind == WEIGHT_FORM_PLAIN)
        row->kind = WEIGHT_FORM_PLAIN;
    row->parts |= form->parts;
    add_range(&row->calls, form->calls, 1);
    add_range(&row->bytes, weight_form_bytes(form), 1);
    add_range(&row->parameters, form->calls, (double)form->n * (double)form->k * (double)form->batch);
    row->bits = row->bytes.high * 8 / row->parameters.high;
}

static struct books_row *row_of(struct books_device *device, size_t *capacity, const struct weight_form *form)
{
    for (size_t i = 0; i < device->row_count; i++) {
        struct books_row *row = &device->rows[i];
        if (row->n == form->n && row->k == form->k && row->batch == form->batch && row->experts == form->experts)
            return row;
    }
    device->rows = allocate_grow(device->rows, device->row_count, capacity, sizeof *device->rows);
    struct books_row *row = &device->rows[device->row_count++];
    *row = (struct books_row){
        .n = form->n,
        .k = form->k,
        .batch = form->batch,
        .experts = form->experts,
        .kind = form->kind,
        .m_p50 = -1,
        .measured_bits = NAN,
        .times_roof = NAN,
        .time_ns = NAN,
        .roof_ns = NAN,
    };
    return row;
}

static void make_rows(const struct weight_forms *forms, const struct use *use, struct books_device *device)
{
    size_t capacity = 0;
    for (size_t i = 0; i < forms->count; i++)
        if (use->used[i])
            add_form(row_of(device, &capacity, &forms->forms[i]), &forms->forms[i]);
}

/* A weight goes to one row: that of the most bytes, where experts and others have one shape. */
static struct books_row *row_of_weight(const struct session *session, const struct weight_row *weight,
                                       struct books_device *device)
{
    struct books_row *found = NULL;
    for (size_t i = 0; i < device->row_count; i++) {
        struct books_row *row = &device->rows[i];
        struct weight_form shape = {.n = row->n, .k = row->k, .batch = row->batch, .experts = row->experts};
        if (has_shape(session, weight, &shape) && (!found || row->bytes.high > found->bytes.high))
            found = row;
    }
    return found;
}

static void match_weights(const struct session *session, struct books_device *device)
{
    size_t extra_capacity = 0, *capacities = allocate(device->row_count + 1, sizeof *capacities);
    for (size_t w = 0; w < session->weight_count; w++) {
        const struct weight_row *weight = &session->weights[w];
        if (weight->device != device->device || !weight->operator_count)
            continue;
        struct books_row *row = row_of_weight(session, weight, device);
        if (!row) {
            device->extras =
                allocate_grow(device->extras, device->extra_count, &extra_capacity, sizeof *device->extras);
            device->extras[device->extra_count++] = w;
            continue;
        }
        size_t *capacity = &capacities[row - device->rows];
        row->weights = allocate_grow(row->weights, row->weight_count, capacity, sizeof *row->weights);
        row->weights[row->weight_count++] = w;
    }
    free(capacities);
}

/* ---- steps ---- */

static double executions_of(const struct operator_row *op)
{
    return (double)(op->calls > op->executions ? op->calls : op->executions);
}

static double calls_in_steps(const struct operator_row *op)
{
    return (double)op->phase_calls[PHASE_PREFILL] + (double)op->phase_calls[PHASE_DECODE];
}

static double steps_of(const struct session *session, int device)
{
    double steps = 0;
    for (int p = PHASE_UNKNOWN + 1; device >= 0 && p < PHASE_COUNT; p++)
        steps += (double)session->devices[device].steps[p];
    return steps;
}

/* Experts are routed to, and a weight that is multiplied in two forms is no measure of either. */
static double passes_of_row(const struct books_row *row)
{
    return row->weight_count && !row->experts ? (double)row->executions / row->calls.high : NAN;
}

static void find_passes(struct books_device *device)
{
    double all = 0, best = 0;
    device->passes = NAN;
    for (size_t i = 0; i < device->row_count; i++) {
        double passes = passes_of_row(&device->rows[i]), bytes = 0;
        if (isnan(passes))
            continue;
        all += device->rows[i].bytes.high;
        for (size_t j = 0; j < device->row_count; j++)
            if (passes_of_row(&device->rows[j]) == passes)
                bytes += device->rows[j].bytes.high;
        if (bytes > best) {
            best = bytes;
            device->passes = passes;
        }
    }
    device->passes_share = all > 0 ? best / all : NAN;
    if (!(device->passes_share > 0.5))
        device->passes = NAN;
}

static void find_steps(const struct session *session, struct books_device *device)
{
    double steps = steps_of(session, device->device);
    find_passes(device);
    device->steps = NAN;
    if (steps > 0) {
        device->steps = steps;
        device->steps_source = BOOKS_STEPS_PHASES;
    } else if (!isnan(device->passes)) {
        device->steps = device->passes;
        device->steps_source = BOOKS_STEPS_CALLS;
    }
}

/* ---- what was measured ---- */

static double counted_of(const struct books_device *device, const struct operator_row *op)
{
    return device->steps_source == BOOKS_STEPS_PHASES ? calls_in_steps(op) : executions_of(op);
}

static double weight_bytes_of(const struct operator_row *op)
{
    struct gemm_work work;
    gemm_work(&op->work.model, &work);
    return work.operand_bytes[GEMM_RIGHT];
}

struct rows_executed {
    int64_t m;
    double times;
};

static int compare_rows_executed(const void *a, const void *b)
{
    const struct rows_executed *x = a, *y = b;
    return (x->m > y->m) - (x->m < y->m);
}

/* Nearest rank. */
static int64_t median(struct rows_executed *rows, size_t count)
{
    double all = 0, seen = 0;
    qsort(rows, count, sizeof *rows, compare_rows_executed);
    for (size_t i = 0; i < count; i++)
        all += rows[i].times;
    for (size_t i = 0; i < count; i++) {
        seen += rows[i].times;
        if (seen >= ceil(all / 2))
            return rows[i].m;
    }
    return -1;
}

static void count_executions(const struct session *session, struct books_row *row)
{
    for (size_t w = 0; w < row->weight_count; w++) {
        const struct weight_row *weight = &session->weights[row->weights[w]];
        for (size_t i = 0; i < weight->operator_count; i++) {
            const struct operator_row *op = &session->operators[weight->operators[i]];
            double matrices = row->experts ? op->work.model.operand[GEMM_RIGHT].matrices : 1;
            row->executions += (uint64_t)(executions_of(op) * matrices);
        }
    }
}

static void find_median(const struct session *session, struct books_row *row)
{
    struct rows_executed *rows = NULL;
    size_t count = 0, capacity = 0;
    for (size_t w = 0; w < row->weight_count; w++) {
        const struct weight_row *weight = &session->weights[row->weights[w]];
        for (size_t i = 0; i < weight->operator_count; i++) {
            const struct operator_row *op = &session->operators[weight->operators[i]];
            rows = allocate_grow(rows, count, &capacity, sizeof *rows);
            rows[count++] = (struct rows_executed){op->work.m, executions_of(op)};
        }
    }
    if (count)
        row->m_p50 = median(rows, count);
    free(rows);
}

/* Times are those of all executions, by the part of them that is counted. */
static void measure_row(const struct session *session, const struct books_device *device, struct books_row *row)
{
    double counted = 0, bytes = 0, parameters = 0, time = 0, roof = 0, all_time = 0, all_roof = 0;
    for (size_t w = 0; w < row->weight_count; w++) {
        const struct weight_row *weight = &session->weights[row->weights[w]];
        for (size_t i = 0; i < weight->operator_count; i++) {
            const struct operator_row *op = &session->operators[weight->operators[i]];
            double times = counted_of(device, op), executions = executions_of(op);
            double matrices = op->work.model.operand[GEMM_RIGHT].matrices;
            double part = executions > 0 ? times / executions : 0;
            bool timed = op->timed && op->kernels;
            counted += times * (row->experts ? matrices : 1);
            bytes += times * weight_bytes_of(op);
            parameters += times * matrices * (double)row->n * (double)row->k;
            time += timed ? part * (double)op->time_ns : NAN;
            roof += part * op->t_roof_ns;
            all_time += timed ? (double)op->time_ns : NAN;
            all_roof += op->t_roof_ns;
        }
    }
    row->counted = (uint64_t)counted;
    row->measured_calls = counted / device->steps;
    row->measured_bytes = bytes / device->steps;
    row->measured_parameters = parameters / device->steps;
    row->measured_bits = parameters > 0 ? 8 * bytes / parameters : NAN;
    row->time_ns = time / device->steps;
    row->roof_ns = roof / device->steps;
    row->times_roof = all_roof > 0 ? all_time / all_roof : NAN;
}

/* ---- sums ---- */

static int compare_rows(const void *a, const void *b)
{
    const struct books_row *x = a, *y = b;
    if ((x->weight_count > 0) != (y->weight_count > 0))
        return x->weight_count > 0 ? -1 : 1;
    if (x->bytes.high != y->bytes.high)
        return x->bytes.high < y->bytes.high ? 1 : -1;
    return (x->n < y->n) - (x->n > y->n);
}

static void add_up(const struct books *books, const struct session *session, struct books_device *device)
{
    for (size_t i = 0; i < device->row_count; i++) {
        const struct books_row *row = &device->rows[i];
        if (!row->weight_count)
            continue;
        device->seen_count++;
        device->bytes += row->measured_bytes;
        device->parameters += row->measured_parameters;
        device->bits_differ |= fabs(row->measured_bits - row->bits) > 0.01 * row->bits;
    }
    if (isnan(device->steps) && device->seen_count) /* of nothing it is known what a step reads */
        device->bytes = device->parameters = NAN;
    device->share[0] = device->bytes / books->model_bytes.high;
    device->share[1] = device->bytes / books->model_bytes.low;
    device->parameter_share[0] = device->parameters / books->model_parameters.high;
    device->parameter_share[1] = device->parameters / books->model_parameters.low;
    for (size_t i = 0; i < device->extra_count; i++) {
        const struct weight_row *weight = &session->weights[device->extras[i]];
        for (size_t j = 0; j < weight->operator_count; j++) {
            const struct operator_row *op = &session->operators[weight->operators[j]];
            device->extra_bytes += counted_of(device, op) * weight_bytes_of(op) / device->steps;
        }
    }
}

/* ---- what has a name only ---- */

static void add_named(const struct session *session, struct books_device *device)
{
    bool known = !isnan(session->coverage.gpu_time_ns);
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        struct books_named *named = NULL;
        if (op->device != device->device || op->of_call || op->role == KERNEL_ROLE_HELPER)
            continue;
        if (op->family == KERNEL_FAMILY_ATTENTION)
            named = &device->attention;
        else if (op->family == KERNEL_FAMILY_GEMM || op->family == KERNEL_FAMILY_GEMV ||
                 (op->family == KERNEL_FAMILY_MOE && op->role == KERNEL_ROLE_EXPERTS))
            named = &device->gemms;
        if (!named)
            continue;
        named->kernels += op->kernels > op->calls ? op->kernels : op->calls;
        named->time_ns += (double)op->time_ns;
    }
    if (!known)
        device->attention.time_ns = device->gemms.time_ns = NAN;
}

/* ---- the whole ---- */

void books_match(const struct books *books, const struct session *session, int device, struct books_device *result)
{
    struct use use;
    *result = (struct books_device){.device = device, .attention_decode_ns = NAN};
    find_use(&books->forms, session, device, &use);
    make_rows(&books->forms, &use, result);
    match_weights(session, result);
    for (size_t i = 0; i < result->row_count; i++) {
        count_executions(session, &result->rows[i]);
        find_median(session, &result->rows[i]);
    }
    find_steps(session, result);
    for (size_t i = 0; i < result->row_count; i++)
        if (result->rows[i].weight_count)
            measure_row(session, result, &result->rows[i]);
    if (result->row_count)
        qsort(result->rows, result->row_count, sizeof *result->rows, compare_rows);
    add_up(books, session, result);
    result->shape_share = books_shape_share(&books->forms, session, device);
    add_named(session, result);
}

void books_match_free(struct books_device *result)
{
    for (size_t i = 0; i < result->row_count; i++) {
        free(result->rows[i].names);
        free(result->rows[i].weights);
    }
    free(result->rows);
    free(result->extras);
    *result = (struct books_device){0};
}
