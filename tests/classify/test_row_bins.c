/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in bins of powers of two: the edges by hand, random weights against a loop that asks each bin of each operator. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/row_bins.h"
#include "classify/session.h"

enum { OPERATORS = 40, WEIGHTS = 5, ROUNDS = 200 };

static struct operator_row operators[OPERATORS];
static struct weight_row weights[WEIGHTS];
static size_t places[WEIGHTS][OPERATORS];
static struct session session;

static void test_edges(void **state)
{
    (void)state;
    assert_true(row_bin_least(0) == 1 && row_bin_most(0) == 1);
    assert_true(row_bin_least(1) == 2 && row_bin_most(1) == 3);
    assert_true(row_bin_least(2) == 4 && row_bin_most(2) == 7);
    for (int b = 1; b < ROW_BINS; b++)
        assert_true(row_bin_least(b) == row_bin_most(b - 1) + 1);
    assert_true(row_bin_most(ROW_BINS - 1) == INT64_MAX);
}

static uint64_t below(uint64_t limit)
{
    return (uint64_t)rand() % limit;
}

/* Of some no process could take the time; each is of prefill and decode steps, and of none. */
static void fill(void)
{
    memset(operators, 0, sizeof operators);
    memset(weights, 0, sizeof weights);
    session = (struct session){
        .operators = operators, .operator_count = OPERATORS, .weights = weights, .weight_count = WEIGHTS};
    for (size_t i = 0; i < OPERATORS; i++) {
        struct operator_row *op = &operators[i];
        struct weight_row *weight = &weights[below(WEIGHTS)];
        uint64_t prefill = below(4), decode = below(5), neither = below(3);
        op->of_call = op->calls_known = true;
        op->work.m = (int64_t)(1 + below(UINT64_C(1) << below(20)));
        op->calls = op->executions = prefill + decode + neither;
        op->phase_calls[PHASE_PREFILL] = prefill;
        op->phase_calls[PHASE_DECODE] = decode;
        op->timed = below(4) > 0;
        op->kernels = op->timed ? op->calls : 0;
        op->time_ns = op->kernels * (1 + below(1000));
        op->evidence.executions_all = op->calls;
        weight->operators = places[weight - weights];
        weight->operators[weight->operator_count++] = i;
    }
}

static void require_bin(const struct row_bin *bin, double executions, double time_ns, bool timed)
{
    assert_true(bin->executions == executions);
    if (timed)
        assert_true(fabs(bin->time_ns - time_ns) <= 1e-6 * time_ns);
    else
        assert_true(isnan(bin->time_ns));
}

/* What the bin from LEAST to MOST holds of WEIGHT, or of all; of PHASE, or, negative, of all. */
static void require_sum(const struct row_bins *bins, const struct weight_row *weight, int phase)
{
    for (int b = 0; b < ROW_BINS; b++) {
        double executions = 0, time_ns = 0;
        bool timed = false;
        for (size_t w = 0; w < WEIGHTS; w++)
            for (size_t i = 0; i < weights[w].operator_count; i++) {
                const struct operator_row *op = &operators[weights[w].operators[i]];
                const uint64_t in_steps = op->phase_calls[PHASE_PREFILL] + op->phase_calls[PHASE_DECODE];
                const uint64_t times = phase < 0                ? op->calls
                                       : phase == PHASE_UNKNOWN ? op->calls - in_steps
                                                                : op->phase_calls[phase];
                if ((weight && weight != &weights[w]) || op->work.m < row_bin_least(b) || op->work.m > row_bin_most(b))
                    continue;
                executions += (double)times;
                if (times && op->kernels) {
                    timed = true;
                    time_ns += (double)op->time_ns * (double)times / (double)op->calls;
                }
            }
        require_bin(&bins->bin[b], executions, time_ns, timed);
    }
}

static void test_random(void **state)
{
    static struct row_bins bins, phases[PHASE_COUNT], step;
    (void)state;
    srand(8);
    for (int round = 0; round < ROUNDS; round++) {
        fill();
        for (size_t w = 0; w < WEIGHTS; w++) {
            row_bins_of_weight(&session, &weights[w], &bins);
            require_sum(&bins, &weights[w], -1);
        }
        row_bins_of_phases(&session, phases, &step);
        require_sum(&step, NULL, -1);
        for (int p = 0; p < PHASE_COUNT; p++)
            require_sum(&phases[p], NULL, p);
    }
}

/* Calls of two phases were captured, 3 and 1, and replayed 100 times together: which of them is not known, so all of it is of
 * none; of one phase alone all replays are of that. */
static void test_replays(void **state)
{
    static struct row_bins phases[PHASE_COUNT], step;
    (void)state;
    fill();
    session.weight_count = 1;
    weights[0].operators = places[0];
    weights[0].operator_count = 1;
    struct operator_row *op = &operators[places[0][0] = 0];
    *op = (struct operator_row){.of_call = true,
                                .calls_known = true,
                                .work.m = 5,
                                .calls = 4,
                                .executions = 100,
                                .evidence.executions_all = 100,
                                .phase_calls = {[PHASE_PREFILL] = 3, [PHASE_DECODE] = 1},
                                .timed = true,
                                .kernels = 100,
                                .time_ns = 1000};
    row_bins_of_phases(&session, phases, &step);
    require_bin(&step.bin[2], 100, 1000, true);
    require_bin(&phases[PHASE_UNKNOWN].bin[2], 100, 1000, true);
    require_bin(&phases[PHASE_DECODE].bin[2], 0, 0, false);
    op->phase_calls[PHASE_PREFILL] = 0;
    op->phase_calls[PHASE_DECODE] = 3; /* the fourth call was in no step */
    row_bins_of_phases(&session, phases, &step);
    require_bin(&phases[PHASE_DECODE].bin[2], 75, 750, true);
    require_bin(&phases[PHASE_UNKNOWN].bin[2], 25, 250, true);
    op->replays_phased = true; /* then replays were counted */
    op->phase_calls[PHASE_DECODE] = 60;
    row_bins_of_phases(&session, phases, &step);
    require_bin(&phases[PHASE_DECODE].bin[2], 60, 600, true);
    require_bin(&phases[PHASE_UNKNOWN].bin[2], 40, 400, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_replays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
