/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by geometry on an H100 SXM, whose bf16 ridge is 989.5 TFLOP/s / 3.35 TB/s = 295.373 FLOP/B. Lengths at the ridge and
 * crossovers are published figures, named beside them; other expectations are worked out in comments. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "classify/attention_rows.h"
#include "classify/books.h"
#include "classify/model_books.h"
#include "classify/session.h"

enum { ROWS = 8 };

static struct session_device devices[2];
static struct operator_row operators[ROWS];
static struct launch_decode launches[ROWS];
static struct session session;

static void close_to(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance))
        fail_msg("%.9g where it should be %.9g", got, wanted);
}

static void begin(const char *gpu)
{
    memset(devices, 0, sizeof devices);
    for (int i = 0; i < 2; i++)
        devices[i] = (struct session_device){.described = true, .roofs = {gpu_spec_by_key(gpu), 1, 1}};
    assert_true(!gpu || devices[0].roofs.spec);
    session = (struct session){.devices = devices, .device_count = 2, .operators = operators};
}

/* CALLS launches of TIME_NS each, all in steps of PHASE. */
static struct operator_row *add(int64_t n_q, int64_t n_kv, int64_t queries, int64_t keys, uint64_t calls,
                                uint64_t time_ns, enum phase phase)
{
    const size_t i = session.operator_count++;
    launches[i] = (struct launch_decode){
        .reading = LAUNCH_READ,
        .kind = LAUNCH_ATTENTION,
        .path = GPU_PATH_BF16,
        .n_q = n_q,
        .n_kv = n_kv,
        .d = 128,
        .d_v = 128,
        .queries = queries,
        .keys = keys,
        .sequences = 1,
        .splits = 1,
        .q_bits = 16,
        .k_bits = 16,
        .v_bits = 16,
        .o_bits = 16,
    };
    operators[i] = (struct operator_row){
        .kind = OPERATOR_ATTENTION,
        .name = "attention",
        .launch = &launches[i],
        .calls_known = true,
        .calls = calls,
        .executions = calls,
        .kernels = calls,
        .timed = true,
        .time_ns = calls * time_ns,
        .evidence.executions_all = calls,
        .replays_phased = true,
        .work.path = GPU_PATH_BF16,
        .roofline = {.ridge = devices[0].roofs.spec ? gpu_spec_ridge(devices[0].roofs.spec, GPU_PATH_BF16) : NAN,
                     .bound = BOUND_MEMORY},
    };
    operators[i].phase_calls[phase] = calls;
    return &operators[i];
}

static struct books *llama(const char *file, int64_t gpus)
{
    char path[512];
    struct model_error error;
    const struct books_options options = {.model.tensor_parallel = gpus};
    snprintf(path, sizeof path, CONFIGS "/%s.json", file);
    struct books *books = books_open(path, &options, &error);
    if (!books)
        fail_msg("%s", error.text);
    return books;
}

/* ---- lengths at the ridge ---- */

/* The ridge lengths of reference_figures.tsv: by K and V alone b R / g, compulsory b R (g + 1) / g. */
static void test_ridge_lengths(void **state)
{
    static const struct {
        int64_t n_kv;
        double kv, all;
    } rows[] = {{64, 590.746, 1181.493}, {16, 147.687, 738.433}, {8, 73.843, 664.590}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin("h100-sxm");
        add(64, rows[i].n_kv, 1, 100, 1, 1000, PHASE_DECODE);
        struct attention_rows found = attention_rows_of(&session, NULL, NULL);
        assert_int_equal(found.count, 1);
        assert_true(found.items[0].group == 64.0 / (double)rows[i].n_kv);
        close_to(found.items[0].ridge_length_kv, rows[i].kv, 0.01);
        close_to(found.items[0].ridge_length, rows[i].all, 0.01);
        assert_true(isnan(found.items[0].crossover)); /* no model was named */
        attention_rows_free(&found);
    }
}

/* A cache of 8 bits beside 16-bit Q and O, g = 8: K and V alone R / g = 36.922; with Q and O R (1 + 8 * 2) / 8 = 627.668. */
static void test_sizes_that_differ(void **state)
{
    (void)state;
    begin("h100-sxm");
    add(64, 8, 1, 100, 1, 1000, PHASE_DECODE);
    launches[0].k_bits = launches[0].v_bits = 8;
    struct attention_rows found = attention_rows_of(&session, NULL, NULL);
    close_to(found.items[0].ridge_length_kv, 36.922, 0.001);
    close_to(found.items[0].ridge_length, 627.668, 0.001);
    attention_rows_free(&found);
}

/* Absorbed MLA: 128 heads on one latent of 576, V its first 512. A prefill of L by L^2/2 pairs: 128 (576 + 512) L^2 FLOPs =
 * 139,264 L^2; K 576 * 2 = 1152 bytes a token, Q and O 128 (576 + 512) 2 = 278,528. L at 295.373: 1152 R / 139,264 = 2.443, and
 * (1152 + 278,528) R / 139,264 = 593.190. */
static void test_latent(void **state)
{
    (void)state;
    begin("h100-sxm");
    add(128, 1, 1, 100, 1, 1000, PHASE_DECODE);
    launches[0].d = 576;
    launches[0].d_v = 512;
    launches[0].v_in_k = true;
    struct attention_rows found = attention_rows_of(&session, NULL, NULL);
    close_to(found.items[0].ridge_length_kv, 2.443, 0.001);
    close_to(found.items[0].ridge_length, 593.190, 0.001);
    attention_rows_free(&found);
}

static void test_no_roof(void **state)
{
    (void)state;
    begin("h100-sxm");
    add(64, 8, 1, 100, 1, 1000, PHASE_DECODE);
    operators[0].roofline.ridge = NAN;
    struct attention_rows found = attention_rows_of(&session, NULL, NULL);
    assert_true(isnan(found.items[0].ridge_length) && isnan(found.items[0].ridge_length_kv));
    attention_rows_free(&found);

    begin("h100-sxm");
    add(64, 8, 1, 100, 1, 1000, PHASE_DECODE);
    launches[0].n_kv = -1;
    found = attention_rows_of(&session, NULL, NULL);
    assert_true(isnan(found.items[0].group) && isnan(found.items[0].ridge_length));
    attention_rows_free(&found);
}

/* ---- rows and lengths ---- */

/* Two geometries, the second on two devices. One length was launched by two operators, and one in two phases. */
static void test_rows(void **state)
{
    (void)state;
    begin("h100-sxm");
    add(32, 8, 1, 1000, 10, 400, PHASE_DECODE);
    add(32, 8, 512, 512, 2, 1500, PHASE_PREFILL);
    add(32, 8, 1, 1000, 20, 100, PHASE_DECODE); /* in two parts, say */
    add(32, 8, 1, 1001, 4, 100, PHASE_DECODE)->phase_calls[PHASE_DECODE] = 3;
    operators[3].phase_calls[PHASE_PREFILL] = 1;
    add(16, 8, 1, 1000, 1, 50, PHASE_DECODE);
    add(16, 8, 1, 1000, 1, 40, PHASE_DECODE)->device = 1;
    add(16, 8, 7, 7, 1, 1, PHASE_DECODE)->of_call = true; /* a call is none */
    struct attention_rows found = attention_rows_of(&session, NULL, NULL);
    assert_int_equal(found.count, 3);
    const struct attention_row *row = &found.items[0];
    assert_int_equal(row->operator_count, 4);
    assert_int_equal(row->executions, 36);
    assert_int_equal(row->time_ns, 4000 + 3000 + 2000 + 400);
    assert_int_equal(row->length_count, 4);
    assert_int_equal(row->lengths[0].keys, 1000);
    assert_true(row->lengths[0].executions == 30 && row->lengths[0].time_ns == 6000);
    assert_int_equal(row->lengths[0].phase, PHASE_DECODE);
    assert_int_equal(row->lengths[1].queries, 512);
    assert_int_equal(row->lengths[1].phase, PHASE_PREFILL);
    assert_true(row->lengths[2].executions == 3 && row->lengths[2].time_ns == 300);
    assert_true(row->lengths[3].executions == 1 && row->lengths[3].time_ns == 100);
    assert_int_equal(row->lengths[3].phase, PHASE_PREFILL);
    /* 32 * 2 * 256 FLOPs a key by 8 * 256 * 2 bytes: g 2 / b = 4. */
    close_to(row->lengths[0].intensity_kv, 4, 1e-9);
    /* 16,384,000 FLOPs by 4,096,000 bytes of K and V and 16,384 of Q and O. */
    close_to(row->lengths[0].intensity, 16384000.0 / 4112384, 1e-9);
    assert_int_equal(found.items[1].device, 0);
    assert_int_equal(found.items[2].device, 1);
    attention_rows_free(&found);
}

static void test_untimed(void **state)
{
    (void)state;
    begin("h100-sxm");
    add(32, 8, 1, 1000, 10, 0, PHASE_UNKNOWN);
    operators[0].timed = false;
    operators[0].kernels = 0;
    struct attention_rows found = attention_rows_of(&session, NULL, NULL);
    assert_false(found.items[0].timed);
    assert_true(isnan(found.items[0].lengths[0].time_ns));
    assert_true(found.items[0].lengths[0].executions == 10);
    attention_rows_free(&found);
}

/* ---- a model ---- */

/* L* of reference_figures.tsv; each GPU of several has its part of the heads, and L* is that of the whole. */
static void test_crossover(void **state)
{
    static const struct {
        const char *file;
        int64_t gpus, n_q, n_kv;
        double crossover;
    } rows[] = {
        {"llama-2-7b", 1, 32, 32, 49408}, {"llama-2-70b", 1, 64, 8, 104448}, {"llama-2-70b", 8, 8, 1, 104448},
        {"llama-3-8b", 1, 32, 8, 53248},  {"mixtral-8x7b", 1, 32, 8, 96264},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct books *books = llama(rows[i].file, rows[i].gpus);
        begin("h100-sxm");
        add(rows[i].n_q, rows[i].n_kv, 1, 100, 1, 1000, PHASE_DECODE);
        struct attention_rows found = attention_rows_of(&session, books, NULL);
        assert_int_equal(found.count, 1); /* nothing ran on the other device */
        assert_false(found.items[0].of_model);
        close_to(found.items[0].crossover, rows[i].crossover, 0.5);
        attention_rows_free(&found);

        begin("h100-sxm");
        add(rows[i].n_q + 1, 1, 1, 100, 1, 1000, PHASE_DECODE); /* other heads: not of this model */
        found = attention_rows_of(&session, books, NULL);
        assert_true(isnan(found.items[0].crossover) && isnan(found.items[0].layer_parameters));
        attention_rows_free(&found);
        books_free(books);
    }
}

/* Decode of absorbed MLA has other heads than prefill, to which L* belongs: DeepSeek-V2-Lite, 16 heads of 192 and 128, over a
 * latent of 512 + 64. */
static void test_crossover_of_latent(void **state)
{
    (void)state;
    struct books *books = llama("deepseek-v2-lite", 1);
    begin("h100-sxm");
    add(16, 1, 1, 100, 1, 1000, PHASE_DECODE);
    launches[0].d = 576;
    launches[0].d_v = 512;
    launches[0].v_in_k = true;
    struct attention_rows found = attention_rows_of(&session, books, NULL);
    close_to(found.items[0].crossover, 2 * model_geometry_layer_parameters(&books->geometry) / (16 * (192 + 128)),
             1e-6);
    attention_rows_free(&found);
    books_free(books);
}

/* Where no launch was read, the model's geometry on each device where something ran. */
static void test_model_alone(void **state)
{
    (void)state;
    struct books *books = llama("llama-2-70b", 8);
    begin("h100-sxm");
    add(8, 1, 1, 100, 1, 1000, PHASE_DECODE);
    launches[0].reading = LAUNCH_REFUSED;
    struct attention_rows found = attention_rows_of(&session, books, NULL);
    assert_int_equal(found.count, 1);
    const struct attention_row *row = &found.items[0];
    assert_true(row->of_model);
    assert_int_equal(row->device, 0);
    assert_int_equal(row->n_q, 8);
    assert_int_equal(row->n_kv, 1);
    assert_int_equal(row->operator_count + row->length_count, 0);
    close_to(row->ridge_length, 664.590, 0.01); /* g = 8 still; the model is fp16, whose peak is bf16's */
    close_to(row->crossover, 104448, 0.5);
    attention_rows_free(&found);
    add(8, 1, 1, 100, 1, 1000, PHASE_DECODE)->device = 1;
    found = attention_rows_of(&session, books, NULL);
    assert_int_equal(found.count, 2);
    assert_false(found.items[0].of_model);
    assert_true(found.items[1].of_model);
    attention_rows_free(&found);
    books_free(books);
}

/* A GGUF says how heads are cut and what a layer multiplies, not how K and V are cached. Two layers, of which the second has
 * experts, 2 of 8 in use. */
static void test_gguf(void **state)
{
    static struct gguf_matrix matrices[] = {
        {.name = "attn_q", .layer = 0, .n = 64, .k = 32, .matrices = 1},
        {.name = "ffn_down", .layer = 0, .n = 32, .k = 100, .matrices = 1},
        {.name = "ffn_up_exps", .layer = 1, .n = 50, .k = 32, .matrices = 8, .experts = true},
        {.name = "output", .layer = GGUF_NO_LAYER, .n = 1000, .k = 32, .matrices = 1},
    };
    (void)state;
    struct model_books books = {
        .model = {.facts = {.layers = 2,
                            .query_heads = 4,
                            .kv_heads = 2,
                            .key_dim = 16,
                            .value_dim = 16,
                            .experts = 8,
                            .experts_used = 2},
                  .matrices = matrices,
                  .count = sizeof matrices / sizeof matrices[0]},
    };
    begin("h100-sxm");
    add(4, 2, 1, 100, 1, 1000, PHASE_DECODE);
    launches[0].d = launches[0].d_v = 16;
    struct attention_rows found = attention_rows_of(&session, NULL, &books);
    /* (64 * 32 + 32 * 100 + 2 * 50 * 32) / 2 = 4224 a layer; 2 * 4224 / (4 * 32) = 66. */
    close_to(found.items[0].layer_parameters, 4224, 1e-9);
    close_to(found.items[0].crossover, 66, 1e-9);
    attention_rows_free(&found);

    launches[0].reading = LAUNCH_REFUSED;
    found = attention_rows_of(&session, NULL, &books);
    assert_true(found.items[0].of_model);
    assert_true(isnan(found.items[0].k_bits) && isnan(found.items[0].ridge_length));
    close_to(found.items[0].crossover, 66, 1e-9);
    attention_rows_free(&found);

    books.model.files_missing = 1; /* then a layer is not all there */
    found = attention_rows_of(&session, NULL, &books);
    assert_true(isnan(found.items[0].crossover));
    attention_rows_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ridge_lengths), cmocka_unit_test(test_sizes_that_differ),
        cmocka_unit_test(test_latent),        cmocka_unit_test(test_no_roof),
        cmocka_unit_test(test_rows),          cmocka_unit_test(test_untimed),
        cmocka_unit_test(test_crossover),     cmocka_unit_test(test_model_alone),
        cmocka_unit_test(test_gguf),          cmocka_unit_test(test_crossover_of_latent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
