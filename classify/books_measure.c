/* SPDX-License-Identifier: Apache-2.0 */
/* Steps, calls and bytes of matched rows, and the sums that close the books. */
#include "classify/books_measure.h"

#include <math.h>
#include <stdlib.h>

#include "classify/allocate.h"
#include "classify/session.h"

/* ---- steps ---- */

static double executions_of(const struct operator_row *op)
{
    return (double)operator_row_executions(op);
}

static double calls_in_steps(const struct operator_row *op)
{
    return (double)op->phase_calls[PHASE_PREFILL] + (double)op->phase_calls[PHASE_DECODE];
}

static double take_steps(const struct session *session, struct books_device *device)
{
    double steps = 0;
    for (int p = PHASE_UNKNOWN + 1; device->device >= 0 && p < PHASE_COUNT; p++) {
        device->steps_of[p] = (double)session->devices[device->device].steps[p];
        steps += device->steps_of[p];
    }
    return steps;
}

/* Experts are routed to: their number tells nothing. */
static double passes_of_row(const struct books_row *row)
{
    return row->operators.count && !row->experts ? (double)row->executions / row->calls.high : NAN;
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
    double steps = take_steps(session, device);
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

/* ---- routing ---- */

/* The most rows that a product of PHASE had that is no expert's: tokens of a step. UNKNOWN: in the whole run. */
static double most_rows(const struct session *session, const struct books_device *device, enum phase phase)
{
    double most = 0;
    for (size_t i = 0; i < device->row_count; i++)
        for (size_t j = 0; j < device->rows[i].operators.count && !device->rows[i].experts; j++) {
            const struct operator_row *op = &session->operators[device->rows[i].operators.indexes[j]];
            if (phase == PHASE_UNKNOWN || op->phase_calls[phase])
                most = fmax(most, (double)op->work.m);
        }
    return most;
}

/* At least top_k experts a layer are touched, at most min(experts, rows x top_k). */
static double routed_part(const struct model_config *config, double rows)
{
    double experts = (double)config->experts, top_k = (double)config->experts_per_token;
    if (experts <= top_k || rows < 1) /* nothing is open; nothing is known */
        return 1;
    return (fmin(experts, rows * top_k) - top_k) / (experts - top_k);
}

static void find_routing(const struct books *books, const struct session *session, struct books_device *device)
{
    double sum = 0;
    for (int p = PHASE_UNKNOWN; p < PHASE_COUNT; p++)
        device->routed[p] = routed_part(&books->config, most_rows(session, device, p));
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++)
        sum += device->routed[p] * device->steps_of[p];
    if (device->steps_source == BOOKS_STEPS_PHASES)
        device->routed[PHASE_UNKNOWN] = sum / device->steps;
    device->own_bytes = books_narrow(books->own_bytes, device->routed[PHASE_UNKNOWN]);
    device->own_parameters = books_narrow(books->model_parameters, device->routed[PHASE_UNKNOWN]);
}

/* ---- what was measured ---- */

/* PHASE UNKNOWN: all that counts. */
static double counted_of(const struct books_device *device, const struct operator_row *op, enum phase phase)
{
    if (phase != PHASE_UNKNOWN)
        return (double)op->phase_calls[phase];
    return device->steps_source == BOOKS_STEPS_PHASES ? calls_in_steps(op) : executions_of(op);
}

/* What groups of different M come to: FLOPs tell their rows, and what is left of the bytes without activations and outputs
 * are whole matrices. Where C is read, too, they can't be told. */
static double grouped_matrices(const struct operator_row *op)
{
    const struct work *work = &op->work;
    double n = (double)work->n, k = (double)work->k, rows = work->flops / (2 * n * k);
    double bytes = work->bytes - rows * (k * work->type[1].bits + n * work->type[3].bits) / 8;
    double matrices = bytes * 8 / (n * k * work->type[0].bits);
    return op->signature.beta == TRACE_SCALAR_ZERO && fabs(matrices - round(matrices)) < 1e-6 ? round(matrices) : NAN;
}

double books_matrices(const struct operator_row *op)
{
    if (op->work.model.batch > 0)
        return op->work.model.operand[GEMM_RIGHT].matrices;
    return op->signature.batch_mode == TRACE_BATCH_GROUPED ? grouped_matrices(op) : NAN;
}

/* Of one call, with its scales where they are known of. */
static double weight_bytes_of(const struct operator_row *op)
{
    struct gemm_work work;
    if (op->work.model.batch < 0)
        return books_matrices(op) * (double)op->work.n * (double)op->work.k * op->work.type[0].bits / 8;
    gemm_work(&op->work.model, &work);
    return work.operand_bytes[GEMM_RIGHT];
}

/* Calls that an execution counts as: matrices, where a row of experts has them, or where a launch reads several. */
static double calls_of(const struct books_row *row, const struct operator_row *op)
{
    return row->experts || !op->of_call ? books_matrices(op) : 1;
}

static int64_t rows_of(const struct operator_row *op)
{
    if (op->work.m > 0)
        return op->work.m;
    return (int64_t)(op->work.flops / (2 * (double)op->work.n * (double)op->work.k));
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

/* Nearest rank; of no calls at all, those of no operator. */
static int64_t median_rows(struct rows_executed *rows, size_t count)
{
    double all = 0, seen = 0;
    qsort(rows, count, sizeof *rows, compare_rows_executed);
    for (size_t i = 0; i < count; i++)
        all += rows[i].times;
    for (size_t i = 0; i < count && all > 0; i++) {
        seen += rows[i].times;
        if (seen >= all / 2)
            return rows[i].m;
    }
    return -1;
}

static void count_executions(const struct session *session, struct books_row *row)
{
    for (size_t i = 0; i < row->operators.count; i++) {
        const struct operator_row *op = &session->operators[row->operators.indexes[i]];
        row->executions += executions_of(op) * calls_of(row, op);
    }
}

static int64_t median_of(const struct session *session, const struct books_row *row, enum phase phase)
{
    struct rows_executed *rows = allocate(row->operators.count, sizeof *rows);
    for (size_t i = 0; i < row->operators.count; i++) {
        const struct operator_row *op = &session->operators[row->operators.indexes[i]];
        double times = phase == PHASE_UNKNOWN ? executions_of(op) : (double)op->phase_calls[phase];
        rows[i] = (struct rows_executed){rows_of(op), times};
    }
    int64_t m = median_rows(rows, row->operators.count);
    free(rows);
    return m;
}

/* An operator's times are those of all its executions, by the part of them that counts. */
static struct books_measured measure(const struct session *session, const struct books_device *device,
                                     const struct books_row *row, enum phase phase, double steps)
{
    struct books_measured sum = {.m_p50 = median_of(session, row, phase)};
    for (size_t i = 0; i < row->operators.count; i++) {
        const struct operator_row *op = &session->operators[row->operators.indexes[i]];
        double times = counted_of(device, op, phase), matrices = books_matrices(op);
        double part = times / executions_of(op);
        if (times == 0)
            continue;
        sum.counted += times * calls_of(row, op);
        sum.bytes += times * weight_bytes_of(op);
        sum.parameters += times * matrices * (double)row->n * (double)row->k;
        sum.time_ns += op->timed && op->kernels ? part * (double)op->time_ns : NAN;
        sum.roof_ns += part * op->t_roof_ns;
    }
    sum.bits = sum.parameters > 0 ? 8 * sum.bytes / sum.parameters : NAN;
    sum.times_roof = sum.roof_ns > 0 ? sum.time_ns / sum.roof_ns : NAN;
    sum.calls = sum.counted / steps;
    sum.bytes /= steps;
    sum.parameters /= steps;
    sum.time_ns /= steps;
    sum.roof_ns /= steps;
    return sum;
}

static void measure_row(const struct session *session, const struct books_device *device, struct books_row *row)
{
    row->measured = measure(session, device, row, PHASE_UNKNOWN, device->steps);
    for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++)
        if (device->steps_of[p] > 0)
            row->of[p] = measure(session, device, row, p, device->steps_of[p]);
}

/* ---- sums ---- */

static int compare_rows(const void *a, const void *b)
{
    const struct books_row *x = a, *y = b;
    if ((x->operators.count > 0) != (y->operators.count > 0))
        return x->operators.count > 0 ? -1 : 1;
    if (x->bytes.high != y->bytes.high)
        return x->bytes.high < y->bytes.high ? 1 : -1;
    return (x->n < y->n) - (x->n > y->n);
}

static void add_extra(struct books_device *device, const struct operator_row *op)
{
    device->extra_bytes += counted_of(device, op, PHASE_UNKNOWN) * weight_bytes_of(op) / device->steps;
}

static void find_share(double share[2], double part, struct predict_range whole)
{
    share[0] = part / whole.high;
    share[1] = part / whole.low;
}

static void add_up(const struct books *books, const struct session *session, struct books_device *device)
{
    double bytes_of[PHASE_COUNT] = {0};
    for (size_t i = 0; i < device->row_count; i++) {
        const struct books_row *row = &device->rows[i];
        if (!row->operators.count)
            continue;
        device->seen_count++;
        device->bytes += row->measured.bytes;
        device->parameters += row->measured.parameters;
        device->bits_differ |= fabs(row->measured.bits - row->bits) > 0.01 * row->bits;
        for (int p = PHASE_UNKNOWN + 1; p < PHASE_COUNT; p++)
            bytes_of[p] += row->of[p].bytes;
    }
    if (isnan(device->steps) && device->seen_count) /* of nothing it is known what a step reads */
        device->bytes = device->parameters = NAN;
    find_share(device->share, device->bytes, device->own_bytes);
    find_share(device->parameter_share, device->parameters, device->own_parameters);
    for (int p = PHASE_UNKNOWN; p < PHASE_COUNT; p++)
        find_share(device->share_of[p], device->steps_of[p] > 0 ? bytes_of[p] : NAN,
                   books_narrow(books->own_bytes, device->routed[p]));
    for (size_t i = 0; i < device->extra_weights.count; i++) {
        const struct weight_row *weight = &session->weights[device->extra_weights.indexes[i]];
        for (size_t j = 0; j < weight->operator_count; j++)
            add_extra(device, &session->operators[weight->operators[j]]);
    }
    for (size_t i = 0; i < device->extra_grouped.count; i++)
        add_extra(device, &session->operators[device->extra_grouped.indexes[i]]);
}

/* ---- what has a name only ---- */

static void add_to(struct books_named *named, const struct operator_row *op)
{
    double all = (double)(op->replays_phased ? operator_row_executions(op) : op->calls);
    double decode = all > 0 ? (double)op->phase_calls[PHASE_DECODE] / all : NAN; /* launched unseen */
    named->kernels += op->kernels > op->calls ? op->kernels : op->calls;
    named->time_ns += (double)op->time_ns;
    named->decode_ns += decode * (double)op->time_ns;
}

/* An operator may be in several pairs: its time counts once. */
static void add_naive_time(const struct session *session, struct books_device *device)
{
    bool *counted = allocate(session->operator_count + 1, sizeof *counted);
    for (size_t i = 0; i < session->naive_attention_count; i++) {
        const struct naive_attention *pair = &session->naive_attention[i];
        const size_t both[] = {pair->scores, pair->output};
        for (int j = 0; j < 2 && pair->device == device->device; j++) {
            device->attention.naive_ns += counted[both[j]] ? 0 : (double)session->operators[both[j]].time_ns;
            counted[both[j]] = true;
        }
    }
    free(counted);
}

static void add_named(const struct session *session, struct books_device *device)
{
    struct books_named *attention = &device->attention.named, *read = &device->attention.read, *gemms = &device->gemms;
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        bool experts = op->family == KERNEL_FAMILY_MOE && op->role == KERNEL_ROLE_EXPERTS;
        if (op->device != device->device || op->of_call)
            continue;
        if (op->launch && op->launch->reading == LAUNCH_READ && op->launch->kind == LAUNCH_ATTENTION)
            add_to(read, op);
        else if (op->launch && op->launch->reading == LAUNCH_READ) /* a product has its shape, a helper is no product */
            continue;
        else if (op->family == KERNEL_FAMILY_ATTENTION)
            add_to(attention, op);
        else if (experts || ((op->family == KERNEL_FAMILY_GEMM || op->family == KERNEL_FAMILY_GEMV) &&
                             op->role != KERNEL_ROLE_HELPER))
            add_to(gemms, op);
    }
    if (device->device >= 0)
        device->attention.decode_steps = (double)session->devices[device->device].steps[PHASE_DECODE];
    attention->decode_ns /= device->attention.decode_steps;
    read->decode_ns /= device->attention.decode_steps;
    gemms->decode_ns /= device->attention.decode_steps;
    for (size_t i = 0; i < session->naive_attention_count; i++) {
        const struct naive_attention *pair = &session->naive_attention[i];
        if (pair->device == device->device)
            device->attention.naive_times += pair->times;
    }
    add_naive_time(session, device);
    if (isnan(session->coverage.gpu_time_ns)) {
        device->attention.naive_ns = NAN;
        attention->time_ns = gemms->time_ns = NAN;
        attention->decode_ns = gemms->decode_ns = NAN;
        read->time_ns = read->decode_ns = NAN;
    }
}

/* ---- the whole ---- */

void books_measure(const struct books *books, const struct session *session, struct books_device *device)
{
    for (size_t i = 0; i < device->row_count; i++)
        if (device->rows[i].operators.count)
            count_executions(session, &device->rows[i]);
    find_steps(session, device);
    find_routing(books, session, device);
    for (size_t i = 0; i < device->row_count; i++)
        if (device->rows[i].operators.count)
            measure_row(session, device, &device->rows[i]);
    if (device->row_count)
        qsort(device->rows, device->row_count, sizeof *device->rows, compare_rows);
    add_up(books, session, device);
    add_named(session, device);
}
