/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of reference_figures.tsv, which holds its own values: nothing expected is computed here. A quantity is a row of
 * the table below: its name, and how classify/ comes to it from the row's inputs, which are words "name=value". */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/attention_work.h"
#include "classify/gpu_specs.h"
#include "classify/roof_time.h"
#include "classify/roofline.h"
#include "classify/work.h"

enum { COLUMNS = 6, LINE_BYTES = 1024 };

struct figure {
    char line[LINE_BYTES];
    char *column[COLUMNS]; /* id, quantity, inputs, value, tolerance, source */
};

/* ---- inputs ---- */

/* The value behind NAME=, up to the next space; NULL if the row has no such input. Static. */
static const char *input(const struct figure *f, const char *name)
{
    static char value[64];
    size_t length = strlen(name);
    for (const char *word = f->column[2]; word; word = strchr(word, ' ') ? strchr(word, ' ') + 1 : NULL)
        if (!strncmp(word, name, length) && word[length] == '=') {
            snprintf(value, sizeof value, "%.*s", (int)strcspn(word + length + 1, " "), word + length + 1);
            return value;
        }
    return NULL;
}

static double number_or(const struct figure *f, const char *name, double otherwise)
{
    const char *text = input(f, name);
    return text ? atof(text) : otherwise;
}

static double number(const struct figure *f, const char *name)
{
    if (!input(f, name))
        fail_msg("%s: no input %s", f->column[0], name);
    return number_or(f, name, NAN);
}

static int64_t size(const struct figure *f, const char *name)
{
    return (int64_t)number(f, name);
}

static enum number_type type_named(const char *name)
{
    for (int t = 1; t < NUMBER_TYPE_COUNT; t++)
        if (name && !strcmp(number_type_name((enum number_type)t), name))
            return (enum number_type)t;
    fail_msg("no type %s", name ? name : "given");
    return NUMBER_UNKNOWN;
}

/* cudaDataType of the input "type". */
static int32_t data_type(const struct figure *f)
{
    enum number_type type = type_named(input(f, "type"));
    for (int32_t value = 0; value < 64; value++)
        if (number_format(value).type == type && !number_format(value).complex)
            return value;
    fail_msg("%s: no such operands", f->column[0]);
    return -1;
}

static double bits(const struct figure *f)
{
    return number_format(data_type(f)).bits;
}

static const struct gpu_spec *gpu(const struct figure *f)
{
    const struct gpu_spec *spec = gpu_spec_by_key(input(f, "gpu"));
    assert_non_null(spec);
    return spec;
}

/* The path of a tensor-core GEMM with operands of type NAME. */
static enum gpu_path path_of(const char *name)
{
    enum number_type type = type_named(name);
    for (int p = 0; p < GPU_PATH_COUNT; p++)
        if (gpu_paths[p].type == type)
            return (enum gpu_path)p;
    return GPU_PATH_UNKNOWN;
}

static double ridge(const struct figure *f)
{
    if (input(f, "ridge"))
        return number(f, "ridge");
    enum gpu_path path = path_of(input(f, input(f, "path") ? "path" : "type"));
    return gpu_spec_ridge(gpu(f), path);
}

/* ---- GEMM ---- */

/* As a row-major caller asks cuBLAS for it: m and n exchanged, the weight transposed. */
static struct work gemm(const struct figure *f, int64_t m, int64_t n, int64_t k)
{
    int32_t type = data_type(f);
    struct trace_signature s = {
        .kind = TRACE_CALL_GEMM,
        .library = TRACE_LIBRARY_CUBLAS,
        .provenance = TRACE_EXACT,
        .trans_a = 1,
        .beta = TRACE_SCALAR_ZERO,
        .m = n,
        .n = m,
        .k = k,
        .batch = 1,
        .type = {type, type, type, type},
        .type_compute = 68,
    };
    struct work work;
    work_of_signature(&s, "cublasGemmEx", &work);
    return work;
}

static double gemm_intensity(const struct figure *f)
{
    return gemm(f, size(f, "M"), size(f, "N"), size(f, "K")).intensity;
}

static double m_star(const struct figure *f)
{
    struct work work = gemm(f, 1, size(f, "N"), size(f, "K"));
    return work_rows_at_ridge(&work, ridge(f));
}

static double gemm_cap(const struct figure *f)
{
    struct work work = gemm(f, 1, size(f, "N"), size(f, "K"));
    return gemm_work_ridge(&work.model, 1).cap;
}

static double roof_us(const struct figure *f, int64_t n)
{
    struct work work = gemm(f, size(f, "M"), n, size(f, "K"));
    struct device_roofs roofs = device_roofs(gpu(f), -1, false, -1);
    struct roofline_input in = {.flops = work.flops, .bytes = work.bytes, .path = work.path, .floor_ns = NAN};
    struct roofline result;
    roofline_classify(&in, &roofs, &result);
    return result.t_roof_ns / 1000;
}

static double fused_time_saved_us(const struct figure *f)
{
    double apart = 0;
    int64_t fused = 0;
    char list[64], *rest = list;
    snprintf(list, sizeof list, "%s", input(f, "Ns"));
    for (char *n = strsep(&rest, ","); n; n = strsep(&rest, ",")) {
        apart += roof_us(f, atoll(n));
        fused += atoll(n);
    }
    return apart - roof_us(f, fused);
}

static double fill(const struct figure *f)
{
    return roof_fill(number(f, "blocks"), (int32_t)size(f, "sms"));
}

/* ---- attention ---- */

static struct attention_model attention(const struct figure *f, int64_t queries, int64_t keys)
{
    struct attention_model a = attention_plain(size(f, "n_q"), size(f, "n_kv"), size(f, "d"), queries, keys, bits(f));
    a.d_v = (int64_t)number_or(f, "d_v", (double)a.d);
    a.v_in_k = number_or(f, "v_in_k", 0) == 1;
    return a;
}

static struct attention_work decode(const struct figure *f, int64_t context)
{
    struct attention_model a = attention(f, 1, context);
    struct attention_work work;
    attention_work(&a, &work);
    return work;
}

static double decode_intensity_kv(const struct figure *f)
{
    return decode(f, size(f, "context")).intensity_kv;
}

static double decode_intensity_kv_spread(const struct figure *f)
{
    double least = INFINITY, most = -INFINITY;
    char list[64], *rest = list;
    snprintf(list, sizeof list, "%s", input(f, "contexts"));
    for (char *context = strsep(&rest, ","); context; context = strsep(&rest, ",")) {
        least = fmin(least, decode(f, atoll(context)).intensity_kv);
        most = fmax(most, decode(f, atoll(context)).intensity_kv);
    }
    return most - least;
}

static double decode_intensity(const struct figure *f)
{
    return decode(f, size(f, "context")).intensity;
}

/* By the ridge length that is printed: where that is L, the intensity is the ridge. */
static double prefill_intensity_kv(const struct figure *f)
{
    double length_of_one = attention_ridge_length_kv(number(f, "g"), bits(f) / 8, 1, number(f, "causal") == 1);
    return number(f, "L") / length_of_one;
}

static double prefill_intensity_kv_over_ridge(const struct figure *f)
{
    return prefill_intensity_kv(f) / ridge(f);
}

static double ridge_length_kv(const struct figure *f)
{
    return attention_ridge_length_kv(number(f, "g"), bits(f) / 8, ridge(f), number_or(f, "causal", 1) == 1);
}

static double ridge_length(const struct figure *f)
{
    return attention_ridge_length(number(f, "g"), bits(f) / 8, bits(f) / 8, bits(f) / 8, ridge(f));
}

static double pairs(const struct figure *f)
{
    struct attention_model a = attention_plain(1, 1, 1, size(f, "L_q"), size(f, "L_k"), 16);
    struct attention_work work;
    bool top_left = !strcmp(input(f, "mask"), "top_left");
    assert_true(top_left || !strcmp(input(f, "mask"), "bottom_right"));
    a.mask = top_left ? ATTENTION_CAUSAL_TOP_LEFT : ATTENTION_CAUSAL_BOTTOM_RIGHT;
    a.window_left = (int64_t)number_or(f, "window", 0) - 1; /* w keys, the row's own included; none: -1 */
    attention_work(&a, &work);
    return work.pairs;
}

static double naive_cap(const struct figure *f)
{
    return attention_naive_cap(number(f, "d"), number(f, "d"), bits(f) / 8, bits(f) / 8);
}

/* ---- parameters: the weights of a layer's products ---- */

static double weight(double n, double k)
{
    struct gemm_model model = gemm_plain(1, (int64_t)n, (int64_t)k, 8);
    struct gemm_work work;
    gemm_work(&model, &work);
    return work.operand_bytes[GEMM_RIGHT];
}

/* q, k, v and o; gate, up and down of the active experts; the router. */
static double layer_parameters(const struct figure *f)
{
    double hidden = number(f, "hidden"), d = number(f, "d"), q = number(f, "n_q") * d, kv = number(f, "n_kv") * d;
    double attention_weights = weight(q, hidden) + 2 * weight(kv, hidden) + weight(hidden, q);
    double ffn = 2 * weight(number(f, "ffn"), hidden) + weight(hidden, number(f, "ffn"));
    double router = input(f, "experts") ? weight(number(f, "experts"), hidden) : 0;
    return attention_weights + number_or(f, "active", 1) * ffn + router;
}

/* With embeddings in and out, and norm vectors where the row says so. */
static double parameters(const struct figure *f)
{
    double hidden = number(f, "hidden");
    return number(f, "layers") * layer_parameters(f) + 2 * weight(number(f, "vocab"), hidden) +
           number_or(f, "norms", 0) * hidden;
}

static double crossover_length(const struct figure *f)
{
    return attention_crossover_length(layer_parameters(f), number(f, "n_q"), number(f, "d"), number(f, "d"));
}

static double attention_share_percent(const struct figure *f)
{
    return 100 * attention_share(number(f, "L"), crossover_length(f));
}

/* ---- the rows ---- */

static const struct {
    const char *quantity;
    double (*compute)(const struct figure *f);
} quantities[] = {
    {"gemm_intensity", gemm_intensity},
    {"m_star", m_star},
    {"gemm_cap", gemm_cap},
    {"fill", fill},
    {"fused_time_saved_us", fused_time_saved_us},
    {"ridge", ridge},
    {"decode_intensity_kv", decode_intensity_kv},
    {"decode_intensity_kv_spread", decode_intensity_kv_spread},
    {"decode_intensity", decode_intensity},
    {"prefill_intensity_kv", prefill_intensity_kv},
    {"prefill_intensity_kv_over_ridge", prefill_intensity_kv_over_ridge},
    {"ridge_length_kv", ridge_length_kv},
    {"ridge_length", ridge_length},
    {"pairs", pairs},
    {"naive_cap", naive_cap},
    {"layer_parameters", layer_parameters},
    {"parameters", parameters},
    {"crossover_length", crossover_length},
    {"attention_share_percent", attention_share_percent},
};

static double computed(const struct figure *f)
{
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++)
        if (!strcmp(quantities[i].quantity, f->column[1]))
            return quantities[i].compute(f);
    fail_msg("%s: no quantity %s", f->column[0], f->column[1]);
    return NAN;
}

static void split(struct figure *f)
{
    char *rest = f->line;
    f->line[strcspn(f->line, "\n")] = 0;
    for (int i = 0; i < COLUMNS; i++) {
        f->column[i] = strsep(&rest, "\t");
        if (!f->column[i])
            fail_msg("%s: fewer than %d columns", f->column[0], COLUMNS);
    }
    assert_null(rest);
}

static void test_figures(void **state)
{
    struct figure f;
    int figures = 0, wrong = 0;
    FILE *file = fopen("reference_figures.tsv", "r");
    (void)state;
    assert_non_null(file);
    while (fgets(f.line, sizeof f.line, file)) {
        if (*f.line == '#')
            continue;
        split(&f);
        double value = computed(&f), expected = atof(f.column[3]), tolerance = atof(f.column[4]);
        bool equal = isinf(expected) ? isinf(value) : fabs(value - expected) <= tolerance;
        if (!equal)
            print_error("%s: %s of %s: %.6f, expected %s\n", f.column[0], f.column[1], f.column[2], value, f.column[3]);
        wrong += !equal;
        figures++;
    }
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(figures >= 68);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_figures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
