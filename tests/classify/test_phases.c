/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a model of three layers with everything fused, as engines run it; the phases are what their authors know. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "classify/session.h"
#include "classify/step_sequence.h"

enum { LAYERS = 3, CALLS = 4 * LAYERS + 1 }; /* qkv, o, gate and up, down; then the vocabulary */

struct driver {
    struct step_counts counts;
    struct step_sequence *steps;
    uint64_t id; /* of the last call */
};

static int start(void **state)
{
    static struct driver driver;
    driver = (struct driver){.steps = step_sequence_open(&driver.counts)};
    *state = &driver;
    return 0;
}

static int stop(void **state)
{
    struct driver *driver = *state;
    step_sequence_close(driver->steps);
    assert_int_equal(driver->counts.held, 0);
    step_counts_free(&driver->counts);
    return 0;
}

/* A call of number NUMBER. */
static void multiply(struct driver *driver, uint32_t number, uint64_t weight, int64_t m, int64_t n, int64_t k)
{
    step_sequence_add_call(driver->steps, number, ++driver->id, &(struct step_product){weight, m, n, k, false});
}

static void launch(struct driver *driver, uint32_t number, enum phase named)
{
    step_sequence_add_launch(driver->steps, number, ++driver->id, &(struct step_launch){.named = named});
}

static void layers(struct driver *driver, uint32_t number, uint64_t base, int count, int64_t rows)
{
    for (uint64_t weight = base; weight < base + 4 * (uint64_t)count; weight += 4) {
        multiply(driver, number, weight, rows, 96, 64);
        multiply(driver, number, weight + 1, rows, 64, 64);
        multiply(driver, number, weight + 2, rows, 256, 64);
        multiply(driver, number, weight + 3, rows, 64, 128);
    }
}

/* All calls of a pass have one number, so that a test can ask for its phase. */
static void pass(struct driver *driver, uint32_t number, int64_t rows, int64_t sequences)
{
    layers(driver, number, 100, LAYERS, rows);
    multiply(driver, number, 200, sequences, 1000, 64);
}

/* A launch that was read as attention, number 9. */
static void attend(struct driver *driver, int64_t queries, int64_t sequences)
{
    const struct step_attention attention = {queries, sequences};
    step_sequence_add_launch(driver->steps, 9, ++driver->id, &(struct step_launch){.attention = &attention});
}

/* As llama.cpp runs: each layer's launches, of which the last one's second half has a row for each of the LOGITS; no
 * shape that tells the output from the others. */
static void llama_pass(struct driver *driver, uint32_t number, int64_t queries, int64_t sequences, int64_t logits)
{
    const int64_t rows = queries * sequences;
    for (uint64_t layer = 0; layer < 2; layer++) {
        const int64_t rest = layer ? logits : rows;
        multiply(driver, number, 100 + 4 * layer, rows, 64, 64);
        attend(driver, queries, sequences);
        if (!rest)
            return;
        multiply(driver, number, 101 + 4 * layer, rest, 64, 64);
        multiply(driver, number, 102 + 4 * layer, rest, 64, 64);
        multiply(driver, number, 103 + 4 * layer, rest, 64, 64);
    }
    multiply(driver, number, 200, logits, 64, 64);
}

static void expect(struct driver *driver, uint32_t number, uint64_t unknown, uint64_t prefill, uint64_t decode)
{
    const uint64_t *calls = step_counts_of(&driver->counts, number, false);
    assert_int_equal(calls[PHASE_UNKNOWN], unknown);
    assert_int_equal(calls[PHASE_PREFILL], prefill);
    assert_int_equal(calls[PHASE_DECODE], decode);
}

static void test_prompt_then_tokens(void **state)
{
    struct driver *driver = *state;
    pass(driver, 0, 100, 1);
    for (int i = 0; i < 5; i++)
        pass(driver, 1, 1, 1);
    step_sequence_break(driver->steps);
    expect(driver, 0, 0, CALLS, 0);
    expect(driver, 1, 0, 0, 5 * CALLS);
    assert_int_equal(driver->counts.steps[PHASE_PREFILL], 1);
    assert_int_equal(driver->counts.steps[PHASE_DECODE], 5);
    assert_true(driver->counts.rows[PHASE_PREFILL] == 100);
    assert_true(driver->counts.rows[PHASE_DECODE] == 5);
}

/* As transformers did before logits_to_keep: 2 prompts of 50 tokens, the vocabulary for all of them. */
static void test_logits_of_all_positions(void **state)
{
    struct driver *driver = *state;
    for (int generation = 0; generation < 2; generation++) {
        pass(driver, 0, 100, 100);
        for (int i = 0; i < 3; i++)
            pass(driver, 1, 2, 2);
    }
    step_sequence_break(driver->steps);
    expect(driver, 0, 0, 2 * CALLS, 0);
    expect(driver, 1, 0, 0, 6 * CALLS);
    pass(driver, 2, 7, 7); /* no number of prompts for the two that follow */
    for (int i = 0; i < 3; i++)
        pass(driver, 3, 2, 2);
    step_sequence_break(driver->steps);
    expect(driver, 2, CALLS, 0, 0);
}

static void test_batches(void **state)
{
    struct driver *driver = *state;
    const int64_t rows[] = {17, 16, 8, 8, 7, 5, 4, 40, 4};
    for (uint32_t i = 0; i < 9; i++)
        pass(driver, i, rows[i], i == 7 ? 6 : rows[i]); /* 7: a chunk of a prompt beside five that decode */
    step_sequence_break(driver->steps);
    expect(driver, 2, 0, 0, CALLS); /* two alike decode */
    expect(driver, 3, 0, 0, CALLS);
    expect(driver, 7, 0, CALLS, 0);
    const uint32_t alone[] = {0, 1, 4, 5, 6, 8}; /* might be prompts whose logits were all asked for */
    for (int i = 0; i < 6; i++)
        expect(driver, alone[i], CALLS, 0, 0);
}

/* Logits of all positions of long texts, one after another; no engine batches as many sequences. */
static void test_perplexity(void **state)
{
    struct driver *driver = *state;
    for (int i = 0; i < 3; i++)
        pass(driver, 0, 2048, 2048);
    for (int i = 0; i < 3; i++)
        pass(driver, 1, 1024, 1024);
    step_sequence_break(driver->steps);
    expect(driver, 0, 3 * CALLS, 0, 0);
    expect(driver, 1, 0, 0, 3 * CALLS);
}

static void test_one_pass(void **state)
{
    struct driver *driver = *state;
    pass(driver, 0, 8, 8);
    step_sequence_break(driver->steps);
    expect(driver, 0, CALLS, 0, 0);
    pass(driver, 1, 100, 1); /* nothing comes again: it may be the end of a longer step */
    step_sequence_break(driver->steps);
    expect(driver, 1, CALLS, 0, 0);
    pass(driver, 2, 1, 1); /* one row is one token */
    step_sequence_break(driver->steps);
    expect(driver, 2, 0, 0, CALLS);
}

/* What came before the first weight that comes again is in no step, however many calls it was. */
static void test_before_the_first_step(void **state)
{
    struct driver *driver = *state;
    for (uint64_t weight = 1; weight <= 20; weight++)
        multiply(driver, 9, weight, 64, 64, 64);
    pass(driver, 0, 100, 1);
    launch(driver, 0, PHASE_UNKNOWN);
    step_sequence_add_call(driver->steps, 2, ++driver->id, NULL);
    pass(driver, 1, 1, 1);
    pass(driver, 1, 1, 1);
    step_sequence_break(driver->steps);
    expect(driver, 9, 0, 0, 0);
    expect(driver, 0, 0, CALLS, 0);
    expect(driver, 2, 0, 1, 0);
    assert_int_equal(step_counts_of(&driver->counts, 0, true)[PHASE_PREFILL], 1);
}

/* A benchmark that multiplies one thing again and again, then a model. */
static void test_warm_up(void **state)
{
    struct driver *driver = *state;
    for (int i = 0; i < 50; i++)
        multiply(driver, 9, 1, 1, 64, 64);
    pass(driver, 0, 100, 1);
    pass(driver, 1, 1, 1);
    pass(driver, 1, 1, 1);
    step_sequence_break(driver->steps);
    assert_int_equal(step_counts_of(&driver->counts, 9, false)[PHASE_DECODE], 0);
    expect(driver, 0, 0, CALLS, 0);
    expect(driver, 1, 0, 0, 2 * CALLS);
}

static void test_no_model(void **state)
{
    struct driver *driver = *state;
    for (int i = 0; i < 3; i++)
        layers(driver, 0, 100, LAYERS, 512); /* chunks without logits: the last product is one of many alike */
    step_sequence_break(driver->steps);
    expect(driver, 0, 12 * 3, 0, 0);
    for (int i = 0; i < 30; i++)
        layers(driver, 1, 100, 1, 8); /* one layer's weights for all layers */
    step_sequence_break(driver->steps);
    expect(driver, 1, 4 * 30, 0, 0);
    for (int i = 0; i < 30; i++)
        for (uint64_t weight = 1; weight <= 3; weight++)
            multiply(driver, 2, weight, 1, 64, 64);
    step_sequence_break(driver->steps);
    expect(driver, 2, 3 * 30, 0, 0);
}

/* Experts get a part of the rows, other ones each time; attention's projections get them all. */
static void moe_pass(struct driver *driver, uint32_t number, uint64_t expert, int64_t rows, int64_t sequences)
{
    for (uint64_t layer = 0; layer < 4; layer++) {
        multiply(driver, number, 100 + layer, rows, 96, 64);
        multiply(driver, number, 110 + layer, rows, 64, 64);
        multiply(driver, number, 1000 + 100 * layer + expert, rows > 3 ? rows - 3 : 1, 256, 64);
        multiply(driver, number, 2000 + 100 * layer + expert, rows > 3 ? rows - 3 : 1, 64, 256);
    }
    multiply(driver, number, 200, sequences, 1000, 64);
}

static void test_experts(void **state)
{
    struct driver *driver = *state;
    moe_pass(driver, 0, 3, 90, 4);
    for (uint64_t i = 0; i < 4; i++)
        moe_pass(driver, 1, i, 4, 4);
    step_sequence_break(driver->steps);
    expect(driver, 0, 0, 17, 0);
    expect(driver, 1, 0, 0, 4 * 17);
}

static void test_kernels_that_decode(void **state)
{
    struct driver *driver = *state;
    for (int i = 0; i < 2; i++) { /* as captured without logits */
        launch(driver, 0, PHASE_DECODE);
        layers(driver, 0, 100, LAYERS, 8);
    }
    step_sequence_break(driver->steps);
    expect(driver, 0, 12, 0, 12); /* the first launch came before the first step */
    for (int i = 0; i < 3; i++) { /* both in one step */
        launch(driver, 0, PHASE_DECODE);
        launch(driver, 0, PHASE_PREFILL);
        layers(driver, 3, 100, LAYERS, 8);
    }
    step_sequence_break(driver->steps);
    expect(driver, 3, 36, 0, 0);
    for (int i = 0; i < 3; i++) { /* the name against the rows: neither is believed */
        pass(driver, 1, 100, 1);
        launch(driver, 1, PHASE_DECODE);
    }
    step_sequence_break(driver->steps);
    expect(driver, 1, 3 * CALLS, 0, 0);
    for (int i = 0; i < 3; i++) { /* FlashInfer's name for both */
        pass(driver, 2, 8, 8);
        launch(driver, 1, PHASE_PREFILL);
    }
    step_sequence_break(driver->steps);
    expect(driver, 2, 0, 0, 3 * CALLS);
}

static void test_break(void **state)
{
    struct driver *driver = *state;
    pass(driver, 0, 100, 1);
    pass(driver, 0, 100, 1);
    layers(driver, 1, 100, 1, 1); /* cut in the middle, and what follows is another's */
    step_sequence_break(driver->steps);
    layers(driver, 1, 104, 2, 1);
    step_sequence_break(driver->steps);
    expect(driver, 0, 0, 2 * CALLS, 0);
    assert_int_equal(step_counts_of(&driver->counts, 1, false)[PHASE_PREFILL], 0);
}

static void test_bounds(void **state)
{
    struct driver *driver = *state;
    for (uint64_t weight = 1; weight <= STEP_CALLS_MOST + 10; weight++)
        multiply(driver, 0, weight, 1, (int64_t)weight, 64); /* as many shapes, too */
    assert_int_equal(driver->counts.dropped, STEP_CALLS_MOST);
    assert_int_equal(driver->counts.held, 10);
    for (uint32_t i = 0; i < 3 * STEP_CALLS_MOST; i++)
        launch(driver, 0, PHASE_UNKNOWN);
    assert_true(driver->counts.held <= STEP_CALLS_MOST);
    step_sequence_break(driver->steps);
    expect(driver, 0, 0, 0, 0);
}

/* ---- sums ---- */

static void test_sums(void **state)
{
    (void)state;
    struct operator_row operators[] = {
        {.calls = 10, .kernels = 10, .time_ns = 50, .flops = 1000, .bytes = 100, .phase_calls = {1, 2, 5}},
        {.calls = 4, .kernels = 4, .time_ns = 30, .flops = 50, .bytes = 50, .phase_calls = {0, 0, 4}},
        {.calls = 7, .kernels = 7, .time_ns = 20, .flops = NAN, .bytes = NAN, .phase_calls = {0, 0, 7}},
    };
    struct session session = {.operators = operators, .operator_count = 3, .coverage.gpu_time_ns = 100};
    session.phases[PHASE_DECODE] = (struct phase_sum){.steps = 4, .rows_per_step = 10};
    session.phases[PHASE_PREFILL] = (struct phase_sum){.steps = 1, .rows_per_step = 90};
    phases_find(&session);
    const struct phase_sum *decode = &session.phases[PHASE_DECODE], *prefill = &session.phases[PHASE_PREFILL];
    assert_float_equal(decode->flops, 500 + 50, 1e-9);
    assert_float_equal(decode->bytes, 50 + 50, 1e-9);
    assert_float_equal(decode->time_ns, 25 + 30, 1e-9);
    assert_float_equal(decode->share, 0.55, 1e-9);
    assert_float_equal(decode->gpu_time_ns, 25 + 30 + 20, 1e-9);
    assert_float_equal(decode->gpu_share, 0.75, 1e-9);
    assert_float_equal(decode->intensity, 5.5, 1e-9);
    assert_float_equal(decode->rows_per_step, 2.5, 1e-9);
    assert_float_equal(prefill->flops, 200, 1e-9);
    assert_float_equal(prefill->rows_per_step, 90, 1e-9);
    assert_float_equal(session.phases[PHASE_UNKNOWN].bytes, 30, 1e-9);
    assert_true(isnan(session.phases[PHASE_UNKNOWN].rows_per_step));
    assert_float_equal(session.step.flops, 1050, 1e-9);
    assert_float_equal(session.step.intensity, 7, 1e-9);
    assert_int_equal(session.step.steps, 5);
    assert_float_equal(session.step.rows_per_step, 20, 1e-9);
}

/* One call of a prompt, one captured in decoding and replayed 99 times: by calls, half of its time would be the prompt's. */
static void test_replays(void **state)
{
    (void)state;
    struct operator_row operators[] = {
        {.of_call = true,
         .calls = 2,
         .executions = 100,
         .kernels = 100,
         .time_ns = 100,
         .flops = 1,
         .bytes = 1,
         .phase_calls = {0, 1, 1}},
        {.calls = 2, .kernels = 100, .time_ns = 100, .flops = NAN, .bytes = NAN, .phase_calls = {0, 1, 1}},
        {.of_call = true,
         .calls = 2,
         .executions = 2,
         .kernels = 200,
         .time_ns = 400,
         .flops = 1,
         .bytes = 1,
         .phase_calls = {0, 1, 1}},
        {.of_call = true,
         .calls = 1,
         .executions = 99,
         .kernels = 99,
         .time_ns = 100,
         .flops = 1,
         .bytes = 1,
         .phase_calls = {0, 0, 1}},
    };
    struct session session = {.operators = operators, .operator_count = 4, .coverage.gpu_time_ns = 700};
    phases_find(&session);
    struct operator_row known = operators[0]; /* where it is known what was replayed */
    known.phase_calls[PHASE_DECODE] = 99;
    known.replays_phased = true;
    struct session told = {.operators = &known, .operator_count = 1, .coverage.gpu_time_ns = 100};
    phases_find(&told);
    assert_float_equal(told.phases[PHASE_PREFILL].gpu_time_ns, 1, 1e-9);
    assert_float_equal(told.phases[PHASE_DECODE].gpu_time_ns, 99, 1e-9);
    assert_float_equal(told.phases[PHASE_UNKNOWN].gpu_time_ns, 0, 1e-9);
    assert_float_equal(session.phases[PHASE_PREFILL].gpu_time_ns, 200, 1e-9);
    assert_float_equal(session.phases[PHASE_DECODE].gpu_time_ns, 200 + 100, 1e-9);
    assert_float_equal(session.phases[PHASE_UNKNOWN].gpu_time_ns, 100 + 100, 1e-9);
}

/* The output has the shape of other weights, which by calls alone would be no model's. */
static void test_attention_tells(void **state)
{
    struct driver *driver = *state;
    enum { LLAMA_CALLS = 9 };
    llama_pass(driver, 0, 301, 1, 1);
    for (int i = 0; i < 3; i++)
        llama_pass(driver, 1, 1, 1, 1);
    for (int i = 0; i < 2; i++)
        llama_pass(driver, 2, 1, 4, 4); /* four slots */
    llama_pass(driver, 3, 40, 2, 2);    /* two prompts at once */
    llama_pass(driver, 1, 1, 1, 1);
    step_sequence_break(driver->steps);
    expect(driver, 0, 0, LLAMA_CALLS, 0);
    expect(driver, 1, 0, 0, 4 * LLAMA_CALLS);
    expect(driver, 2, 0, 0, 2 * LLAMA_CALLS);
    expect(driver, 3, 0, LLAMA_CALLS, 0);
    assert_int_equal(driver->counts.steps[PHASE_PREFILL], 2);
    assert_int_equal(driver->counts.steps[PHASE_DECODE], 6);
    assert_float_equal(driver->counts.rows[PHASE_PREFILL], 301 + 80, 1e-9); /* tokens, not a mean M */
    assert_float_equal(driver->counts.rows[PHASE_DECODE], 4 * 1 + 2 * 4, 1e-9);
}

/* Four slots in one cache: attention has four queries of what looks like one sequence. An output that is told by its shape
 * makes them a batch. */
static void test_one_cache(void **state)
{
    struct driver *driver = *state;
    for (int i = 0; i < 3; i++) {
        layers(driver, 1, 100, LAYERS, 4);
        attend(driver, 4, 1);
        multiply(driver, 1, 200, 4, 1000, 64);
    }
    step_sequence_break(driver->steps);
    expect(driver, 1, 0, 0, 3 * CALLS);
    assert_float_equal(driver->counts.rows[PHASE_DECODE], 12, 1e-9);
}

/* Of a long prompt's first part no logits are asked for. */
static void test_parts_of_a_prompt(void **state)
{
    struct driver *driver = *state;
    llama_pass(driver, 0, 512, 1, 0);
    llama_pass(driver, 0, 512, 1, 0);
    llama_pass(driver, 1, 100, 1, 1);
    llama_pass(driver, 2, 1, 1, 1);
    llama_pass(driver, 2, 1, 1, 1);
    step_sequence_break(driver->steps);
    expect(driver, 0, 0, 2 * 5, 0);
    expect(driver, 1, 0, 9, 0);
    expect(driver, 2, 0, 0, 18);
}

/* Rows of one expert say nothing of a step's. */
static void test_rows_of_experts(void **state)
{
    struct driver *driver = *state;
    for (int i = 0; i < 3; i++) {
        layers(driver, 0, 100, LAYERS, 1);
        step_sequence_add_call(driver->steps, 0, ++driver->id, &(struct step_product){150, 2, 64, 64, true});
        multiply(driver, 0, 200, 1, 1000, 64);
    }
    step_sequence_break(driver->steps);
    expect(driver, 0, 0, 0, 3 * (CALLS + 1));
}

/* Steps equally far apart are one span, however many; others begin a new one. */
static void test_spans(void **state)
{
    struct driver *driver = *state;
    pass(driver, 0, 100, 1);
    for (int i = 0; i < 50; i++)
        pass(driver, 1, 1, 1);
    launch(driver, 0, PHASE_UNKNOWN);
    for (int i = 0; i < 3; i++)
        pass(driver, 1, 1, 1);
    step_sequence_break(driver->steps);
    const struct step_counts *counts = &driver->counts;
    assert_int_equal(counts->span_count, 3);
    assert_int_equal(counts->spans[0].phase, PHASE_PREFILL);
    assert_int_equal(counts->spans[0].first_call, 1);
    assert_int_equal(counts->spans[0].last_call, CALLS);
    assert_int_equal(counts->spans[1].phase, PHASE_DECODE);
    assert_int_equal(counts->spans[1].first_call, CALLS + 1);
    assert_int_equal(counts->spans[1].steps, 50);
    assert_int_equal(counts->spans[1].stride, CALLS);
    assert_int_equal(counts->spans[1].last_call, 51 * CALLS + 1); /* with the launch behind it */
    assert_int_equal(counts->spans[2].first_call, 51 * CALLS + 2);
    assert_int_equal(counts->spans[2].steps, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_prompt_then_tokens, start, stop),
        cmocka_unit_test_setup_teardown(test_logits_of_all_positions, start, stop),
        cmocka_unit_test_setup_teardown(test_batches, start, stop),
        cmocka_unit_test_setup_teardown(test_perplexity, start, stop),
        cmocka_unit_test_setup_teardown(test_one_pass, start, stop),
        cmocka_unit_test_setup_teardown(test_before_the_first_step, start, stop),
        cmocka_unit_test_setup_teardown(test_warm_up, start, stop),
        cmocka_unit_test_setup_teardown(test_no_model, start, stop),
        cmocka_unit_test_setup_teardown(test_experts, start, stop),
        cmocka_unit_test_setup_teardown(test_kernels_that_decode, start, stop),
        cmocka_unit_test_setup_teardown(test_break, start, stop),
        cmocka_unit_test_setup_teardown(test_bounds, start, stop),
        cmocka_unit_test_setup_teardown(test_attention_tells, start, stop),
        cmocka_unit_test_setup_teardown(test_one_cache, start, stop),
        cmocka_unit_test_setup_teardown(test_parts_of_a_prompt, start, stop),
        cmocka_unit_test_setup_teardown(test_rows_of_experts, start, stop),
        cmocka_unit_test_setup_teardown(test_spans, start, stop),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_replays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
