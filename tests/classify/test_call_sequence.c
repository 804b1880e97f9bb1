/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences written down by hand: which calls are siblings, which two are an attention, and where neither is claimed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "classify/call_sequence.h"

enum { FP16 = 2, BF16 = 14, COMPUTE_32F = 68, TID = 50 };

enum { Q, K, V, O, UP, WIDE, LONG, HALF, SCORES, OUTPUT, SIGNATURES }; /* numbers of calls */

struct driver {
    struct call_sequence sequence;
    struct sequence_call calls[SIGNATURES];
    struct trace_block_header block;
    uint64_t stream;
};

/* As PyTorch asks for x[m][k] * w[n][k]^T: cuBLAS's m is N, its A the weight. */
static struct trace_signature signature(int64_t m, int64_t n, int64_t k, int64_t batch)
{
    struct trace_signature s = {
        .kind = TRACE_CALL_GEMM,
        .library = TRACE_LIBRARY_CUBLAS,
        .provenance = TRACE_EXACT,
        .batch_mode = batch > 1 ? TRACE_BATCH_STRIDED : TRACE_BATCH_NONE,
        .trans_a = 1,
        .beta = TRACE_SCALAR_ZERO,
        .m = n,
        .n = m,
        .k = k,
        .batch = batch,
        .type_compute = COMPUTE_32F,
        .epilogue = 1,
    };
    for (int i = 0; i < 4; i++) {
        s.type[i] = BF16;
        s.batch_stride[i] = batch > 1 ? 1 << 20 : 0;
        s.scale_mode[i] = TRACE_UNKNOWN;
    }
    return s;
}

static int start(void **state)
{
    static struct driver driver;
    driver = (struct driver){.block = {.tid = TID, .sequence = 1}, .stream = 7};
    call_sequence_open(&driver.sequence);
    struct trace_signature signatures[SIGNATURES] = {
        [Q] = signature(16, 64, 64, 1),     [K] = signature(16, 8, 64, 1),      [V] = signature(16, 8, 64, 1),
        [O] = signature(16, 64, 64, 1),     [UP] = signature(16, 256, 64, 1),   [WIDE] = signature(17, 8, 64, 1),
        [SCORES] = signature(16, 40, 8, 4), [OUTPUT] = signature(16, 8, 40, 4),
    };
    signatures[LONG] = signature(16, 8, 65, 1);
    signatures[HALF] = signature(16, 8, 64, 1);
    for (int i = 0; i < 4; i++)
        signatures[HALF].type[i] = FP16;
    for (int i = 0; i < SIGNATURES; i++)
        sequence_call_of_signature(&signatures[i], &driver.calls[i]);
    *state = &driver;
    return 0;
}

static int stop(void **state)
{
    struct driver *driver = *state;
    call_sequence_close(&driver->sequence);
    return 0;
}

static void call(struct driver *driver, uint32_t number, uint64_t a, uint64_t b, uint64_t d)
{
    struct trace_call record = {.stream = driver->stream, .operand = {a, b, d}};
    call_sequence_call(&driver->sequence, &driver->block, &record, number, &driver->calls[number]);
}

static void launch(struct driver *driver, uint64_t name_id)
{
    struct trace_launch record = {.stream = driver->stream};
    call_sequence_launch(&driver->sequence, &driver->block, &record, 0, name_id, PHASE_UNKNOWN, NULL);
}

static void expect_siblings(const struct driver *driver, size_t row, uint64_t times, uint32_t count,
                            const uint32_t *calls)
{
    const struct sequence_siblings *siblings = &driver->sequence.siblings[row];
    assert_true(row < driver->sequence.sibling_count);
    assert_int_equal(siblings->times, times);
    assert_int_equal(siblings->count, count);
    assert_memory_equal(siblings->calls, calls, count * sizeof *calls);
}

static void test_layers(void **state)
{
    struct driver *driver = *state;
    for (uint64_t layer = 0; layer < 5; layer++) {
        uint64_t weight = 1000 * (layer + 1);
        call(driver, Q, weight + 1, 0xa, 1);
        call(driver, K, weight + 2, 0xa, 2);
        call(driver, V, weight + 3, 0xa, 3);
        call(driver, O, weight + 4, 0xb, 4);
        call(driver, UP, weight + 5, 0xc, 5);
        launch(driver, 77); /* of gate, before up is asked for */
        call(driver, UP, weight + 6, 0xc, 6);
    }
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.sibling_count, 2);
    expect_siblings(driver, 0, 5, 3, (uint32_t[]){Q, K, V});
    expect_siblings(driver, 1, 5, 2, (uint32_t[]){UP, UP});
    assert_int_equal(driver->sequence.siblings[1].launched[1][0], 77);
    assert_int_equal(driver->sequence.siblings[1].launched[1][1], 0);
    assert_int_equal(driver->sequence.dropped, 0);
}

static void test_no_siblings(void **state)
{
    struct driver *driver = *state;
    call(driver, Q, 1, 0xa, 9), call(driver, K, 2, 0xb, 9);      /* another activation */
    call(driver, K, 3, 0xc, 9), call(driver, WIDE, 4, 0xc, 9);   /* other rows of it */
    call(driver, K, 3, 0x1c, 9), call(driver, LONG, 4, 0x1c, 9); /* longer rows */
    call(driver, K, 3, 0x1d, 9), call(driver, HALF, 4, 0x1d, 9); /* of another type */
    call(driver, K, 5, 0xd, 9), call(driver, K, 5, 0xd, 9);      /* the same weight: the same call again */
    call(driver, K, 6, 0, 9), call(driver, V, 7, 0, 9);          /* no address */
    call(driver, K, 0, 0xe, 9), call(driver, V, 0, 0xe, 9);
    call(driver, K, 8, 0xf, 0xf), call(driver, V, 9, 0xf, 9); /* the first wrote over it */
    call(driver, K, 1, 0xa, 9), call(driver, SCORES, 0xa, 0xa, 9), call(driver, V, 2, 0xa, 9);
    call(driver, K, 1, 0xb, 9), launch(driver, 1), launch(driver, 2), launch(driver, 3), call(driver, V, 2, 0xb, 9);
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.sibling_count, 0);
}

/* o, a norm, gate: what the norm wrote may lie where o's activation lay, and o's N is gate's K. */
static void test_chain_at_one_address(void **state)
{
    struct driver *driver = *state;
    call(driver, K, 1, 0xa, 9), call(driver, O, 2, 0xa, 9), launch(driver, 1), call(driver, UP, 3, 0xa, 9);
    call(driver, Q, 4, 0xb, 9), call(driver, K, 5, 0xb, 9), launch(driver, 1), call(driver, V, 6, 0xb, 9);
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.sibling_count, 2);
    expect_siblings(driver, 0, 1, 2, (uint32_t[]){K, O});
    expect_siblings(driver, 1, 1, 2, (uint32_t[]){Q, K});
}

static void test_nameless_kernel_between(void **state)
{
    struct driver *driver = *state;
    call(driver, K, 1, 0xa, 9), launch(driver, 0), call(driver, V, 2, 0xa, 9);
    call_sequence_end(&driver->sequence);
    assert_true(driver->sequence.siblings[0].launched[1][0] == SEQUENCE_NAMELESS);
}

static void test_more_than_most(void **state)
{
    struct driver *driver = *state;
    for (uint64_t i = 1; i <= SIBLINGS_MOST + 3; i++)
        call(driver, K, i, 0xa, 99);
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.sibling_count, 2);
    expect_siblings(driver, 0, 1, SIBLINGS_MOST, (uint32_t[SIBLINGS_MOST]){K, K, K, K, K, K, K, K});
    expect_siblings(driver, 1, 1, 3, (uint32_t[]){K, K, K});
}

static void test_streams_and_threads(void **state)
{
    struct driver *driver = *state;
    for (int i = 0; i < 3; i++) { /* two streams of a thread, and one of them from another thread */
        driver->stream = 1;
        call(driver, i, 10 + (uint64_t)i, 0xa, 99);
        driver->stream = 2;
        call(driver, O, 20 + (uint64_t)i, 0xb, 99);
        driver->block.tid = TID + 1;
        call(driver, UP, 30 + (uint64_t)i, 0xc, 99);
        driver->block.tid = TID;
    }
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.sibling_count, 3);
    expect_siblings(driver, 0, 1, 3, (uint32_t[]){Q, K, V});
    expect_siblings(driver, 1, 1, 3, (uint32_t[]){O, O, O});
    expect_siblings(driver, 2, 1, 3, (uint32_t[]){UP, UP, UP});
}

static void test_block_out_of_order(void **state)
{
    struct driver *driver = *state;
    driver->block.sequence = 5;
    call(driver, Q, 1, 0xa, 99);
    driver->block.sequence = 4;
    call(driver, K, 2, 0xa, 99);
    driver->block.sequence = 6;
    call(driver, V, 3, 0xa, 99);
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.sibling_count, 1);
    expect_siblings(driver, 0, 1, 2, (uint32_t[]){K, V});
}

/* In row order A holds the activation. */
static void test_row_order(void **state)
{
    struct driver *driver = *state;
    struct trace_signature rows = signature(16, 64, 64, 1);
    rows.library = TRACE_LIBRARY_CUBLASLT;
    rows.trans_a = 0;
    rows.trans_b = 1;
    rows.m = 16;
    rows.n = 64;
    for (int i = 0; i < 4; i++)
        rows.order[i] = 1;
    sequence_call_of_signature(&rows, &driver->calls[Q]);
    assert_int_equal(driver->calls[Q].left, 0);
    assert_int_equal(driver->calls[Q].m, 16);
    call(driver, Q, 0xa, 1, 99);
    call(driver, K, 2, 0xa, 99); /* one that isn't */
    call(driver, Q, 1, 0xb, 99); /* A differs: another activation, whatever B is */
    call(driver, Q, 2, 0xb, 99);
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.sibling_count, 1);
    expect_siblings(driver, 0, 1, 2, (uint32_t[]){Q, K});
}

static void test_what_is_no_product(void **state)
{
    (void)state;
    struct sequence_call made;
    struct trace_signature s = signature(16, 64, 1, 1); /* an outer product */
    sequence_call_of_signature(&s, &made);
    assert_false(made.product || made.batched);
    s = signature(16, 64, 64, 1);
    s.trans_b = 1; /* a weight's gradient */
    sequence_call_of_signature(&s, &made);
    assert_false(made.product);
    s = signature(16, 64, 64, 4);
    sequence_call_of_signature(&s, &made);
    assert_true(!made.product && made.batched && made.strided);
    s.batch_mode = TRACE_BATCH_POINTERS;
    sequence_call_of_signature(&s, &made);
    assert_true(made.batched && !made.strided);
    s = signature(0, 64, 64, 1);
    sequence_call_of_signature(&s, &made);
    assert_false(made.product);
    s = signature(TRACE_UNKNOWN, 64, 64, 1);
    sequence_call_of_signature(&s, &made);
    assert_false(made.product);
    s = signature(16, 64, 64, 1);
    s.kind = TRACE_CALL_LEVEL3;
    sequence_call_of_signature(&s, &made);
    assert_false(made.product);
}

static void test_attention(void **state)
{
    struct driver *driver = *state;
    for (int i = 0; i < 3; i++) {
        call(driver, SCORES, 0x1, 0x2, 0x3);
        launch(driver, 11);
        launch(driver, 12);
        call(driver, OUTPUT, 0x4, 0x5, 0x6);
        call(driver, O, 0x7, 0x6, 0x8);
    }
    call(driver, SCORES, 0x1, 0x2, 0x3);
    call(driver, OUTPUT, 0x4, 0x3, 0x6); /* reads the scores */
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.attention_count, 2);
    const struct sequence_attention *launched = &driver->sequence.attention[0], *read = &driver->sequence.attention[1];
    assert_int_equal(launched->scores, SCORES);
    assert_int_equal(launched->output, OUTPUT);
    assert_int_equal(launched->times, 3);
    assert_int_equal(launched->launched[0], 11);
    assert_int_equal(launched->launched[1], 12);
    assert_int_equal(launched->launched[2], 0);
    assert_false(launched->scores_read);
    assert_true(read->scores_read);
    assert_int_equal(read->times, 1);
}

static void test_no_attention(void **state)
{
    struct driver *driver = *state;
    const struct trace_signature no_output[] = {
        signature(16, 8, 40, 5), /* another batch */
        signature(17, 8, 40, 4), /* rows */
        signature(16, 8, 41, 4), /* keys */
        signature(16, 8, 40, 1), /* one matrix */
    };
    for (int i = 0; i < 4; i++) {
        sequence_call_of_signature(&no_output[i], &driver->calls[V]);
        call(driver, SCORES, 0x1, 0x2, 0x3);
        call(driver, V, 0x4, 0x3, 0x6);
        call(driver, Q, 0x4, 0x3, 0x6);
    }
    call(driver, SCORES, 0x1, 0x2, 0x3), call(driver, O, 0x4, 0x5, 0x6), call(driver, OUTPUT, 0x4, 0x3, 0x6);
    call(driver, OUTPUT, 0x4, 0x3, 0x6);
    call(driver, Q, 0x4, 0x3, 0x6);
    call(driver, SCORES, 0x1, 0x2, 0x3);
    for (int i = 0; i <= SEQUENCE_SOFTMAX_LAUNCHES; i++)
        launch(driver, 11);
    call(driver, OUTPUT, 0x4, 0x3, 0x6);
    call(driver, Q, 0x4, 0x3, 0x6);
    call(driver, SCORES, 0x1, 0x2, 0x3);
    driver->stream++;
    call(driver, OUTPUT, 0x4, 0x3, 0x6);
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.attention_count, 0);
}

/* Where nothing stands between, the end of one may look like the begin of another: it must not hide the next one. */
static void test_attention_after_attention(void **state)
{
    struct driver *driver = *state;
    call(driver, OUTPUT, 0x4, 0x5, 0x6);
    for (int i = 0; i < 3; i++) {
        call(driver, SCORES, 0x1, 0x2, 0x3);
        call(driver, OUTPUT, 0x4, 0x3, 0x6);
    }
    call_sequence_end(&driver->sequence);
    const struct sequence_attention *found = driver->sequence.attention;
    assert_int_equal(driver->sequence.attention_count, 2);
    assert_true(found[0].scores == OUTPUT && !found[0].scores_read); /* without evidence */
    assert_true(found[1].scores == SCORES && found[1].scores_read && found[1].times == 3);
}

/* Arrays of pointers: that two are at one address says nothing. */
static void test_attention_of_pointers(void **state)
{
    struct driver *driver = *state;
    struct trace_signature output = signature(16, 8, 40, 4);
    output.batch_mode = TRACE_BATCH_POINTERS;
    sequence_call_of_signature(&output, &driver->calls[OUTPUT]);
    call(driver, SCORES, 0x1, 0x2, 0x3);
    call(driver, OUTPUT, 0x4, 0x3, 0x6);
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.attention_count, 1);
    assert_false(driver->sequence.attention[0].scores_read);
}

static void test_bounds(void **state)
{
    struct driver *driver = *state;
    for (uint64_t i = 0; i < SEQUENCE_STREAMS_MOST + 5; i++) {
        driver->stream = i;
        call(driver, Q, 1, 0xa, 99);
    }
    assert_int_equal(driver->sequence.dropped, 5);
    driver->stream = 3;
    call(driver, K, 2, 0xa, 99); /* what is known goes on */
    for (uint32_t i = 1; i < SEQUENCE_THREADS_MOST + 7; i++) {
        driver->block.tid = TID + i;
        call(driver, Q, 1, 0xa, 99);
        launch(driver, 11);
    }
    assert_int_equal(driver->sequence.thread_count, SEQUENCE_THREADS_MOST);
    assert_int_equal(driver->sequence.dropped, 5 + 2 * (SEQUENCE_THREADS_MOST + 6));
    call_sequence_end(&driver->sequence);
    expect_siblings(driver, 0, 1, 2, (uint32_t[]){Q, K});
}

static void test_rows_bound(void **state)
{
    struct driver *driver = *state;
    for (uint64_t i = 0; i < SEQUENCE_ROWS_MOST + 20; i++) {
        call(driver, K, 1, 0xa + i, 0);
        launch(driver, i + 1); /* as many lists as names */
        call(driver, V, 2, 0xa + i, 0);
    }
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.sibling_count, SEQUENCE_ROWS_MOST);
    assert_int_equal(driver->sequence.dropped, 2 * 20);
}

/* ---- launches that were read ---- */

enum { PLAN_PARAMETERS = 5 };

/* weights, activations, ids, result, a size. */
static struct launch_parameters *parameters(uint32_t null_pointers)
{
    static union {
        struct trace_parameter_plan plan;
        unsigned char room[sizeof(struct trace_parameter_plan) + PLAN_PARAMETERS * sizeof(struct trace_parameter)];
    } plan;
    static struct launch_parameters found;
    plan.plan.count = PLAN_PARAMETERS;
    for (int i = 0; i < PLAN_PARAMETERS; i++)
        plan.plan.parameter[i] = (struct trace_parameter){
            .bytes = 8, .kept = i == 4 ? 4 : 0, .kind = i == 4 ? TRACE_PARAMETER_VALUE : TRACE_PARAMETER_POINTER};
    found = (struct launch_parameters){.plan = &plan.plan, .null_pointers = null_pointers, .value_bytes = 4};
    return &found;
}

static struct launch_decode matmul(int64_t m, int64_t batch, bool experts)
{
    return (struct launch_decode){.reading = LAUNCH_READ,
                                  .kind = LAUNCH_MATMUL,
                                  .m = m,
                                  .n = 64,
                                  .k = 128,
                                  .batch = batch,
                                  .experts = experts,
                                  .weight_parameter = 0};
}

static void test_what_launches_are(void **state)
{
    (void)state;
    struct sequence_launch launch;
    struct launch_decode decode = matmul(3, 1, false);
    sequence_launch_of_decode(&decode, parameters(1 << 2), &launch);
    assert_true(launch.product && !launch.experts && launch.weight == 1 && launch.left == 2);
    assert_int_equal(launch.m, 3);
    decode.weight_parameter = 3; /* behind a NULL: the third that is kept */
    sequence_launch_of_decode(&decode, parameters(1 << 2), &launch);
    assert_true(launch.product && launch.weight == 3 && launch.left == 0);
    sequence_launch_of_decode(&decode, parameters(1 << 3), &launch);
    assert_false(launch.product); /* NULL */
    decode.weight_parameter = 4;
    sequence_launch_of_decode(&decode, parameters(0), &launch);
    assert_false(launch.product); /* no pointer */
    decode = matmul(3, 8, false); /* attention's products, as batched GEMMs are */
    sequence_launch_of_decode(&decode, parameters(0), &launch);
    assert_false(launch.product);
    decode = matmul(3, 2, true);
    sequence_launch_of_decode(&decode, parameters(0), &launch);
    assert_true(launch.product && launch.experts);
    sequence_launch_of_decode(&decode, NULL, &launch);
    assert_false(launch.product);
    decode.reading = LAUNCH_REFUSED;
    sequence_launch_of_decode(&decode, parameters(0), &launch);
    assert_false(launch.product || launch.attention || launch.serves);
    decode = (struct launch_decode){.reading = LAUNCH_READ, .kind = LAUNCH_ATTENTION, .queries = 7, .sequences = 2};
    sequence_launch_of_decode(&decode, NULL, &launch);
    assert_true(launch.attention && launch.queries == 7 && launch.sequences == 2);
    decode = (struct launch_decode){.reading = LAUNCH_READ, .kind = LAUNCH_HELPER, .serves = LAUNCH_SERVES_NEXT_MATMUL};
    sequence_launch_of_decode(&decode, parameters(0), &launch);
    assert_true(launch.serves && launch.source == 1 && !launch.product);
}

static void launch_read(struct driver *driver, const struct launch_decode *decode, uint64_t first, uint64_t second)
{
    struct {
        struct trace_launch launch;
        struct trace_launch_pointers pointers;
    } record = {.launch = {.record.size = sizeof record, .stream = driver->stream},
                .pointers.pointer = {first, second}};
    struct sequence_launch launch;
    sequence_launch_of_decode(decode, parameters(1 << 2 | 1 << 3), &launch);
    call_sequence_launch(&driver->sequence, &driver->block, &record.launch, 5, 77, PHASE_UNKNOWN, &launch);
}

/* Three layers of launches; each quantises its activation into the same place first. */
static void test_steps_of_launches(void **state)
{
    struct driver *driver = *state;
    const struct launch_decode product = matmul(1, 1, false), helper = {.reading = LAUNCH_READ,
                                                                        .kind = LAUNCH_HELPER,
                                                                        .serves = LAUNCH_SERVES_NEXT_MATMUL};
    for (int step = 0; step < 4; step++)
        for (uint64_t weight = 1; weight <= 6; weight++) {
            launch_read(driver, &helper, 0xa000 + weight, 0xbbb);
            launch_read(driver, &product, 0x1000 * weight, 0xbbb);
        }
    call_sequence_end(&driver->sequence);
    assert_int_equal(driver->sequence.steps.steps[PHASE_DECODE], 4);
    assert_int_equal(step_counts_of(&driver->sequence.steps, 5, true)[PHASE_DECODE],
                     4 * 12 - 1); /* all but the first */
}

/* Weights that are unpacked into one buffer are told by where they come from. */
static void expect_steps_of_unpacked(struct driver *driver, enum launch_serves serves)
{
    const struct launch_decode helper = {.reading = LAUNCH_READ, .kind = LAUNCH_HELPER, .serves = serves};
    for (int step = 0; step < 3; step++)
        for (uint64_t layer = 1; layer <= 6; layer++) {
            launch_read(driver, &helper, 0x1000 * layer, 0xddd);
            call(driver, Q, 0xddd, 0xa, 0xc);
        }
    call_sequence_end(&driver->sequence);
    const struct step_counts *steps = &driver->sequence.steps;
    assert_int_equal(steps->steps[PHASE_UNKNOWN] + steps->steps[PHASE_DECODE] + steps->steps[PHASE_PREFILL], 3);
}

static void test_unpacked_weights(void **state)
{
    expect_steps_of_unpacked(*state, LAUNCH_SERVES_NEXT_MATMUL);
}

/* By a kernel that unpacks for attention, too. */
static void test_weights_unpacked_for_what_comes(void **state)
{
    expect_steps_of_unpacked(*state, LAUNCH_SERVES_NEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_layers, start, stop),
        cmocka_unit_test_setup_teardown(test_no_siblings, start, stop),
        cmocka_unit_test_setup_teardown(test_chain_at_one_address, start, stop),
        cmocka_unit_test_setup_teardown(test_nameless_kernel_between, start, stop),
        cmocka_unit_test_setup_teardown(test_more_than_most, start, stop),
        cmocka_unit_test_setup_teardown(test_streams_and_threads, start, stop),
        cmocka_unit_test_setup_teardown(test_block_out_of_order, start, stop),
        cmocka_unit_test_setup_teardown(test_row_order, start, stop),
        cmocka_unit_test(test_what_is_no_product),
        cmocka_unit_test_setup_teardown(test_attention, start, stop),
        cmocka_unit_test_setup_teardown(test_no_attention, start, stop),
        cmocka_unit_test_setup_teardown(test_attention_after_attention, start, stop),
        cmocka_unit_test_setup_teardown(test_attention_of_pointers, start, stop),
        cmocka_unit_test_setup_teardown(test_bounds, start, stop),
        cmocka_unit_test_setup_teardown(test_rows_bound, start, stop),
        cmocka_unit_test(test_what_launches_are),
        cmocka_unit_test_setup_teardown(test_steps_of_launches, start, stop),
        cmocka_unit_test_setup_teardown(test_unpacked_weights, start, stop),
        cmocka_unit_test_setup_teardown(test_weights_unpacked_for_what_comes, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
