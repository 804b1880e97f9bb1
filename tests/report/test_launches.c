/* SPDX-License-Identifier: Apache-2.0 */
/* What a report shows of operators that were read off their launches: a session made by hand, with one row of each kind, is
 * printed, and text and JSON are asked for what stands in it. Figures are worked out beside the rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "classify/session.h"
#include "report/report_json.h"
#include "report/report_text.h"

#define MMQ_NAME "_Z9mul_mat_qIL9ggml_type12ELi64ELb0EL9ggml_prec30EEvPKcPiz"

enum { GATED, EXPERTS, ATTENTION, OF_CALL, UNKNOWN, REFUSED, PLAIN, ROWS };

static const struct roofline not_known = {.intensity = NAN,
                                          .ridge = NAN,
                                          .t_roof_ns = NAN,
                                          .flops_per_second = NAN,
                                          .bytes_per_second = NAN,
                                          .roof_fraction = NAN};

static const struct launch_decode matmul = {.reading = LAUNCH_READ,
                                            .kind = LAUNCH_MATMUL,
                                            .provenance = TRACE_PARAMS,
                                            .path = GPU_PATH_INT8_DP4A,
                                            .m = 1,
                                            .batch = 1,
                                            .weights = 1,
                                            .matrices_least = 1,
                                            .matrices_most = 1,
                                            .activations = 1,
                                            .a_bits = 9,
                                            .d_bits = 32,
                                            .n_q = -1,
                                            .n_kv = -1,
                                            .splits = 1};

static struct launch_decode launches[ROWS];
static struct operator_row rows[ROWS];
static struct operator_helper helper = {"_Z13quantize_q8_1PKfPvllllljj5uint3", 100, 120000};
static struct session_device device;
static struct session session;

static void fill_row(int index, char *name, enum operator_kind kind, uint64_t calls, uint64_t time_ns)
{
    rows[index] = (struct operator_row){.kind = kind,
                                        .name = name,
                                        .timed = true,
                                        .calls_known = true,
                                        .calls = calls,
                                        .executions = calls,
                                        .kernels = calls,
                                        .time_ns = time_ns,
                                        .share = (double)time_ns / 10e6,
                                        .flops = NAN,
                                        .bytes = NAN,
                                        .bytes_least = NAN,
                                        .t_roof_ns = NAN,
                                        .rows_at_ridge = NAN,
                                        .bandwidth_fill = NAN,
                                        .gain_ns = NAN,
                                        .shape_source = TRACE_NAME_ONLY,
                                        .evidence = {.low_ns = NAN, .high_ns = NAN},
                                        .roofline = not_known};
}

static void read_as(int index, const struct launch_decode *launch, const char *kernel, double flops, double bytes)
{
    struct operator_row *op = &rows[index];
    double calls = (double)op->calls, seconds = (double)op->time_ns / 1e9;
    launches[index] = *launch;
    strcpy(launches[index].kernel, kernel);
    op->launch = &launches[index];
    op->shape_source = launch->provenance;
    op->flops = flops * calls;
    op->bytes = bytes * calls;
    op->bytes_least = bytes * calls;
    op->work = (struct work){.shape_known = true,
                             .m = launch->m,
                             .n = launch->n,
                             .k = launch->k,
                             .batch = launch->batch,
                             .path = launch->path,
                             .flops = flops,
                             .bytes = bytes};
    op->roofline = (struct roofline){.intensity = flops / bytes,
                                     .ridge = 100,
                                     .t_roof_ns = bytes * calls / 1000, /* at 1000 GB/s */
                                     .bound = BOUND_MEMORY,
                                     .flops_per_second = op->flops / seconds,
                                     .bytes_per_second = op->bytes / seconds,
                                     .roof_fraction = bytes * calls / 1000 / (double)op->time_ns};
    op->t_roof_ns = op->roofline.t_roof_ns;
}

static void unread(int index, enum launch_reading reading, const char *kernel, const char *problem)
{
    launches[index] = (struct launch_decode){.reading = reading, .path = GPU_PATH_UNKNOWN, .provenance = TRACE_NONE};
    strcpy(launches[index].kernel, kernel);
    strcpy(launches[index].problem, problem);
    rows[index].launch = &launches[index];
}

/* Two q4_K weights of 4096 x 256, 4.5 bits each: 2 * 4096 * 256 * 4.5 / 8 = 1,179,648 bytes, and 2 * 2 * 4096 * 256 FLOPs. */
static void add_gated(void)
{
    struct launch_decode launch = matmul;
    fill_row(GATED, "_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb1ELb0ELb0EEvPKvS1_z", OPERATOR_GEMV, 100, 1000000);
    launch.n = 4096;
    launch.k = 256;
    launch.weights = 2;
    launch.matrices_least = launch.matrices_most = 2;
    launch.weight_format = weight_format_find("q4_K");
    read_as(GATED, &launch, "mul_mat_vec_q", 4194304, 1179648);
    rows[GATED].helpers = &helper;
    rows[GATED].helper_count = 1;
}

static void add_experts(void)
{
    struct launch_decode launch = matmul;
    fill_row(EXPERTS, "_Z17mul_mat_vec_q_moeIL9ggml_type8ELi2ELb0EEvPKvS1_z", OPERATOR_GEMM, 50, 500000);
    launch.m = 4;
    launch.n = 512;
    launch.k = 1024;
    launch.batch = 2;
    launch.experts = true;
    launch.matrices_least = 2;
    launch.matrices_most = 8;
    launch.provenance = TRACE_AT_MOST;
    launch.weight_format = weight_format_find("q8_0");
    read_as(EXPERTS, &launch, "mul_mat_vec_q_moe", 8388608, 4456448);
    rows[EXPERTS].bytes_least = 50 * 1114112.0;
}

/* 8 query heads on 2 KV heads of 128, 512 keys: K and V are 2 * 512 * 2 * 128 * 2 bytes = 524,288, Q and O 8 * 128 * 4 each,
 * and 8 * 512 * (128 + 128) * 2 FLOPs = 2,097,152. */
static void add_attention(void)
{
    struct launch_decode launch = {.reading = LAUNCH_READ,
                                   .kind = LAUNCH_ATTENTION,
                                   .provenance = TRACE_AT_MOST,
                                   .path = GPU_PATH_FP16,
                                   .m = -1,
                                   .n = -1,
                                   .k = -1,
                                   .batch = -1,
                                   .n_q = 8,
                                   .n_kv = 2,
                                   .d = 128,
                                   .d_v = 128,
                                   .queries = 1,
                                   .keys = 512,
                                   .sequences = 4,
                                   .keys_at_most = true,
                                   .masked = true,
                                   .splits = 1,
                                   .q_bits = 32,
                                   .k_bits = 16,
                                   .v_bits = 16,
                                   .o_bits = 32};
    fill_row(ATTENTION, "_Z18flash_attn_ext_vecILi128ELi1EL9ggml_type1EL9ggml_type1ELb0EEvPKcS1_z", OPERATOR_ATTENTION,
             20, 200000);
    read_as(ATTENTION, &launch, "flash_attn_ext_vec", 4 * 2097152.0, 4 * (524288.0 + 8192));
}

static void add_call(void)
{
    fill_row(OF_CALL, "cublasGemmEx", OPERATOR_GEMM, 1, 500000);
    rows[OF_CALL].of_call = true;
    rows[OF_CALL].shape_source = TRACE_EXACT;
    rows[OF_CALL].work = (struct work){.shape_known = true,
                                       .m = 17,
                                       .n = 512,
                                       .k = 256,
                                       .batch = 1,
                                       .path = GPU_PATH_UNKNOWN,
                                       .flops = NAN,
                                       .bytes = NAN};
}

static void fill_session(void)
{
    memset(&session, 0, sizeof session);
    device =
        (struct session_device){.described = true,
                                .facts = {.name = "Simulated unit", .sm_count = 100, .memory_bytes = -1, .mig = -1},
                                .roofs = {gpu_spec_by_key("unit"), 1, 1},
                                .floor_ns = NAN};
    add_gated();
    add_experts();
    add_attention();
    add_call();
    fill_row(UNKNOWN, MMQ_NAME, OPERATOR_GEMM, 30, 7000000);
    unread(UNKNOWN, LAUNCH_OTHER_REVISION, "mul_mat_q", "unknown revision of mul_mat_q");
    fill_row(REFUSED, "_Z13mul_mat_vec_fIffLi1ELi32ELb0ELb0EEvPKfz", OPERATOR_GEMV, 2, 400000);
    unread(REFUSED, LAUNCH_REFUSED, "mul_mat_vec_f", "check of mul_mat_vec_f failed: grid.x == n");
    fill_row(PLAIN, "vectorized_elementwise_kernel", OPERATOR_OTHER, 4, 400000);
    session.path = "SESSION";
    session.devices = &device;
    session.device_count = 1;
    session.operators = rows;
    session.operator_count = ROWS;
    session.info.end = SESSION_END_UNKNOWN;
    session.coverage = (struct session_coverage){.kernels_known = true, .processes_timed = 1, .gpu_time_ns = 10e6};
    session.coverage.launches_by_reading[LAUNCH_READ] = 170;
    session.coverage.launch_time_ns_by_reading[LAUNCH_READ] = 1700000;
    session.coverage.launches_by_reading[LAUNCH_OTHER_REVISION] = 30;
    session.coverage.launch_time_ns_by_reading[LAUNCH_OTHER_REVISION] = 7000000;
    session.coverage.launches_by_reading[LAUNCH_REFUSED] = 2;
    session.coverage.launch_time_ns_by_reading[LAUNCH_REFUSED] = 400000;
    session.coverage.launches_by_reading[LAUNCH_NOT_IN_TABLE] = 4;
    session.coverage.launch_time_ns_by_reading[LAUNCH_NOT_IN_TABLE] = 400000;
    session.coverage.helpers_uncharged = 3;
}

static char *text_of(enum columns_of by)
{
    char *text = NULL;
    size_t bytes = 0;
    struct view view = {.rows = SIZE_MAX, .width = 130, .by = by};
    FILE *out = open_memstream(&text, &bytes);
    fill_session();
    assert_true(report_text(&session, &view, out));
    fclose(out);
    return text;
}

/* TEXT without line breaks and runs of blanks: where lines are wrapped is not what is asked here. */
static char *on_one_line(char *text)
{
    char *to = text;
    for (char *from = text; *from; from++)
        if ((*from != ' ' && *from != '\n') || (to > text && to[-1] != ' '))
            *to++ = *from == '\n' ? ' ' : *from;
    *to = '\0';
    return text;
}

static void has(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("not in the report: %s\n%s", wanted, text);
}

static void test_rows(void **state)
{
    (void)state;
    char *text = on_one_line(text_of(COLUMNS_OF_SHAPE));
    /* 10 % of 10 ms; 4194304 / 1179648 FLOP/B; 117.96 MB in 1 ms. */
    has(text, "10.0 1.000 ms 100 mul_mat_vec_q 1 4096 256 q4_K/dp4a 3.6 memory 0.4 118 11.8 - params");
    has(text, "5.0 500.0 us 50 mul_mat_vec_q_moe x2 4 512 1024 q8_0/dp4a 1.9 memory 0.8 446 44.6 - at_most");
    has(text, "flash_attn_ext_vec 8/2 x4 1 <=512 128 kv16/fp16 3.9 memory");
    has(text, "5.0 500.0 us 1 gemm 17 512 256");
    has(text, "mul_mat_q<q4_K, 64, false, (ggml_prec)30> (unknown revision)");
    has(text, " (unknown revision) ");
    has(text, " (refused) ");
    has(text, "mul_mat_vec_q M 1 N 4096 K 256 q4_K/dp4a; a gate is fused: 2 weights in one launch; incl. quantize_q8_1 "
              "12.0 %");
    has(text, "mul_mat_vec_q_moe M 4 N 512 K 1024 q8_0/dp4a; reads 2 to 8 matrices of experts");
    has(text, "of an attention M, N, K are queries, keys and head dim");
    free(text);
}

static void test_coverage(void **state)
{
    (void)state;
    char *text = on_one_line(text_of(COLUMNS_OF_SHAPE));
    has(text, "BLAS calls explain 5.0 % of kernel time, matmuls and attention read off their launches 17.0 %");
    has(text,
        "launches of known kernels: 170 read (17.0 % of kernel time), 30 of an unknown revision (70.0 % of kernel "
        "time), 2 refused by a check (4.0 % of kernel time)");
    has(text, "unknown revision of mul_mat_q, 30 launches, 70.0 % of kernel time: q4_K 70.0 %");
    has(text, "check of mul_mat_vec_f failed: grid.x == n, 2 launches, 4.0 % of kernel time");
    has(text, "`rooftap kernels explain NAME`");
    has(text, "3 launches of helpers (quantising, fix-ups) belong to no operator that was seen");
    free(text);
}

/* Without launches that the table knows nothing of this is said. */
static void test_silence(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    struct view view = {.rows = SIZE_MAX, .width = 130, .by = COLUMNS_OF_SHAPE};
    FILE *out = open_memstream(&text, &bytes);
    fill_session();
    rows[0] = rows[PLAIN];
    session.operator_count = 1;
    session.coverage = (struct session_coverage){.kernels_known = true, .processes_timed = 1, .gpu_time_ns = 400000};
    session.coverage.launches_by_reading[LAUNCH_NOT_IN_TABLE] = 4;
    assert_true(report_text(&session, &view, out));
    fclose(out);
    const char *const words[] = {"launches of known", "BLAS calls explain", "params", "kernels explain", "helpers"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(text, words[i]))
            fail_msg("%s\n%s", words[i], text);
    free(text);
}

static void test_by_kernel(void **state)
{
    (void)state;
    char *text = on_one_line(text_of(COLUMNS_OF_KERNEL));
    has(text, "70.0 7.000 ms 30 233.3 us gemm 1 unknown - - mul_mat_q<");
    free(text);
}

static json_t *report_of(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fill_session();
    assert_true(report_json(&session, NULL, NULL, out));
    fclose(out);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

static json_t *operator_at(json_t *root, int index)
{
    return json_array_get(json_object_get(root, "operators"), (size_t)index);
}

static const char *word(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "(null)";
}

static double number(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void test_json_matmul(void **state)
{
    (void)state;
    json_t *root = report_of(), *gated = operator_at(root, GATED), *launch = json_object_get(gated, "launch");
    json_t *product = json_object_get(launch, "matmul"), *experts = operator_at(root, EXPERTS);
    assert_string_equal(word(launch, "kernel"), "mul_mat_vec_q");
    assert_string_equal(word(launch, "reading"), launch_reading_name(LAUNCH_READ));
    assert_string_equal(word(launch, "path"), "int8-dp4a");
    assert_string_equal(word(launch, "weight_format"), "q4_K");
    assert_string_equal(word(launch, "provenance"), "params");
    assert_true(number(launch, "weight_bits") == 4.5);
    assert_true(number(product, "weights") == 2 && number(product, "matrices_most") == 2);
    assert_true(json_is_false(json_object_get(product, "experts")));
    assert_true(number(gated, "m") == 1 && number(gated, "n") == 4096 && number(gated, "k") == 256);
    assert_true(number(gated, "executions") == 100);
    json_t *served = json_array_get(json_object_get(gated, "helpers"), 0);
    assert_true(number(served, "time_ns") == 120000 && number(served, "kernels") == 100);
    assert_string_equal(word(served, "name"), helper.name);
    product = json_object_get(json_object_get(experts, "launch"), "matmul");
    assert_true(json_is_true(json_object_get(product, "experts")));
    assert_true(number(product, "matrices_least") == 2 && number(product, "matrices_most") == 8);
    assert_true(number(experts, "bytes_least") == 50 * 1114112.0 && number(experts, "bytes") == 50 * 4456448.0);
    assert_true(json_is_null(json_object_get(json_object_get(experts, "launch"), "attention")));
    json_decref(root);
}

static void test_json_attention(void **state)
{
    (void)state;
    json_t *root = report_of(), *row = operator_at(root, ATTENTION);
    json_t *attention = json_object_get(json_object_get(row, "launch"), "attention");
    assert_true(number(attention, "n_q") == 8 && number(attention, "n_kv") == 2 && number(attention, "d") == 128);
    assert_true(number(attention, "queries") == 1 && number(attention, "keys") == 512);
    assert_true(json_is_true(json_object_get(attention, "keys_at_most")));
    assert_true(number(attention, "sequences") == 4 && number(attention, "k_bits") == 16);
    assert_true(json_is_null(json_object_get(row, "m")));
    assert_true(number(row, "intensity_kv") == 4); /* 2097152 / 524288 */
    assert_string_equal(word(row, "bound_kv"), "memory");
    json_decref(root);
}

static void test_json_unread(void **state)
{
    (void)state;
    json_t *root = report_of(), *unknown = json_object_get(operator_at(root, UNKNOWN), "launch");
    json_t *coverage = json_object_get(root, "coverage");
    assert_string_equal(word(unknown, "problem"), "unknown revision of mul_mat_q");
    assert_string_equal(word(unknown, "weight_format"), "q4_K");
    assert_true(json_is_null(json_object_get(unknown, "matmul")) && json_is_null(json_object_get(unknown, "row")));
    assert_true(json_is_null(json_object_get(operator_at(root, PLAIN), "launch")));
    assert_true(json_is_null(json_object_get(operator_at(root, UNKNOWN), "flops")));
    json_t *readings = json_object_get(coverage, "launches_by_reading");
    json_t *other = json_object_get(readings, launch_reading_name(LAUNCH_OTHER_REVISION));
    assert_true(number(other, "launches") == 30 && number(other, "time_ns") == 7000000);
    assert_true(number(coverage, "helpers_uncharged") == 3);
    assert_true(fabs(number(coverage, "call_time_share") - 0.05) < 1e-9);
    assert_true(fabs(number(coverage, "read_launch_time_share") - 0.17) < 1e-9);
    json_decref(root);
}

/* The same as a geometry: causal prefill of L by L^2/2 pairs is 8 (128 + 128) L^2 FLOPs, K and V are 1024 bytes a token and Q
 * and O 8192, so a ridge of 100 is at 100 * 1024 / 2048 = 50 keys by K and V alone, and 100 * 9216 / 2048 = 450 by all. */
static void test_json_geometry(void **state)
{
    (void)state;
    json_t *root = report_of(), *list = json_object_get(root, "attention"), *row = json_array_get(list, 0);
    json_t *lengths = json_object_get(row, "lengths"), *length = json_array_get(lengths, 0);
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(word(row, "source"), "launches");
    assert_true(number(row, "group") == 4 && number(row, "q_bits") == 32 && number(row, "v_bits") == 16);
    assert_true(number(row, "l_ridge_kv") == 50 && number(row, "l_ridge") == 450);
    assert_true(json_is_null(json_object_get(row, "l_star")));
    assert_int_equal(json_integer_value(json_array_get(json_object_get(row, "operators"), 0)), ATTENTION);
    assert_true(number(row, "executions") == 20 && number(row, "time_ns") == 200000);
    assert_int_equal(json_array_size(lengths), 1);
    assert_true(number(length, "keys") == 512 && number(length, "sequences") == 4);
    assert_true(number(length, "executions") == 20 && number(length, "time_ns") == 200000);
    assert_string_equal(word(length, "phase"), "unknown");
    assert_true(number(length, "intensity_kv") == 4);
    json_decref(root);
}

/* Trees of one report are those that are made alone, in whatever order. */
static void test_trees(void **state)
{
    static const size_t tried[] = {4, 1, 6, SIZE_MAX, 2, 2, 100};
    (void)state;
    fill_session();
    struct report_json *report = report_json_open(&session, NULL, NULL);
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        json_t *tree = report_json_tree(report, tried[i]), *alone = report_json_root(&session, NULL, NULL, tried[i]);
        assert_true(json_equal(tree, alone));
        assert_int_equal(json_array_size(json_object_get(tree, "operators")), tried[i] < ROWS ? tried[i] : ROWS);
        assert_true(json_is_null(json_object_get(tree, "cut")) == (tried[i] >= ROWS));
        json_decref(tree);
        json_decref(alone);
    }
    report_json_close(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_coverage),      cmocka_unit_test(test_silence),
        cmocka_unit_test(test_by_kernel), cmocka_unit_test(test_json_matmul),   cmocka_unit_test(test_json_attention),
        cmocka_unit_test(test_trees),     cmocka_unit_test(test_json_geometry), cmocka_unit_test(test_json_unread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
