/* SPDX-License-Identifier: Apache-2.0 */
/* Which forms are in use, which of them share a shape, and which operators have it. */
#include "classify/books_match.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/books_measure.h"
#include "classify/session.h"

/* ---- shapes ---- */

static bool has_shape(const struct session *session, const struct weight_row *weight, const struct weight_form *form)
{
    if (weight->n != form->n || weight->k != form->k || weight->operator_count == 0)
        return false;
    const struct operator_row *op = &session->operators[weight->operators[0]];
    if (!op->of_call) /* one that reads several, such as gate and up at once, counts as so many calls */
        return form->experts || form->batch == 1;
    return form->experts || books_matrices(op) == (double)form->batch;
}

/* A call of groups with different M has no row among the weights. */
static bool is_grouped(const struct operator_row *op)
{
    return op->of_call && op->kind == OPERATOR_GEMM && op->work.shape_known && op->work.weight == WORK_WEIGHT_NONE &&
           op->signature.batch_mode == TRACE_BATCH_GROUPED && op->work.n > 0 && op->work.k > 0;
}

static bool is_grouped_as(const struct operator_row *op, int device, const struct weight_form *form)
{
    return form->experts && op->device == device && is_grouped(op) && op->work.n == form->n && op->work.k == form->k;
}

static bool counts(const struct operator_row *op, bool in_steps)
{
    return !in_steps || op->phase_calls[PHASE_PREFILL] || op->phase_calls[PHASE_DECODE];
}

static bool has_counting(const struct session *session, const struct weight_row *weight, bool in_steps)
{
    for (size_t i = 0; i < weight->operator_count; i++)
        if (counts(&session->operators[weight->operators[i]], in_steps))
            return true;
    return false;
}

/* IN_STEPS: in prefill and decode steps. */
static bool is_seen(const struct session *session, int device, const struct weight_form *form, bool in_steps)
{
    for (size_t w = 0; w < session->weight_count; w++) {
        const struct weight_row *weight = &session->weights[w];
        if (weight->device == device && has_shape(session, weight, form) && has_counting(session, weight, in_steps))
            return true;
    }
    for (size_t i = 0; form->experts && i < session->operator_count; i++)
        if (is_grouped_as(&session->operators[i], device, form) && counts(&session->operators[i], in_steps))
            return true;
    return false;
}

static bool same_shape(const struct weight_form *a, const struct weight_form *b)
{
    return a->n == b->n && a->k == b->k && a->batch == b->batch && a->experts == b->experts;
}

/* ---- which forms are in use ---- */

/* Where forms share a shape, what else was seen decides. A form that is not plain is in use where its shape was seen and is
 * its own (in a step, where these are told apart: a program may multiply other things of that shape); or where some of its parts were not seen apart, and no form before it, wider or as wide, has them all. Where
 * nobody is to have a shape by that, the first has it. */
struct use {
    bool seen[WEIGHT_FORMS_MOST], used[WEIGHT_FORMS_MOST];
    uint32_t parts_seen;  /* plain forms whose shape was seen */
    uint32_t parts_other; /* in a form in use that is not plain */
};

static bool has_own_shape(const struct weight_forms *forms, size_t form)
{
    for (size_t i = 0; i < forms->count; i++)
        if (i != form && same_shape(&forms->forms[form], &forms->forms[i]))
            return false;
    return true;
}

static bool is_taken(const struct weight_forms *forms, const struct use *use, size_t form)
{
    for (size_t i = 0; i < forms->count; i++)
        if ((i < forms->plain_count || use->used[i]) && same_shape(&forms->forms[form], &forms->forms[i]))
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
    const uint64_t *steps = device >= 0 ? session->devices[device].steps : NULL;
    bool stepped = steps && (steps[PHASE_PREFILL] || steps[PHASE_DECODE]);
    *use = (struct use){0};
    for (size_t i = 0; i < forms->count; i++) {
        const struct weight_form *form = &forms->forms[i];
        use->seen[i] = is_seen(session, device, form, stepped && form->kind != WEIGHT_FORM_PLAIN);
        if (i < forms->plain_count && use->seen[i])
            use->parts_seen |= forms->forms[i].parts;
    }
    for (size_t i = forms->plain_count; i < forms->count; i++) {
        uint32_t parts = forms->forms[i].parts;
        bool apart = !(parts & ~use->parts_seen), had = !(parts & ~use->parts_other);
        use->used[i] = use->seen[i] && (has_own_shape(forms, i) || (!apart && !had));
        if (use->used[i])
            use->parts_other |= parts;
    }
    for (size_t i = forms->plain_count; i < forms->count; i++)
        if (use->seen[i] && !is_taken(forms, use, i)) {
            use->used[i] = true;
            use->parts_other |= forms->forms[i].parts;
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
    row->experts |= form->experts;
    row->parts |= form->parts;
    predict_range_add(&row->calls, form->calls, 1);
    predict_range_add(&row->bytes, weight_form_bytes(form), 1);
    predict_range_add(&row->parameters, form->calls, (double)form->n * (double)form->k * (double)form->batch);
    row->bits = row->bytes.high * 8 / row->parameters.high;
}

static struct books_row *row_of(struct books_device *device, size_t *capacity, const struct weight_form *form)
{
    for (size_t i = 0; i < device->row_count; i++) {
        struct books_row *row = &device->rows[i];
        if (row->n == form->n && row->k == form->k && row->batch == form->batch)
            return row; /* a shared expert may have the shape of a routed one */
    }
    device->rows = allocate_grow(device->rows, device->row_count, capacity, sizeof *device->rows);
    struct books_row *row = &device->rows[device->row_count++];
    *row = (struct books_row){
        .n = form->n,
        .k = form->k,
        .batch = form->batch,
        .kind = form->kind,
        .measured = {.m_p50 = -1, .bits = NAN, .time_ns = NAN, .roof_ns = NAN, .times_roof = NAN},
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

static struct books_row *row_of_weight(const struct session *session, const struct weight_row *weight,
                                       struct books_device *device)
{
    for (size_t i = 0; i < device->row_count; i++) {
        struct books_row *row = &device->rows[i];
        struct weight_form shape = {.n = row->n, .k = row->k, .batch = row->batch, .experts = row->experts};
        if (has_shape(session, weight, &shape))
            return row;
    }
    return NULL;
}

static struct books_row *row_of_grouped(const struct operator_row *op, struct books_device *device)
{
    for (size_t i = 0; i < device->row_count; i++) {
        struct books_row *row = &device->rows[i];
        struct weight_form shape = {.n = row->n, .k = row->k, .batch = row->batch, .experts = row->experts};
        if (is_grouped_as(op, device->device, &shape))
            return row;
    }
    return NULL;
}

static void list_append(struct books_list *list, size_t index)
{
    list->indexes = allocate_grow(list->indexes, list->count, &list->capacity, sizeof *list->indexes);
    list->indexes[list->count++] = index;
}

static void match_weights(const struct session *session, struct books_device *device)
{
    for (size_t w = 0; w < session->weight_count; w++) {
        const struct weight_row *weight = &session->weights[w];
        if (weight->device != device->device || !weight->operator_count)
            continue;
        struct books_row *row = row_of_weight(session, weight, device);
        list_append(row ? &row->weights : &device->extra_weights, w);
        for (size_t i = 0; row && i < weight->operator_count; i++)
            list_append(&row->operators, weight->operators[i]);
    }
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (op->device != device->device || !is_grouped(op))
            continue;
        struct books_row *row = row_of_grouped(op, device);
        list_append(row ? &row->operators : &device->extra_grouped, i);
    }
}

/* ---- the whole ---- */

void books_match(const struct books *books, const struct session *session, int device, struct books_device *result)
{
    struct use use;
    *result = (struct books_device){.device = device, .attention = {.roof_ns = NAN}};
    find_use(&books->forms, session, device, &use);
    make_rows(&books->forms, &use, result);
    match_weights(session, result);
    result->shape_share = books_shape_share(&books->forms, session, device);
}

void books_match_free(struct books_device *result)
{
    for (size_t i = 0; i < result->row_count; i++) {
        free(result->rows[i].names);
        free(result->rows[i].weights.indexes);
        free(result->rows[i].operators.indexes);
    }
    free(result->rows);
    free(result->extra_weights.indexes);
    free(result->extra_grouped.indexes);
    *result = (struct books_device){0};
}
