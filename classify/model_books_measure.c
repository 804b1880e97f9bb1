/* SPDX-License-Identifier: Apache-2.0 */
/* From the session's operators to classes, then from their executions by phase to bytes of a step. Sums of bytes are whole
 * numbers below 2^53, so equal means equal. */
#include "classify/model_books_measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "classify/allocate.h"
#include "classify/books_measure.h"
#include "classify/session.h"

enum { CUTS_MOST = 16 }; /* GPUs that a matrix is cut over */

/* ---- what an operator multiplied ---- */

struct product {
    int64_t m, n, k;
    bool experts, batched; /* several matrices in one call or launch */
    struct predict_range matrices;
    const char *format;
    double bytes; /* of one matrix, as read */
};

static bool product_of_call(const struct operator_row *op, struct product *product)
{
    const bool gemm = op->kind == OPERATOR_GEMM || op->kind == OPERATOR_GEMV;
    if (!gemm || !op->work.shape_known || op->work.weight == WORK_WEIGHT_NONE || op->work.batch < 1)
        return false;
    const struct number_format type = op->work.type[op->work.weight == WORK_WEIGHT_A ? 0 : 1];
    const double matrices = books_matrices(op);
    *product = (struct product){.m = op->work.m,
                                .n = op->work.n,
                                .k = op->work.k,
                                .batched = op->work.batch > 1,
                                .matrices = {matrices, matrices},
                                .format = number_format_name(type),
                                .bytes = (double)op->work.n * (double)op->work.k * type.bits / 8};
    return true;
}

static bool product_of_launch(const struct launch_decode *launch, struct product *product)
{
    if (launch->reading != LAUNCH_READ || launch->kind != LAUNCH_MATMUL || launch->n < 1 || launch->k < 1 ||
        !launch->weight_format)
        return false;
    *product = (struct product){.m = launch->m,
                                .n = launch->n,
                                .k = launch->k,
                                .experts = launch->experts,
                                .batched = launch->batch > 1 && !launch->experts,
                                .matrices = {launch->matrices_least, launch->matrices_most},
                                .format = launch->weight_format->name,
                                .bytes = weight_format_bytes(launch->weight_format, launch->n, launch->k)};
    return true;
}

static bool product_of(const struct operator_row *op, struct product *product)
{
    return op->of_call ? product_of_call(op, product) : op->launch && product_of_launch(op->launch, product);
}

/* ---- which class ---- */

/* Tables of formats differ in case: q4_K, q4_k. */
static bool same_format(const struct model_books_class *class, const struct product *product)
{
    return product->format && !strcasecmp(class->format->name, product->format);
}

static bool may_be(const struct model_books_class *class, const struct product *product)
{
    return product->experts ? class->routed > 0 : !product->batched || class->heads;
}

/* CUT: the class's N or K over so many GPUs. */
static bool has_shape(const struct model_books_class *class, const struct product *product, int64_t cut)
{
    return (product->n * cut == class->n && product->k == class->k) ||
           (product->n == class->n && product->k * cut == class->k);
}

/* NULL: the model has no such matrix. One of another format is taken where no other shape fits better. */
static struct model_books_class *find_class(struct model_books *books, const struct product *product, int64_t cuts,
                                            int64_t *cut)
{
    for (*cut = 1; *cut <= cuts; ++*cut)
        for (size_t i = 0; i < books->class_count; i++)
            if (same_format(&books->classes[i], product) && may_be(&books->classes[i], product) &&
                has_shape(&books->classes[i], product, *cut))
                return &books->classes[i];
    *cut = 1;
    for (size_t i = 0; i < books->class_count; i++)
        if (may_be(&books->classes[i], product) && has_shape(&books->classes[i], product, 1))
            return &books->classes[i];
    return NULL;
}

static void append(size_t **list, size_t *count, size_t index)
{
    size_t capacity = *count;
    *list = allocate_grow(*list, *count, &capacity, sizeof **list);
    (*list)[(*count)++] = index;
}

/* ---- sums ---- */

static struct predict_range scaled(struct predict_range range, double by)
{
    return (struct predict_range){range.low * by, range.high * by};
}

static double executions_in(const struct operator_row *op, enum phase phase)
{
    return phase == PHASE_UNKNOWN ? (double)operator_row_executions(op) : (double)op->phase_calls[phase];
}

static struct model_books_device *device_of(struct model_books *books, int device)
{
    for (size_t i = 0; i < books->device_count; i++)
        if (books->devices[i].device == device)
            return &books->devices[i];
    books->devices =
        allocate_grow(books->devices, books->device_count, &books->device_capacity, sizeof *books->devices);
    struct model_books_device *added = &books->devices[books->device_count++];
    *added = (struct model_books_device){.device = device};
    return added;
}

static void add_time(struct model_books_measured *measured, const struct operator_row *op, double times)
{
    const double all = (double)operator_row_executions(op);
    measured->time_ns += op->timed && op->kernels ? times / all * (double)op->time_ns : NAN;
    measured->roof_ns += times / all * op->t_roof_ns;
}

static void add_operator(struct model_books *books, struct model_books_class *class, const struct operator_row *op,
                         const struct product *product, int64_t cut)
{
    const struct predict_range matrices = scaled(product->matrices, 1 / (double)cut);
    struct model_books_device *device = device_of(books, op->device);
    class->cut |= cut > 1;
    class->other_format |= !same_format(class, product);
    for (int p = 0; p < PHASE_COUNT; p++) {
        const double times = executions_in(op, p);
        struct model_books_measured *measured = &class->measured[p];
        if (!(times > 0))
            continue;
        predict_range_add(&measured->matrices, matrices, times);
        predict_range_add(&measured->bytes, product->matrices, times * product->bytes);
        predict_range_add(&device->bytes[p], product->matrices, times * product->bytes);
        predict_range_add(&books->phases[p].bytes, product->matrices, times * product->bytes);
        add_time(measured, op, times);
        if (!product->experts && product->m > books->phases[p].rows_most)
            books->phases[p].rows_most = product->m;
    }
}

static void match(struct model_books *books, const struct session *session)
{
    const int64_t cuts = session->device_count < CUTS_MOST ? (int64_t)session->device_count : CUTS_MOST;
    books->operator_count = session->operator_count;
    books->class_of = allocate(session->operator_count, sizeof *books->class_of);
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        struct product product = {0};
        int64_t cut;
        if (!product_of(op, &product))
            continue;
        struct model_books_class *class = find_class(books, &product, cuts, &cut);
        if (!class) {
            if (!product.batched) /* of attention without a fused kernel: no weights */
                append(&books->extra, &books->extra_count, i);
            continue;
        }
        books->class_of[i] = (size_t)(class - books->classes) + 1;
        append(&class->operators, &class->operator_count, i);
        add_operator(books, class, op, &product, cut);
    }
}

/* ---- M ---- */

struct rows_executed {
    int64_t m;
    double times;
};

static int by_rows(const void *left, const void *right)
{
    const struct rows_executed *a = left, *b = right;
    return (a->m > b->m) - (a->m < b->m);
}

static int64_t median_rows(const struct model_books_class *class, const struct session *session, enum phase phase)
{
    struct rows_executed *rows = allocate(class->operator_count, sizeof *rows);
    double all = 0, seen = 0;
    int64_t median = -1;
    for (size_t i = 0; i < class->operator_count; i++) {
        const struct operator_row *op = &session->operators[class->operators[i]];
        rows[i] = (struct rows_executed){op->of_call ? op->work.m : op->launch->m, executions_in(op, phase)};
        all += rows[i].times;
    }
    if (class->operator_count)
        qsort(rows, class->operator_count, sizeof *rows, by_rows);
    for (size_t i = 0; i < class->operator_count && all > 0 && median < 0; i++) {
        seen += rows[i].times;
        if (seen >= all / 2)
            median = rows[i].m;
    }
    free(rows);
    return median;
}

/* ---- the model's own ---- */

/* A token is routed to as many different experts; ROWS of them to at most as many each. */
static struct predict_range own_matrices(const struct model_books *books, const struct model_books_class *class,
                                         int64_t rows)
{
    const double used = fmax(0, (double)books->model.facts.experts_used), experts = (double)class->experts;
    const double least = used > 0 ? fmin(used, experts) : 1;
    const double most = used > 0 && rows > 0 ? fmin(experts, used * (double)rows) : experts;
    return (struct predict_range){(double)class->fixed + (double)class->routed * least,
                                  (double)class->fixed + (double)class->routed * most};
}

static enum model_books_verdict verdict_of(const struct model_books_phase *phase)
{
    const struct predict_range own = scaled(phase->own, phase->steps), bytes = phase->bytes;
    if (!(phase->steps > 0))
        return MODEL_BOOKS_UNKNOWN;
    if (bytes.low == own.low && bytes.high == own.high)
        return own.low == own.high ? MODEL_BOOKS_EQUAL : MODEL_BOOKS_WITHIN;
    if (bytes.high < own.low || (own.low == own.high && bytes.low == bytes.high && bytes.low < own.low))
        return MODEL_BOOKS_LESS;
    if (bytes.low > own.high)
        return MODEL_BOOKS_MORE;
    return bytes.low >= own.low && bytes.high <= own.high ? MODEL_BOOKS_WITHIN
           : bytes.low < own.low                          ? MODEL_BOOKS_LESS
                                                          : MODEL_BOOKS_MORE;
}

static void find_own(struct model_books *books, const struct session *session)
{
    books->rotated = session->coverage.rotated.blocks > 0;
    for (int p = 0; p < PHASE_COUNT; p++) {
        struct model_books_phase *phase = &books->phases[p];
        phase->steps = p == PHASE_UNKNOWN || books->rotated ? 0 : (double)session->phases[p].steps;
        phase->rows = session->phases[p].rows_per_step;
        for (size_t i = 0; i < books->class_count; i++) {
            struct model_books_class *class = &books->classes[i];
            class->own[p] = own_matrices(books, class, p == PHASE_UNKNOWN ? 1 : phase->rows_most);
            predict_range_add(&phase->own, class->own[p], class->matrix_bytes);
            class->measured[p].m_p50 = median_rows(class, session, p);
        }
        phase->verdict = verdict_of(phase);
    }
}

/* ---- layers on the CPU ---- */

/* Of a class whose tensors are of layers alone, how many of them a step read; negative: that is no whole number of layers. */
static int64_t layers_read(const struct model_books *books, const struct model_books_class *class, enum phase phase)
{
    const double steps = books->phases[phase].steps, layers = (double)books->model.facts.layers;
    const double read = class->measured[phase].matrices.high / steps, own = class->own[phase].high;
    const double here = read / own * layers;
    return own > 0 && fabs(here - round(here)) < 1e-9 ? (int64_t)round(here) : -1;
}

static bool is_of_every_layer(const struct model_books *books, const struct model_books_class *class)
{
    for (size_t i = 0; i < class->name_count; i++)
        if (class->names[i].tensors != books->model.facts.layers)
            return false;
    return true;
}

/* All such classes must agree. */
static void find_layers(struct model_books *books)
{
    const enum phase phase = books->phases[PHASE_DECODE].steps > 0 ? PHASE_DECODE : PHASE_PREFILL;
    bool agree = books->phases[phase].steps > 0 && books->model.facts.layers > 0;
    int64_t layers = -1;
    for (size_t i = 0; i < books->class_count && agree; i++) {
        if (!is_of_every_layer(books, &books->classes[i]))
            continue;
        const int64_t here = layers_read(books, &books->classes[i], phase);
        agree = here >= 0 && (layers < 0 || layers == here);
        layers = here;
    }
    books->layers_seen = agree ? layers : -1;
}

void model_books_measure(struct model_books *books, const struct session *session)
{
    match(books, session);
    find_own(books, session);
    find_layers(books);
}
