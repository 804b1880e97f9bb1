/* SPDX-License-Identifier: Apache-2.0 */
/* Each piece of advice is given where its precondition holds and not where it doesn't. Sessions are structs made here, on a
 * GPU of 100 TFLOP/s and 1000 GB/s that was busy for 1 ms; what is saved is worked out by hand beside each. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/advice.h"
#include "classify/session.h"
#include "classify/verdict.h"

static const struct gpu_spec unit = {
    .key = "test",
    .bytes_per_second = 1e12,
    .flops_per_second = {[GPU_PATH_FP32] = 10e12,
                         [GPU_PATH_TF32] = 50e12,
                         [GPU_PATH_BF16] = 100e12,
                         [GPU_PATH_FP16] = 100e12,
                         [GPU_PATH_FP16_ACC16] = 200e12},
};

/* Room for what a test puts in; the session points here. */
static struct session session;
static struct session_device device;
static struct operator_row operators[3];
static struct weight_row weight;
static struct sibling_group group;
static struct naive_attention naive;
static size_t weight_operators[] = {0};

enum { BUSY_NS = 1000000 };

/* It was busy for BUSY_NS of SPAN_NS. */
static void set_span(uint64_t span_ns)
{
    device.busy = (struct interval_union){.known = true, .covered_ns = BUSY_NS, .first_ns = 0, .last_ns = span_ns};
    device.time = (struct device_time_sum){
        .busy_known = true, .span_known = true, .busy_ns = BUSY_NS, .span_ns = span_ns, .gap_ns = span_ns - BUSY_NS};
}

static void reset(void)
{
    memset(&session, 0, sizeof session);
    memset(&device, 0, sizeof device);
    memset(operators, 0, sizeof operators);
    memset(&weight, 0, sizeof weight);
    memset(&group, 0, sizeof group);
    memset(&naive, 0, sizeof naive);
    device.roofs.spec = &unit;
    device.roofs.compute_scale = device.roofs.memory_scale = 1;
    device.floor_ns = NAN;
    device.described = true;
    device.facts.sm_count = 100;
    set_span(BUSY_NS);
    session.devices = &device;
    session.device_count = 1;
    session.operators = operators;
    session.weights = &weight;
    session.sibling_groups = &group;
    session.naive_attention = &naive;
    session.coverage.gpu_time_ns = BUSY_NS;
}

/* A GEMM call of NS on PATH with operands of TYPE, all FLOPS and BYTES in one execution. */
static struct operator_row *add_gemm(enum gpu_path path, enum number_type type, int bits, double flops, double bytes,
                                     uint64_t ns)
{
    struct operator_row *op = &operators[session.operator_count++];
    op->kind = OPERATOR_GEMM;
    op->name = (char *)"cublasGemmEx";
    op->of_call = op->timed = op->calls_known = true;
    op->calls = op->executions = op->kernels = 1;
    op->time_ns = ns;
    op->share = (double)ns / BUSY_NS;
    op->flops = flops;
    op->bytes = bytes;
    op->work.shape_known = true;
    op->work.path = path;
    op->work.m = op->work.n = op->work.k = 64;
    op->work.flops = flops;
    op->work.bytes = bytes;
    op->work.weight = WORK_WEIGHT_A;
    for (int i = 0; i < 4; i++)
        op->work.type[i] = (struct number_format){.type = type, .bits = bits};
    op->t_roof_ns = 1e9 * fmax(flops / unit.flops_per_second[path], bytes / unit.bytes_per_second);
    op->roofline.roof_fraction = op->t_roof_ns / (double)ns;
    op->roofline.bound =
        flops / bytes < unit.flops_per_second[path] / unit.bytes_per_second ? BOUND_MEMORY : BOUND_COMPUTE;
    return op;
}

static struct operator_row *add_kernel(const char *name, uint64_t kernels, uint64_t ns)
{
    struct operator_row *op = &operators[session.operator_count++];
    op->kind = OPERATOR_OTHER;
    op->name = (char *)name;
    op->timed = true;
    op->kernels = kernels;
    op->time_ns = ns;
    op->share = (double)ns / BUSY_NS;
    op->flops = op->bytes = op->t_roof_ns = NAN;
    op->roofline.roof_fraction = op->roofline.intensity = NAN;
    return op;
}

static void add_weight(void)
{
    session.weight_count = 1;
    weight.operators = weight_operators;
    weight.operator_count = session.operator_count ? 1 : 0;
    weight.rows_at_ridge = 200;
    weight.fill = NAN;
}

/* 0: not given. */
static double saved_by(const char *id)
{
    struct advice_list list = advice_find(&session);
    double saved = 0;
    for (size_t i = 0; i < list.count; i++)
        if (!strcmp(list.items[i].row->id, id))
            saved = list.items[i].saved_ns;
    advice_free(&list);
    return saved;
}

/* ---- one scene for each row ---- */

static void scene_batch(bool holds)
{
    add_weight();
    weight.skinny = holds;
    weight.saved_ns[WEIGHT_BATCH] = 40000;
}

static void scene_fuse(bool holds)
{
    session.sibling_group_count = 1;
    group.saved_ns = holds ? 1000 : 999; /* 0.1 % of a millisecond, and just less */
}

static void scene_fill(bool holds)
{
    add_weight();
    weight.starved = holds;
    weight.saved_ns[WEIGHT_SPLIT_K] = 30000;
}

static void scene_bits(bool holds)
{
    add_weight();
    weight.skinny = true;
    weight.short_side = holds ? GEMM_SIDE_M : GEMM_SIDE_N;
    weight.saved_ns[WEIGHT_8_BIT] = 20000;
    weight.saved_ns[WEIGHT_4_BIT] = 25000;
}

/* 100 MB, of which 64 rows of 1 MB move with M: 100 us at the roof; 32 MB less are 68 us. */
static void scene_capped(bool holds)
{
    struct operator_row *op = add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 100e6, 120000);
    op->work.bytes_per_row = 1e6;
    add_weight();
    weight.rows_at_ridge = holds ? INFINITY : 200;
}

/* 1 GFLOP: 100 us on FMA units, 20 us in TF32, 10 us in bf16, reading 1 MB. A pedantic compute type asks for fp32. */
static void scene_tensor_cores(bool holds)
{
    struct operator_row *op = add_gemm(GPU_PATH_FP32, NUMBER_FP32, 32, 1e9, 1e6, 110000);
    op->signature.type_compute = holds ? 68 : 69;
}

/* 10 GFLOP: 100 us, 50 us; with 100 MB to move it takes 100 us either way. */
static void scene_fp16_accumulate(bool holds)
{
    add_gemm(GPU_PATH_FP16, NUMBER_FP16, 16, 10e9, holds ? 1e6 : 100e6, 110000);
}

/* 10 us at the roof, 50 us taken, of which 10 may be start-up; 63 elements of 16 bits are no multiple of 16 bytes, 64 are. */
static void scene_alignment(bool holds)
{
    struct operator_row *op = add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 1e6, 50000);
    op->roofline.flags = ROOFLINE_FAR_FROM_ROOF;
    op->work.k = holds ? 63 : 64;
}

/* On 10 of 100 SMs 10 us become 100: then fill explains all of it. */
static void scene_far(bool holds)
{
    struct operator_row *op = add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 1e6, 50000);
    op->roofline.flags = holds ? ROOFLINE_FAR_FROM_ROOF : ROOFLINE_FAR_FROM_ROOF | ROOFLINE_STARVED;
    op->blocks = 10;
}

/* 10 kernels of 2 us, or of 4.1, beside a floor of 2 us. */
static void scene_small(bool holds)
{
    device.floor_ns = 2000;
    add_kernel("mul", 10, holds ? 20000 : 41000);
}

static void scene_idle(bool holds)
{
    set_span(holds ? 2 * BUSY_NS : BUSY_NS + BUSY_NS / 50); /* 50 %, 2 % */
}

static void scene_naive(bool holds)
{
    session.naive_attention_count = holds ? 1 : 0;
    add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 1e6, 50000);
    naive.saved_ns = 15000;
}

/* 8 heads of 1024 x 1024 pairs, 2 x (64 + 64) FLOPs each: 2.147 GFLOP, 21.47 us; 1023 of 2048 of them are hidden. */
static void scene_causal(bool holds)
{
    session.naive_attention_count = 1;
    add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 1e6, 50000);
    add_kernel(holds ? "scaled_upper_triang_masked_softmax_warp_forward" : "softmax_warp_forward", 1, 1000);
    naive = (struct naive_attention){
        .times = 1, .batch = 8, .l_q = 1024, .l_k = 1024, .d = 64, .d_v = 64, .bytes_fused = 4e6};
}

/* 32 heads, one row, 4096 keys of 128 + 128 elements of 2 bytes: 67.1 MB, 67.1 us; half of it is saved. */
static void scene_kv(bool holds)
{
    session.naive_attention_count = 1;
    add_gemm(GPU_PATH_BF16, NUMBER_BF16, holds ? 16 : 32, 1e9, 1e6, 50000);
    naive = (struct naive_attention){
        .times = 1, .batch = 32, .l_q = 1, .l_k = 4096, .d = 128, .d_v = 128, .bytes_fused = 32 * 4096.0 * 256 * 2};
}

/* One row of 32 heads, 4096 keys of 128 + 128 elements of 2 bytes, of which the model's window is 1024: 67.1 MB, of which three
 * quarters needn't be read; FLOPs are 1/100 of that. */
static void scene_window(bool holds)
{
    scene_kv(true);
    struct operator_row *values = add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 1e6, 50000);
    operators[0].work.model = gemm_plain(1, 4096, 128, 16);
    values->work.model = gemm_plain(1, 128, 4096, 16);
    for (int i = 0; i < 2; i++) {
        operators[i].work.model.batch = 32;
        for (int operand = 0; operand < GEMM_OPERANDS; operand++)
            operators[i].work.model.operand[operand].matrices = 32;
    }
    naive.output = 1;
    session.model = (struct session_model){.query_heads = 32, .head_dim = 128, .window = holds ? 1024 : 4096};
}

static void scene_shared(bool holds)
{
    scene_kv(true);
    naive.l_q = holds ? 1 : 4;
}

/* Four decode calls of 100 MB and 1 GFLOP: 100 us each, of which 10 us stay. Prompts of 1000 rows fill 5 chunks of 200. */
static void scene_chunked(bool holds)
{
    struct operator_row *op = add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 100e6, 480000);
    op->phase_calls[PHASE_DECODE] = 4;
    add_weight();
    session.phases[PHASE_DECODE].steps = 4;
    session.phases[PHASE_PREFILL].steps = holds ? 1 : 0;
    session.phases[PHASE_PREFILL].rows_per_step = 1000;
}

/* ---- operators read off their launches ---- */

static struct launch_decode launch;

static struct operator_row *add_launched(enum launch_kind kind, double flops, double bytes, uint64_t ns)
{
    struct operator_row *op = add_gemm(GPU_PATH_FP32, NUMBER_FP32, 32, flops, bytes, ns);
    launch = (struct launch_decode){.reading = LAUNCH_READ, .kind = kind, .path = GPU_PATH_FP32, .weights = 1};
    op->name = (char *)"mul_mat_vec_q";
    op->of_call = false;
    op->launch = &launch;
    return op;
}

static void scene_slots(bool holds)
{
    struct operator_row *op = add_launched(LAUNCH_MATMUL, 1e6, 50e6, 60000);
    op->of_call = !holds;
    add_weight();
    weight.skinny = true;
    weight.saved_ns[WEIGHT_BATCH] = 40000;
}

/* 1000 x 10240 weights of 8.5 bits, one row of fp32: 10,880,000 + 40,960 + 4,000 bytes; 4.5 bits are 5,120,000 fewer. */
static void scene_fewer_bits(bool holds)
{
    struct operator_row *op = add_launched(LAUNCH_MATMUL, 20.48e6, 10924960, 12000);
    const struct weight_format *format = weight_format_find(holds ? "q8_0" : "q4_0");
    op->work.model = gemm_plain(1, 1000, 10240, 32);
    op->work.model = gemm_with_weight(&op->work.model, format->bits, format->scales);
    launch.weight_format = format;
    add_weight();
    weight.skinny = true;
    weight.short_side = GEMM_SIDE_M;
    weight.format = format;
}

static void scene_small_launches(bool holds)
{
    device.floor_ns = 2000;
    launch = (struct launch_decode){.reading = LAUNCH_READ, .kind = LAUNCH_OTHER};
    add_kernel("rms_norm_f32", 10, 20000)->launch = holds ? &launch : NULL;
}

/* 2 KV heads of 4096 keys, 128 + 128 elements of 2 bytes: 4,194,304 bytes, of which 7.5 in 16 are saved. Q and O, 8 heads in
 * fp32, are 8,192 bytes more. */
static void scene_small_cache(bool holds)
{
    struct operator_row *op = add_launched(LAUNCH_ATTENTION, 16.8e6, 4194304 + 8192, 5000);
    op->kind = OPERATOR_ATTENTION;
    launch.n_q = 8;
    launch.n_kv = 2;
    launch.d = launch.d_v = 128;
    launch.queries = holds ? 1 : 3;
    launch.keys = 4096;
    launch.sequences = launch.splits = 1;
    launch.q_bits = launch.o_bits = 32;
    launch.k_bits = launch.v_bits = 16;
}

/* clang-format off */
static const struct {
    const char *id;
    void (*scene)(bool holds);
    double saved_ns;
} scenes[] = {
    {"batch", scene_batch, 40000},
    {"parallel_slots", scene_slots, 40000},
    {"fewer_bits", scene_fewer_bits, 5120},
    {"fuse_siblings", scene_fuse, 1000},
    {"fill", scene_fill, 30000},
    {"weights_8_bit", scene_bits, 20000},
    {"weights_4_bit", scene_bits, 25000},
    {"capped", scene_capped, 32000},
    {"tensor_cores", scene_tensor_cores, 90000},
    {"fp16_accumulate", scene_fp16_accumulate, 50000},
    {"alignment", scene_alignment, 30000},
    {"far_from_roof", scene_far, 30000},
    {"small_kernels", scene_small, 20000},
    {"small_launches", scene_small_launches, 20000},
    {"idle_gaps", scene_idle, BUSY_NS},
    {"fused_attention", scene_naive, 15000},
    {"causal_skip", scene_causal, 21474.83648 * 1023 / 2048},
    {"window_skip", scene_window, 32 * 3072.0 * 256 * 2 / 1000},
    {"kv_8_bit", scene_kv, 33554.432},
    {"kv_cache_8_bit", scene_small_cache, 1966.08},
    {"shared_kv", scene_shared, 33554.432},
    {"chunked_prefill", scene_chunked, 360000},
};
/* clang-format on */

static void test_each_fires_and_is_silent(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        reset();
        scenes[i].scene(true);
        if (fabs(saved_by(scenes[i].id) - scenes[i].saved_ns) > 1e-3)
            fail_msg("%s saves %g, expected %g", scenes[i].id, saved_by(scenes[i].id), scenes[i].saved_ns);
        reset();
        scenes[i].scene(false);
        if (saved_by(scenes[i].id) != 0)
            fail_msg("%s is given though its precondition doesn't hold", scenes[i].id);
    }
}

/* Kernels of which no time is left, beside others that have theirs; where nothing was timed, the time at the roof stands for it. */
static void test_untimed_beside_timed(void **state)
{
    (void)state;
    for (int others_timed = 0; others_timed < 2; others_timed++) {
        reset();
        scene_small_cache(true);
        operators[0].kernels = operators[0].time_ns = 0;
        operators[0].timed = false;
        session.coverage.gpu_time_ns = others_timed ? BUSY_NS : NAN;
        assert_int_equal(saved_by("kv_cache_8_bit") > 0, !others_timed);
    }
}

/* Where M* is not known, as of dp4a: two rows of 1 MB each in one launch of 8, which reads the 50 MB but once: a quarter of
 * 50 + 8 MB in place of 50 + 2. */
static void test_slots_without_ridge(void **state)
{
    (void)state;
    reset();
    struct operator_row *op = add_launched(LAUNCH_MATMUL, 1e6, 52e6, 60000);
    op->work.m = 2;
    op->work.bytes_per_row = 1e6;
    add_weight();
    weight.skinny = true;
    weight.rows_at_ridge = weight.saved_ns[WEIGHT_BATCH] = NAN;
    assert_float_equal(saved_by("parallel_slots"), 52000 - 58000 / 4.0, 1e-3);
    op->work.m = 8;
    assert_true(saved_by("parallel_slots") == 0);
}

/* What is advised of library calls is not of launches, and not the other way round. */
static void test_launches_and_calls_apart(void **state)
{
    static const char *const of_calls[] = {"batch", "fill", "weights_8_bit", "weights_4_bit", "capped", "tensor_cores"};
    (void)state;
    reset();
    scene_fewer_bits(true);
    weight.starved = true;
    weight.rows_at_ridge = INFINITY;
    for (int change = 0; change < WEIGHT_CHANGE_COUNT; change++)
        weight.saved_ns[change] = 5000;
    operators[0].work.bytes_per_row = 1e6;
    for (size_t i = 0; i < sizeof of_calls / sizeof of_calls[0]; i++)
        if (saved_by(of_calls[i]) != 0)
            fail_msg("%s is given for a launch", of_calls[i]);
    assert_true(saved_by("parallel_slots") == 5000);
    reset();
    scene_small_launches(true);
    assert_true(saved_by("small_kernels") == 0);
    scene_small_launches(false);
    assert_true(saved_by("small_kernels") > 0);
}

static void test_every_row_has_a_scene(void **state)
{
    size_t count;
    const struct advice_row *rows = advice_rows(&count);
    (void)state;
    assert_int_equal(count, sizeof scenes / sizeof scenes[0]);
    for (size_t i = 0; i < count; i++) {
        size_t found = 0;
        for (size_t j = 0; j < count; j++)
            found += !strcmp(scenes[j].id, rows[i].id);
        if (found != 1 || !rows[i].text || !rows[i].lever || !rows[i].source)
            fail_msg("%s: %zu scenes, or a text is missing", rows[i].id, found);
    }
}

/* ---- what holds for all ---- */

static void test_ranked_and_bounded(void **state)
{
    (void)state;
    reset();
    scene_batch(true);
    scene_fill(true);
    weight.skinny = true;
    weight.saved_ns[WEIGHT_BATCH] = 5e6; /* more than the GPU was busy */
    struct advice_list list = advice_find(&session);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.items[0].row->id, "batch");
    assert_float_equal(list.items[0].saved_ns, BUSY_NS, 1e-3);
    assert_float_equal(list.items[0].saved_share, 1, 1e-9);
    assert_string_equal(list.items[1].row->id, "fill");
    assert_float_equal(list.items[1].saved_share, 0.03, 1e-9);
    advice_free(&list);
}

/* Chunks of a prefill are filled by weights alone: what is no weight's operator reads on; where N or K caps the intensity,
 * rows that ride move their own bytes; and with no M* at all there is no compute-bound chunk. */
static void test_what_rides_in_chunks(void **state)
{
    (void)state;
    reset();
    scene_chunked(true);
    add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 100e6, 480000)->phase_calls[PHASE_DECODE] = 4; /* an attention's */
    assert_float_equal(saved_by("chunked_prefill"), 360000, 1e-3);

    /* One more weight, never compute-bound: 100 us alone, and 64 rows of 500 kB take 32 us wherever they ride. */
    static size_t both[] = {0, 1};
    struct weight_row weights[2] = {weight, weight};
    weights[1].operators = &both[1];
    weights[1].rows_at_ridge = INFINITY;
    operators[1].work.bytes_per_row = 500e3;
    session.weights = weights;
    session.weight_count = 2;
    assert_float_equal(saved_by("chunked_prefill"), 360000 + 4 * 68000, 1e-3);

    weights[0].rows_at_ridge = INFINITY;
    assert_true(saved_by("chunked_prefill") == 0);
}

/* Captured once, replayed ten times. */
static void test_attention_of_replays(void **state)
{
    (void)state;
    reset();
    scene_kv(true);
    operators[0].executions = 10;
    assert_float_equal(saved_by("kv_8_bit"), 335544.32, 1e-2);
}

/* An attention that is known by name alone: no advice that needs its shape. */
static void test_attention_by_name_alone(void **state)
{
    (void)state;
    reset();
    add_kernel("flash_fwd_splitkv_kernel", 10, 900000)->kind = OPERATOR_ATTENTION;
    struct advice_list list = advice_find(&session);
    assert_int_equal(list.count, 0);
    advice_free(&list);
}

/* Without a model, of another head dimension, or with rows of several heads in one matrix there is no window. */
static void test_window_needs_its_model(void **state)
{
    (void)state;
    reset();
    scene_window(true);
    session.model = (struct session_model){0};
    assert_true(saved_by("window_skip") == 0);
    session.model = (struct session_model){.query_heads = 32, .head_dim = 64, .window = 1024};
    assert_true(saved_by("window_skip") == 0);
    session.model = (struct session_model){.query_heads = 128, .head_dim = 128, .window = 1024};
    assert_true(saved_by("window_skip") > 0);
    naive.l_q = operators[0].work.model.m = operators[1].work.model.m = 4; /* 4 heads on each of 32 */
    assert_true(saved_by("window_skip") == 0);
}

/* Prefill alone has no cache; FMA units ask for no alignment. */
static void test_kinds_that_do_not_apply(void **state)
{
    (void)state;
    reset();
    scene_kv(true);
    naive.l_q = naive.l_k = 64;
    assert_true(saved_by("kv_8_bit") == 0);
    reset();
    struct operator_row *op = add_gemm(GPU_PATH_FP32, NUMBER_FP32, 32, 1e8, 1e6, 50000);
    op->roofline.flags = ROOFLINE_FAR_FROM_ROOF;
    op->work.k = 63;
    assert_true(saved_by("alignment") == 0);
    assert_float_equal(saved_by("far_from_roof"), 30000, 1e-3);
}

/* 0.5 MFLOP and 24 kB: 24 ns at the roof, 3 us taken. Start-up explains all of that where no floor is known; 2 us of it where
 * an empty kernel takes so long; and a shortest kernel of 50 us says nothing of start-up. */
static void test_start_up_is_not_claimed(void **state)
{
    (void)state;
    reset();
    add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 0.5e6, 24e3, 3000)->roofline.flags = ROOFLINE_FAR_FROM_ROOF;
    device.busy.covered_ns = device.busy.last_ns = 3000;
    assert_true(saved_by("far_from_roof") == 0);
    device.floor_ns = 50000;
    assert_true(saved_by("far_from_roof") == 0);
    device.floor_ns = 2000;
    assert_float_equal(saved_by("far_from_roof"), 3000 - 24 - 2000, 1e-3);
    operators[0].kernels = 2; /* two of 1.5 us */
    assert_true(saved_by("far_from_roof") == 0);
}

/* The scene's 100 us become 20 in TF32, 10 in bf16; a GPU that has one of them saves by that one. */
static void test_both_ways_to_tensor_cores(void **state)
{
    static struct gpu_spec without_bf16;
    (void)state;
    reset();
    scene_tensor_cores(true);
    assert_float_equal(advice_tensor_core_ns(&session, operators, GPU_PATH_TF32), 80000, 1e-3);
    assert_float_equal(advice_tensor_core_ns(&session, operators, GPU_PATH_BF16), 90000, 1e-3);
    without_bf16 = unit;
    without_bf16.flops_per_second[GPU_PATH_BF16] = 0;
    device.roofs.spec = &without_bf16;
    assert_true(isnan(advice_tensor_core_ns(&session, operators, GPU_PATH_BF16)));
    assert_float_equal(saved_by("tensor_cores"), 80000, 1e-3);
}

/* On 75 of 100 SMs 10 us become 13.333, and 50 were taken, of which 10 may be start-up. */
static void test_far_and_starved(void **state)
{
    (void)state;
    reset();
    scene_far(false);
    operators[0].blocks = 75;
    assert_float_equal(saved_by("far_from_roof"), 50000 - 10000 / 0.75 - 10000, 1e-3);
}

/* The simulator's idle time is the host's. */
static void test_idle_of_a_simulated_gpu(void **state)
{
    (void)state;
    reset();
    scene_idle(true);
    session.simulated = true;
    assert_true(saved_by("idle_gaps") == 0);
}

/* Nothing timed: shares are of the 100 us that the calls take at the roof. */
static void test_untimed(void **state)
{
    (void)state;
    reset();
    struct operator_row *op = add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 100e6, 1);
    op->timed = false;
    op->kernels = op->time_ns = 0;
    scene_batch(true);
    device.busy.known = device.time.busy_known = false;
    struct advice_list list = advice_find(&session);
    assert_true(list.by_roof);
    assert_int_equal(list.count, 1);
    assert_float_equal(list.items[0].saved_share, 0.4, 1e-9);
    advice_free(&list);
}

/* Once 8 bits make it compute-bound, 4 add nothing. */
static void test_4_bit_where_8_do(void **state)
{
    (void)state;
    reset();
    scene_bits(true);
    weight.saved_ns[WEIGHT_4_BIT] = weight.saved_ns[WEIGHT_8_BIT];
    assert_true(saved_by("weights_8_bit") > 0);
    assert_true(saved_by("weights_4_bit") == 0);
}

static void test_no_roof(void **state)
{
    (void)state;
    reset();
    struct operator_row *op = add_gemm(GPU_PATH_FP32, NUMBER_FP32, 32, 1e9, 1e6, 110000);
    device.roofs.spec = NULL;
    op->t_roof_ns = op->roofline.roof_fraction = NAN;
    op->roofline.bound = BOUND_UNKNOWN;
    struct advice_list list = advice_find(&session);
    assert_int_equal(list.count, 0);
    advice_free(&list);
}

/* ---- verdicts ---- */

static struct verdict verdict_here(void)
{
    static struct advice_list list; /* a verdict points into it */
    advice_free(&list);
    list = advice_find(&session);
    return verdict_of(&session, &list);
}

static void test_verdict_of_a_bound_run(void **state)
{
    (void)state;
    reset();
    add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 100e6, 750000); /* memory */
    add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 10e9, 1e6, 250000);  /* compute */
    struct verdict verdict = verdict_here();
    assert_int_equal(verdict.kind, VERDICT_BOUND);
    assert_int_equal(verdict.bound, BOUND_MEMORY);
    assert_float_equal(verdict.share[BOUND_MEMORY], 0.75, 1e-9);
    assert_null(verdict.lever);
}

static void test_verdict_of_unknown_kernels(void **state)
{
    (void)state;
    reset();
    add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 100e6, 300000);
    add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 10e9, 1e6, 250000);
    add_kernel("flash_fwd", 1, 450000);
    struct verdict verdict = verdict_here();
    assert_int_equal(verdict.kind, VERDICT_UNKNOWN);
    assert_float_equal(verdict.share[BOUND_UNKNOWN], 0.45, 1e-9);
    operators[2].time_ns = 290000;
    assert_int_equal(verdict_here().kind, VERDICT_BOUND);
}

static void test_verdict_of_a_waiting_gpu(void **state)
{
    (void)state;
    reset();
    add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 100e6, BUSY_NS);
    set_span(4 * BUSY_NS);
    struct verdict verdict = verdict_here();
    assert_int_equal(verdict.kind, VERDICT_WAITS);
    assert_float_equal(verdict.idle_share, 0.75, 1e-9);
    assert_string_equal(verdict.lever->row->id, "idle_gaps");
    session.simulated = true;
    assert_int_equal(verdict_here().kind, VERDICT_BOUND);
}

static void test_verdict_without_times(void **state)
{
    (void)state;
    reset();
    struct operator_row *op = add_gemm(GPU_PATH_BF16, NUMBER_BF16, 16, 1e9, 100e6, 1);
    op->timed = false;
    op->kernels = op->time_ns = 0;
    session.coverage.gpu_time_ns = NAN;
    device.busy.known = device.time.busy_known = false;
    struct verdict verdict = verdict_here();
    assert_true(verdict.by_roof);
    assert_int_equal(verdict.kind, VERDICT_BOUND);
    assert_float_equal(verdict.share[BOUND_MEMORY], 1, 1e-9);
    op->t_roof_ns = NAN;
    assert_int_equal(verdict_here().kind, VERDICT_NOTHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_fires_and_is_silent),
        cmocka_unit_test(test_every_row_has_a_scene),
        cmocka_unit_test(test_launches_and_calls_apart),
        cmocka_unit_test(test_untimed_beside_timed),
        cmocka_unit_test(test_slots_without_ridge),
        cmocka_unit_test(test_ranked_and_bounded),
        cmocka_unit_test(test_what_rides_in_chunks),
        cmocka_unit_test(test_attention_of_replays),
        cmocka_unit_test(test_attention_by_name_alone),
        cmocka_unit_test(test_idle_of_a_simulated_gpu),
        cmocka_unit_test(test_untimed),
        cmocka_unit_test(test_4_bit_where_8_do),
        cmocka_unit_test(test_kinds_that_do_not_apply),
        cmocka_unit_test(test_far_and_starved),
        cmocka_unit_test(test_no_roof),
        cmocka_unit_test(test_window_needs_its_model),
        cmocka_unit_test(test_start_up_is_not_claimed),
        cmocka_unit_test(test_both_ways_to_tensor_cores),
        cmocka_unit_test(test_verdict_of_a_bound_run),
        cmocka_unit_test(test_verdict_of_unknown_kernels),
        cmocka_unit_test(test_verdict_of_a_waiting_gpu),
        cmocka_unit_test(test_verdict_without_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
