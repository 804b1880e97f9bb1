/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the operators of weights, whose M is above 0 (weights.c). */
#include "classify/row_bins.h"

#include <math.h>

#include "classify/session.h"

int64_t row_bin_least(int bin)
{
    return INT64_C(1) << bin;
}

int64_t row_bin_most(int bin)
{
    return row_bin_least(bin) - 1 + row_bin_least(bin);
}

static int bin_of(int64_t m)
{
    int bin = 0;
    while (bin + 1 < ROW_BINS && m >= row_bin_least(bin + 1))
        bin++;
    return bin;
}

static void clear(struct row_bins *bins)
{
    for (int b = 0; b < ROW_BINS; b++)
        bins->bin[b] = (struct row_bin){0, NAN};
}

static void add(struct row_bins *bins, const struct operator_row *op, double executions, double part)
{
    struct row_bin *bin = &bins->bin[bin_of(op->work.m)];
    if (!(part > PHASES_LEAST_PART))
        return;
    bin->executions += executions;
    if (op->timed && op->kernels)
        bin->time_ns = (isnan(bin->time_ns) ? 0 : bin->time_ns) + part * (double)op->time_ns;
}

void row_bins_of_weight(const struct session *session, const struct weight_row *weight, struct row_bins *bins)
{
    clear(bins);
    for (size_t i = 0; i < weight->operator_count; i++) {
        const struct operator_row *op = &session->operators[weight->operators[i]];
        add(bins, op, (double)operator_row_executions(op), 1);
    }
}

void row_bins_of_phases(const struct session *session, struct row_bins phases[PHASE_COUNT], struct row_bins *step)
{
    clear(step);
    for (int p = 0; p < PHASE_COUNT; p++)
        clear(&phases[p]);
    for (size_t w = 0; w < session->weight_count; w++) {
        const struct weight_row *weight = &session->weights[w];
        for (size_t i = 0; i < weight->operator_count; i++) {
            const struct operator_row *op = &session->operators[weight->operators[i]];
            add(step, op, (double)operator_row_executions(op), 1);
            for (int p = 0; p < PHASE_COUNT; p++)
                add(&phases[p], op, phases_executions(op, p), phases_part(op, p));
        }
    }
}
