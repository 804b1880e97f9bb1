/* SPDX-License-Identifier: Apache-2.0 */
/* Weights, siblings and attention on a GPU of round numbers: 100 TFLOP/s, 1 TB/s, so a ridge of 100 FLOP/B, and 100 SMs. A
 * microsecond is 1e8 FLOPs or 1e6 bytes. Every expectation is worked out in the comment beside it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/roof_time.h"
#include "classify/session.h"

enum { BF16 = 14, COMPUTE_32F = 68 };

static const struct gpu_spec round_gpu = {
    .key = "round",
    .sm_count = 100,
    .bytes_per_second = 1e12,
    .flops_per_second = {[GPU_PATH_BF16] = 100e12},
};

static struct session_device device;

static struct session session_of(struct operator_row *operators, size_t count)
{
    device = (struct session_device){.described = true, .facts.sm_count = 100, .roofs = {&round_gpu, 1, 1}};
    device.kernels = 1;
    device.busy = (struct interval_union){.known = true, .covered_ns = 1000000000};
    return (struct session){.devices = &device,
                            .device_count = 1,
                            .operators = operators,
                            .operator_count = count,
                            .coverage.gpu_time_ns = 1e9};
}

/* x[m][k] * w[n][k]^T, EXECUTIONS times, T_NS each, on BLOCKS blocks. */
static struct operator_row product(int64_t m, int64_t n, int64_t k, int64_t batch, uint64_t executions, uint64_t t_ns,
                                   uint64_t blocks)
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
        .batch_stride = {1, 1, 1, 1},
        .type_compute = COMPUTE_32F,
        .type = {BF16, BF16, BF16, BF16},
        .type_bias = TRACE_UNKNOWN,
        .type_aux = TRACE_UNKNOWN,
        .scale_mode = {TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN},
        .epilogue = 1,
    };
    struct operator_row op = {
        .kind = OPERATOR_GEMM,
        .of_call = true,
        .calls = executions,
        .executions = executions,
        .kernels = executions,
        .timed = true,
        .time_ns = executions * t_ns,
        .blocks = blocks,
    };
    work_of_signature(&s, NULL, &op.work);
    op.share = (double)op.time_ns / 1e9;
    op.roofline.intensity = op.work.intensity;
    op.roofline.ridge = 100;
    op.roofline.t_roof_ns = fmax(op.work.flops / 1e5, op.work.bytes / 1e3) * (double)executions;
    op.roofline.roof_fraction = op.roofline.t_roof_ns / (double)op.time_ns;
    return op;
}

static void near(double value, double expected)
{
    assert_float_equal(value, expected, 1e-6 * fabs(expected) + 1e-9);
}

/* N = K = 1000: M* = 1/(1/100 - 1/1000 - 1/1000) = 125.
 * M = 50: 1e8 FLOPs, 2 (50 + 1000 + 50) 1000 = 2.2e6 bytes: 2.2 us. M = 100: 2e8, 2.4e6: 2.4 us. M = 200: 4e8, 2.8e6: 4 us. */
static void test_many_rows(void **state)
{
    (void)state;
    struct operator_row operators[] = {
        product(100, 1000, 1000, 1, 80, 10000, 150),
        product(50, 1000, 1000, 1, 10, 20000, 20),
        product(200, 1000, 1000, 1, 10, 5000, 300),
        product(100, 64, 1000, 1, 1, 7, 0),
    };
    struct session session = session_of(operators, 4);
    weights_find(&session);
    assert_int_equal(session.weight_count, 2);
    const struct weight_row *weight = &session.weights[0];
    assert_int_equal(weight->n, 1000);
    assert_int_equal(weight->operator_count, 3);
    assert_int_equal(weight->executions, 100);
    assert_int_equal(weight->time_ns, 1050000);
    near(weight->share, 0.00105);
    /* Ranks 50 and 90 of 10 times 50, 80 times 100, 10 times 200. */
    assert_int_equal(weight->m_min, 50);
    assert_int_equal(weight->m_p50, 100);
    assert_int_equal(weight->m_p90, 100);
    assert_int_equal(weight->m_max, 200);
    near(weight->rows_at_ridge, 125);
    near(weight->intensity_limit, 500); /* 2 N K / (2 K + 2 N) */
    assert_int_equal(weight->limited_by, GEMM_SIDE_NONE);
    near(weight->executions_below, 0.9);
    near(weight->time_below, 1000. / 1050);
    assert_int_equal(weight->short_side, GEMM_SIDE_M);
    assert_true(weight->skinny);
    /* 150 blocks are two waves of which one is half full. */
    assert_int_equal(weight->blocks, 150);
    near(weight->fill, 0.75);
    /* 10 * 50 + 80 * 100 rows at 2e6 FLOPs each are 170 us, and were 10 * 2.2 + 80 * 2.4. */
    near(weight->saved_ns[WEIGHT_BATCH], 214000 - 170000);
    /* 1e6 bytes less: 1.2 us and, compute-bound now, 2 us. */
    near(weight->saved_ns[WEIGHT_8_BIT], 10 * 1000 + 80 * 400);
    /* 516000 bytes of weight, scales included: 1 us of compute and 2. */
    near(weight->saved_ns[WEIGHT_4_BIT], 10 * 1200 + 80 * 400);
    /* M = 50 on 20 of 100 SMs: 5 us of compute. Two splits: 2.5 us, 2.2e6 bytes and 2 * 50 * 1000 * 8 of sums: 3 us. Three:
     * 1.67 us and 3.4. The others have blocks enough. */
    near(weight->saved_ns[WEIGHT_SPLIT_K], 10 * 2000);
    assert_int_equal(weight->sibling_group, WEIGHT_NO_GROUP);
    assert_true(weight->saved_ns[WEIGHT_FUSE] == 0);
    /* No grid is known of the other. */
    assert_true(isnan(session.weights[1].fill) && isnan(session.weights[1].saved_ns[WEIGHT_SPLIT_K]));
    weights_free(&session);
}

/* Fewer rows in all than M*: one call for them. */
static void test_few_rows(void **state)
{
    (void)state;
    struct operator_row operators[] = {product(10, 1000, 1000, 1, 5, 3000, 100)};
    struct session session = session_of(operators, 1);
    weights_find(&session);
    /* 2 (10 + 1000 + 10) 1000 = 2.04e6 bytes five times; 50 rows are 2.2e6. */
    near(session.weights[0].saved_ns[WEIGHT_BATCH], 5 * 2040 - 2200);
    assert_int_equal(session.weights[0].m_p50, 10);
    near(session.weights[0].saved_ns[WEIGHT_8_BIT], 5 * 1000);
    /* 1e6 / 2 bytes and 1000 * 8 scales of two, and the activations' 40000. */
    near(session.weights[0].saved_ns[WEIGHT_4_BIT], 5 * (2040 - 556));
    weights_free(&session);
}

/* Of three the second is the middle, and the third the ninth tenth. */
static void test_percentiles(void **state)
{
    (void)state;
    struct operator_row operators[] = {product(3, 1000, 1000, 1, 1, 3000, 100), product(1, 1000, 1000, 1, 1, 2000, 100),
                                       product(2, 1000, 1000, 1, 1, 1000, 100)};
    struct session session = session_of(operators, 3);
    weights_find(&session);
    assert_int_equal(session.weights[0].m_p50, 2);
    assert_int_equal(session.weights[0].m_p90, 3);
    weights_free(&session);
}

static void test_never(void **state)
{
    (void)state;
    struct operator_row operators[] = {
        product(4096, 100, 10000, 1, 1, 100000, 100), /* 1/100 + 1/10000 > 1/100 */
        product(4096, 10000, 100, 1, 1, 90000, 100),
        product(64, 10000, 10000, 1, 1, 80000, 100),
        product(5000, 5000, 5000, 1, 1, 70000, 100),
    };
    struct session session = session_of(operators, 4);
    weights_find(&session);
    const struct weight_row *weights = session.weights;
    assert_true(isinf(weights[0].rows_at_ridge) && isinf(weights[1].rows_at_ridge));
    assert_int_equal(weights[0].limited_by, GEMM_SIDE_N);
    assert_int_equal(weights[1].limited_by, GEMM_SIDE_K);
    near(weights[0].intensity_limit, 1 / (1. / 100 + 1. / 10000));
    assert_true(weights[0].executions_below == 1 && weights[0].time_below == 1);
    assert_true(isnan(weights[0].saved_ns[WEIGHT_BATCH])); /* no number of rows to aim at */
    /* The largest term at 4096 rows: the activation's 4096 * 10000, and D's; at 64 the weight's. */
    assert_int_equal(weights[0].short_side, GEMM_SIDE_N);
    assert_int_equal(weights[1].short_side, GEMM_SIDE_K);
    assert_int_equal(weights[2].short_side, GEMM_SIDE_M);
    /* M* = 1/(1/100 - 2/5000) = 104.2: nothing below, nothing to gain. */
    assert_true(!weights[3].skinny && weights[3].executions_below == 0);
    for (int c = 0; c < WEIGHT_CHANGE_COUNT; c++)
        assert_true(weights[3].saved_ns[c] == 0);
    weights_free(&session);
}

static void test_not_known(void **state)
{
    (void)state;
    struct operator_row operators[] = {product(10, 1000, 1000, 1, 5, 3000, 20), product(10, 500, 1000, 1, 5, 3000, 20)};
    struct session session = session_of(operators, 2);
    operators[0].device = operators[1].device = SESSION_DEVICE_UNKNOWN;
    operators[0].roofline.ridge = operators[1].roofline.ridge = NAN;
    weights_find(&session);
    assert_int_equal(session.weight_count, 2);
    assert_true(isnan(session.weights[0].rows_at_ridge) && isnan(session.weights[0].executions_below));
    assert_true(isnan(session.weights[0].fill) && session.weights[0].sm_count < 0);
    assert_int_equal(session.weights[0].limited_by, GEMM_SIDE_NONE);
    assert_false(session.weights[0].skinny);
    for (int c = 0; c < WEIGHT_CHANGE_COUNT; c++)
        assert_true(c == WEIGHT_FUSE || isnan(session.weights[0].saved_ns[c]));
    weights_free(&session);
}

static void test_persistent(void **state)
{
    (void)state;
    struct operator_row operators[] = {product(50, 1000, 1000, 1, 10, 20000, 20)};
    operators[0].persistent = true;
    struct session session = session_of(operators, 1);
    weights_find(&session);
    assert_true(isnan(session.weights[0].fill) && isnan(session.weights[0].saved_ns[WEIGHT_SPLIT_K]));
    weights_free(&session);
}

/* Five calls of 300 ns, 2.04 us each at the roof: 10.2 us there, of which batching (to 2.2 us) would save 8 and half the
 * weight 5. The same parts of the 1.5 us that they took. */
static void test_own_time_bounds(void **state)
{
    (void)state;
    struct operator_row operators[] = {product(10, 1000, 1000, 1, 5, 300, 100)};
    struct session session = session_of(operators, 1);
    weights_find(&session);
    assert_float_equal(session.weights[0].saved_ns[WEIGHT_BATCH], 1500 * 8 / 10.2, 1e-6);
    assert_float_equal(session.weights[0].saved_ns[WEIGHT_8_BIT], 1500 * 5 / 10.2, 1e-6);
    weights_free(&session);
}

/* A launch by heads reads a KV cache, one by one a weight. */
static void test_launches_by_heads(void **state)
{
    (void)state;
    struct launch_decode decode = {.reading = LAUNCH_READ, .kind = LAUNCH_MATMUL, .weights = 1, .batch = 1};
    for (int heads = 1; heads <= 4; heads += 3) {
        struct operator_row operators[] = {product(10, 1000, 1000, heads, 5, 3000, 100)};
        operators[0].of_call = false;
        operators[0].launch = &decode;
        decode.batch = heads;
        struct session session = session_of(operators, 1);
        weights_find(&session);
        assert_int_equal(session.weight_count, heads == 1);
        weights_free(&session);
    }
}

/* No more than the device was busy. */
static void test_busy_time_bounds(void **state)
{
    (void)state;
    struct operator_row operators[] = {product(10, 1000, 1000, 1, 5, 3000, 100)};
    struct session session = session_of(operators, 1);
    device.busy.covered_ns = 1234;
    weights_find(&session);
    assert_true(session.weights[0].saved_ns[WEIGHT_BATCH] == 1234);
    weights_free(&session);
}

static void test_fill(void **state)
{
    (void)state;
    near(roof_fill(8, 128), 0.0625);
    near(roof_fill(128, 128), 1);
    near(roof_fill(129, 128), 129. / 256);
    near(roof_fill(224, 128), 0.875);
    assert_true(isnan(roof_fill(0, 128)) && isnan(roof_fill(8, -1)));
}

/* M = 100, K = 1000. N = 1000: 2e8 FLOPs, 2.4e6 bytes, 2.4 us. N = 200: 4e7, 2 (1e5 + 2e5 + 2e4) = 6.4e5 bytes, 0.64 us.
 * Fused: 2.4e8 FLOPs, 2e5 bytes less than 3.04e6: 2.84 us. */
static void test_siblings(void **state)
{
    (void)state;
    struct operator_row operators[] = {product(100, 1000, 1000, 1, 10, 10000, 50),
                                       product(100, 200, 1000, 1, 10, 5000, 10)};
    struct session session = session_of(operators, 2);
    struct sibling_group *groups = calloc(2, sizeof *groups);
    groups[0] = (struct sibling_group){.operators = {1, 1}, .count = 2, .times = 1};
    groups[1] = (struct sibling_group){.operators = {0, 1}, .count = 2, .times = 10};
    session.sibling_groups = groups;
    session.sibling_group_count = 2;
    sibling_groups_find(&session);
    const struct sibling_group *group = &session.sibling_groups[0]; /* most saved first */
    assert_int_equal(group->times, 10);
    assert_int_equal(group->m, 100);
    assert_int_equal(group->k, 1000);
    assert_int_equal(group->n_fused, 1200);
    near(group->bytes_saved, 200000);
    near(group->intensity, 2.4e8 / 3.04e6);
    near(group->intensity_fused, 2.4e8 / 2.84e6);
    near(group->roof_ns, 3040);
    near(group->roof_fused_ns, 2840);
    near(group->saved_ns, 2000);
    /* 2e8 FLOPs on half the SMs and 4e7 on a tenth take as long as 8e8 on all; 60 blocks fill 0.6. */
    near(group->fill, 0.3);
    near(group->fill_fused, 0.6);
    near(session.sibling_groups[1].saved_ns, 200); /* twice the small one, once */

    weights_find(&session);
    near(session.weights[0].saved_ns[WEIGHT_FUSE], 1000);
    near(session.weights[1].saved_ns[WEIGHT_FUSE], 1000 + 2 * 100);
    assert_int_equal(session.weights[0].sibling_group, 0);
    assert_int_equal(session.weights[1].sibling_group, 0);
    weights_free(&session);
}

/* 10 MB and 0.01 GFLOP on 10 of 100 SMs: 10 us by bytes with all of the bandwidth. Measured, 10 blocks draw 20 % of it, 40
 * draw 80 %, 100 all: 50 us as it is. 4 splits at 40 blocks take (10 MB + 4 * 8 * 5000) / 800 GB/s = 12.7 us; up to 10 splits
 * (100 blocks) (10 MB + 10 * 8 * 5000) / 1000 GB/s = 10.4 us is the best, found behind a bend. */
static void test_splitting_for_bandwidth(void **state)
{
    (void)state;
    struct operator_row op = product(1, 5000, 1000, 1, 1, 60000, 10);
    struct session session = session_of(&op, 1);
    struct calibration measured;
    calibration_init(&measured);
    measured.point_count = 3;
    measured.points[0] = (struct calibration_point){10, 160e9};
    measured.points[1] = (struct calibration_point){40, 640e9};
    measured.points[2] = (struct calibration_point){100, 800e9};
    device.calibration = &measured;
    weights_find(&session);
    double bytes = 2.0 * (5000 * 1000 + 1000 + 5000), sums = 8 * 5000; /* on 1000 GB/s */
    near(session.weights[0].saved_ns[WEIGHT_SPLIT_K], bytes / 1000 / 0.2 - (bytes + 10 * sums) / 1000);
    weights_free(&session);

    measured.points[2].bytes_per_second = 640e9; /* 40 blocks draw all: more splits write more sums for nothing */
    session = session_of(&op, 1);
    device.calibration = &measured;
    weights_find(&session);
    near(session.weights[0].saved_ns[WEIGHT_SPLIT_K], bytes / 1000 / 0.25 - (bytes + 4 * sums) / 1000);
    weights_free(&session);

    session = session_of(&op, 1); /* not measured: bytes need no blocks */
    weights_find(&session);
    near(session.weights[0].saved_ns[WEIGHT_SPLIT_K], 0);
    weights_free(&session);
}

/* A graph ran a hundred times what was called once. */
static void test_siblings_of_a_graph(void **state)
{
    (void)state;
    struct operator_row operators[] = {product(100, 1000, 1000, 1, 100, 10000, 0),
                                       product(100, 200, 1000, 1, 100, 5000, 10)};
    operators[0].calls = operators[1].calls = 1;
    struct session session = session_of(operators, 2);
    session.sibling_groups = calloc(1, sizeof *session.sibling_groups);
    session.sibling_groups[0] = (struct sibling_group){.operators = {0, 1}, .count = 2, .times = 1};
    session.sibling_group_count = 1;
    sibling_groups_find(&session);
    near(session.sibling_groups[0].saved_ns, 100 * 200);
    assert_true(isnan(session.sibling_groups[0].fill) && isnan(session.sibling_groups[0].fill_fused));
    weights_free(&session);
}

/* 8 heads, 64 queries, 512 keys, d = 128, d_v = 64, bf16: Q 131072 bytes, K 1048576, S 524288, V 524288, O 65536. */
static void test_attention(void **state)
{
    (void)state;
    struct operator_row operators[] = {product(64, 512, 128, 8, 3, 5000, 0), product(64, 64, 512, 8, 3, 4000, 0),
                                       product(64, 64, 512, 8, 3, 3000, 0)};
    struct session session = session_of(operators, 3);
    session.naive_attention = calloc(1, sizeof *session.naive_attention);
    session.naive_attention[0] = (struct naive_attention){.scores = 0, .output = 1, .times = 3};
    session.naive_attention_count = 1;
    naive_attention_find(&session);
    const struct naive_attention *pair = &session.naive_attention[0];
    assert_int_equal(pair->batch, 8);
    assert_int_equal(pair->l_q, 64);
    assert_int_equal(pair->l_k, 512);
    assert_int_equal(pair->d, 128);
    assert_int_equal(pair->d_v, 64);
    near(pair->bytes, 131072 + 1048576 + 4 * 524288 + 524288 + 65536);
    near(pair->bytes_fused, 131072 + 1048576 + 524288 + 65536);
    near(pair->kv_bytes, 1048576 + 524288);
    near(pair->flops, 2.0 * 8 * 64 * 512 * (128 + 64));
    near(pair->replays, 1);
    near(pair->intensity_limit, 48); /* (d + d_v) / 2b, which is d/b where both are d */
    /* Bytes bound all of it; fused, 2 * 8 * 64 * 512 * 192 FLOPs are 1007 ns beside 1769. */
    near(pair->saved_ns, 3 * 4 * 524.288);

    weights_find(&session); /* K and V are no weights; the third product is another row, which nothing tells from one */
    assert_int_equal(session.weight_count, 1);
    assert_int_equal(session.weights[0].operators[0], 2);
    weights_free(&session);
}

static void test_names(void **state)
{
    (void)state;
    assert_null(gemm_side_name(GEMM_SIDE_NONE));
    assert_string_equal(gemm_side_name(GEMM_SIDE_K), "K");
    for (int c = 0; c < WEIGHT_CHANGE_COUNT; c++)
        assert_non_null(weight_change_name((enum weight_change)c));
    assert_null(weight_change_name(WEIGHT_CHANGE_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_percentiles),
        cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_never),
        cmocka_unit_test(test_not_known),
        cmocka_unit_test(test_persistent),
        cmocka_unit_test(test_own_time_bounds),
        cmocka_unit_test(test_launches_by_heads),
        cmocka_unit_test(test_busy_time_bounds),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_siblings),
        cmocka_unit_test(test_splitting_for_bandwidth),
        cmocka_unit_test(test_siblings_of_a_graph),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
