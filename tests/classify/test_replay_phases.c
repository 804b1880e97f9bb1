/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that graphs captured and replayed, by hand: how many steps there were, and of which phase each execution is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/operator_join.h"
#include "classify/phase_shares.h"
#include "classify/replay_phases.h"

/* A step: five products, each a signature of its own, so a test can ask for each. */
enum { PRODUCTS = 5, ANOTHER = PRODUCTS, SIGNATURES };

struct run {
    struct operator_join join;
    struct name_pool names;
    struct step_sequence *steps;
    uint64_t id;  /* of the last call */
    bool changed; /* product 2 is ANOTHER from now on */
};

static int start(void **state)
{
    static struct run run;
    run = (struct run){0};
    operator_join_open(&run.join, &run.names);
    for (uint64_t i = 0; i < SIGNATURES; i++)
        operator_join_signature(&run.join, &(struct trace_signature){.id = 1000 + i, .kind = TRACE_CALL_GEMM});
    run.steps = step_sequence_open(&run.join.sequence.steps);
    *state = &run;
    return 0;
}

static int stop(void **state)
{
    struct run *run = *state;
    step_sequence_close(run->steps);
    operator_join_close(&run->join);
    name_pool_free(&run->names);
    return 0;
}

/* Calls of a step, recorded; its products have ROWS rows but for the last, which has LAST. Returns the first one's id. */
static uint64_t step(struct run *run, int64_t rows, int64_t last)
{
    const uint64_t first = run->id + 1;
    for (uint32_t i = 0; i < PRODUCTS; i++) {
        const struct step_product product = {100 + i, i + 1 < PRODUCTS ? rows : last, i + 1 < PRODUCTS ? 64 : 1000, 64,
                                             false};
        const uint32_t signature = run->changed && i == 2 ? ANOTHER : i;
        run->join.signatures[signature].calls++;
        step_sequence_add_call(run->steps, signature, ++run->id, &product);
    }
    return first;
}

static void node(struct run *run, uint32_t graph, uint32_t number, uint32_t signature, uint64_t call, uint64_t launches)
{
    const struct trace_graph_node record = {.graph_node_id = (uint64_t)graph << 32 | number,
                                            .call_id = call,
                                            .owner_id = 1000 + signature,
                                            .graph_id = graph,
                                            .owner = TRACE_OWNER_CALL,
                                            .launches = launches};
    graph_replays_add_node(&run->join.replays, &record, false, 1);
}

/* Products FROM to UNTIL of a step that was captured, as nodes of GRAPH. */
static void capture(struct run *run, uint32_t graph, uint64_t first, uint32_t from, uint32_t until)
{
    for (uint32_t i = from; i < until; i++)
        node(run, graph, i, i, first + i, 0);
}

static void launches(struct run *run, uint32_t graph, uint64_t count)
{
    graph_replays_add_launches(&run->join.replays,
                               &(struct trace_graph_launches){.graph_id = graph, .launches = count, .realtime_ns = 2});
}

static void end(struct run *run)
{
    step_sequence_break(run->steps);
    graph_replays_end(&run->join.replays, false);
    replay_phases_apply(&run->join);
}

static void expect_steps(const struct run *run, uint64_t prefill, uint64_t decode, double decode_rows)
{
    const struct step_counts *steps = &run->join.sequence.steps;
    assert_int_equal(steps->steps[PHASE_PREFILL], prefill);
    assert_int_equal(steps->steps[PHASE_DECODE], decode);
    assert_float_equal(steps->rows[PHASE_DECODE], decode_rows, 1e-9);
}

static void expect_executions(const struct run *run, uint32_t signature, uint64_t prefill, uint64_t decode)
{
    const uint64_t *phases = step_counts_of(&run->join.sequence.steps, signature, false);
    assert_int_equal(phases[PHASE_PREFILL], prefill);
    assert_int_equal(phases[PHASE_DECODE], decode);
}

/* A prompt, two tokens as called, one captured and replayed 597 times: 599 tokens. */
static void test_one_graph(void **state)
{
    struct run *run = *state;
    step(run, 301, 1);
    step(run, 1, 1);
    step(run, 1, 1);
    capture(run, 1, step(run, 1, 1), 0, PRODUCTS);
    launches(run, 1, 597);
    end(run);
    expect_steps(run, 1, 599, 599);
    for (uint32_t i = 0; i < PRODUCTS; i++)
        expect_executions(run, i, 1, 599);
}

/* Two graphs hold the weights once together; one token is one launch of each. */
static void test_a_step_of_two_graphs(void **state)
{
    struct run *run = *state;
    step(run, 1, 1);
    const uint64_t first = step(run, 1, 1);
    capture(run, 1, first, 0, 2);
    capture(run, 2, first, 2, PRODUCTS);
    launches(run, 1, 20);
    launches(run, 2, 20);
    end(run);
    expect_steps(run, 0, 21, 21);
    for (uint32_t i = 0; i < PRODUCTS; i++)
        expect_executions(run, i, 0, 21);
}

/* Four slots: a step is four tokens. */
static void test_rows(void **state)
{
    struct run *run = *state;
    step(run, 4, 4);
    step(run, 4, 4);
    capture(run, 1, step(run, 4, 4), 0, PRODUCTS);
    launches(run, 1, 10);
    end(run);
    expect_steps(run, 0, 12, 48);
}

/* Captured anew after 100 launches: one call changed, and only that has a record. All were captured once more, and none of them
 * ran then. */
static void test_update(void **state)
{
    struct run *run = *state;
    step(run, 1, 1);
    capture(run, 1, step(run, 1, 1), 0, PRODUCTS);
    launches(run, 1, 100);
    run->changed = true;
    step(run, 1, 1);
    const uint64_t again = step(run, 1, 1);
    node(run, 1, 2, ANOTHER, again + 2, 100);
    launches(run, 1, 150);
    end(run);
    expect_steps(run, 0, 2 + 150, 152);
    expect_executions(run, 0, 0, 152);
    expect_executions(run, 2, 0, 1 + 100);
    expect_executions(run, ANOTHER, 0, 1 + 50);
}

/* The same twice, and of another graph in between, whose first products are none of this one's. */
static void test_updates(void **state)
{
    struct run *run = *state;
    step(run, 1, 1);
    const uint64_t other = step(run, 1, 1);
    capture(run, 2, other, 3, PRODUCTS);
    capture(run, 1, other, 0, 3);
    launches(run, 1, 100);
    launches(run, 2, 100);
    run->changed = true;
    const uint64_t first = step(run, 1, 1);
    node(run, 1, 2, ANOTHER, first + 2, 100);
    node(run, 2, 3, 3, first + 3, 100);
    launches(run, 1, 150);
    launches(run, 2, 150);
    run->changed = false;
    node(run, 1, 2, 2, step(run, 1, 1) + 2, 150);
    launches(run, 1, 160);
    launches(run, 2, 160);
    end(run);
    expect_steps(run, 0, 1 + 160, 161);
    expect_executions(run, 0, 0, 161);
    expect_executions(run, 2, 0, 1 + 100 + 10);
    expect_executions(run, ANOTHER, 0, 50);
}

/* A graph that was captured and never launched executed nothing. */
static void test_never_launched(void **state)
{
    struct run *run = *state;
    step(run, 1, 1);
    step(run, 1, 1);
    capture(run, 1, step(run, 1, 1), 0, PRODUCTS);
    end(run);
    expect_steps(run, 0, 2, 2);
    expect_executions(run, 0, 0, 2);
}

/* Two graphs made of one capture: it was captured once. */
static void test_instantiated_twice(void **state)
{
    struct run *run = *state;
    step(run, 1, 1);
    const uint64_t first = step(run, 1, 1);
    capture(run, 1, first, 0, PRODUCTS);
    capture(run, 2, first, 0, PRODUCTS);
    launches(run, 1, 3);
    launches(run, 2, 4);
    end(run);
    expect_steps(run, 0, 1 + 7, 8);
}

/* Calls that nobody recorded are in no step. */
static void test_of_no_step(void **state)
{
    struct run *run = *state;
    step(run, 1, 1);
    step(run, 1, 1);
    node(run, 1, 0, 0, 5000, 0);
    launches(run, 1, 10);
    end(run);
    expect_steps(run, 0, 2, 2);
    expect_executions(run, 0, 0, 2);
}

/* ---- by device ---- */

static void test_shares(void **state)
{
    (void)state;
    struct phase_share share = {.phases = {[PHASE_PREFILL] = 1, [PHASE_DECODE] = 120}, .executions = 121};
    uint64_t first[PHASE_COUNT] = {0}, second[PHASE_COUNT] = {0};
    phase_share_take(&share, 60, first);
    phase_share_take(&share, 61, second);
    assert_int_equal(first[PHASE_PREFILL] + second[PHASE_PREFILL], 1);
    assert_int_equal(first[PHASE_DECODE] + second[PHASE_DECODE], 120);
    assert_int_equal(first[PHASE_PREFILL] + first[PHASE_DECODE], 60);
    share = (struct phase_share){.phases = {[PHASE_DECODE] = 7}, .executions = 10};
    uint64_t all[PHASE_COUNT] = {0};
    phase_share_take(&share, 3, all);
    phase_share_take(&share, 100, all);
    phase_share_take(&share, 1, all);
    assert_int_equal(all[PHASE_DECODE], 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_graph, start, stop),
        cmocka_unit_test_setup_teardown(test_a_step_of_two_graphs, start, stop),
        cmocka_unit_test_setup_teardown(test_rows, start, stop),
        cmocka_unit_test_setup_teardown(test_update, start, stop),
        cmocka_unit_test_setup_teardown(test_updates, start, stop),
        cmocka_unit_test_setup_teardown(test_never_launched, start, stop),
        cmocka_unit_test_setup_teardown(test_instantiated_twice, start, stop),
        cmocka_unit_test_setup_teardown(test_of_no_step, start, stop),
        cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
