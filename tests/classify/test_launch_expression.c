/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions against values worked out by hand, what they refuse, and what stays unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "classify/launch_expression.h"
#include "tests/classify/launch_fixture.h"

/* _Z...<(ggml_type)12, 4, true, float>(void const*, int, unsigned int, uint3, bool, params, long, unsigned long, short) */
static const char *const types[] = {"void const*", "int",  "unsigned int",  "uint3", "bool",
                                    "params",      "long", "unsigned long", "short"};
static const struct launch_name names[] = {
    {"seven", false, true}, {"kind", true, true}, {"hidden", false, false}, {"lost", false, true}};
static const struct launch_scope scope = {types, sizeof types / sizeof types[0], 5, names, 4};

static struct launch_facts facts_of(struct launch_fixture *fixture)
{
    static struct kernel_signature signature = {
        .base = "k", .argument_count = 5, .argument = {"(ggml_type)12", "4", "true", "float", "&one::dequantize_q4_0"}};
    static const uint32_t grid[3] = {10, 20, 30}, block[3] = {32, 4, 1};
    static const struct launch_value values[] = {{.state = LAUNCH_VALUE_KNOWN, .number = 7},
                                                 {.state = LAUNCH_VALUE_KNOWN, .text = "bf16"},
                                                 {.state = LAUNCH_VALUE_KNOWN, .number = 1},
                                                 {.state = LAUNCH_VALUE_NOT_KEPT}};
    const int16_t minus = -3;
    const unsigned char yes = 1;
    const uint64_t fields[3] = {5, 0, 0x100000002};
    fixture_begin(fixture);
    fixture_pointer(fixture, 1);
    fixture_u32(fixture, (uint32_t)-12);
    fixture_u32(fixture, 0xfffffff0u);
    fixture_fastdiv(fixture, 96);
    fixture_bytes(fixture, &yes, 1, 1);
    fixture_bytes(fixture, fields, 40, 24); /* 16 of its bytes were not kept */
    fixture_i64(fixture, INT64_MAX);
    fixture_i64(fixture, -1); /* 2^64 - 1 as unsigned */
    fixture_bytes(fixture, &minus, 2, 2);
    return (struct launch_facts){&signature, grid, block, &fixture->parameters, values};
}

static struct launch_value value_of(const char *text)
{
    char error[LAUNCH_EXPRESSION_ERROR_BYTES] = "";
    struct launch_fixture fixture;
    struct launch_facts facts = facts_of(&fixture);
    struct launch_expression *e = launch_expression_compile(text, &scope, false, error);
    if (!e)
        fail_msg("%s: %s", text, error);
    struct launch_value value = launch_expression_evaluate(e, &facts);
    launch_expression_free(e);
    return value;
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 4 - 3", 3},
        {"-7 / 2", -3},
        {"-7 % 2", -1},
        {"ceil(7, 2)", 4},
        {"ceil(-7, 2)", -3},
        {"ceil(8, 2)", 4},
        {"exact(12, 4)", 3},
        {"min(5, 3, 4)", 3},
        {"max(5, 3, 9, 4)", 9},
        {"1 < 2 == 1", 1},
        {"1 != 2", 1},
        {"!0 + !5", 1},
        {"--4", 4},
        {"0 && 1 || 1", 1},
        {"2 > 1 ? 10 : 20", 10},
        {"0 ? 1 : 0 ? 2 : 3", 3},
        {"true + false", 1},
        {"a1", -12},
        {"a2", 4294967280},
        {"a3.z", 96},
        {"a3.y", 3},
        {"a4", 1},
        {"a5.u64[0]", 5},
        {"a5.u32[16] + a5.u32[20]", 3},
        {"a5.u8[16]", 2},
        {"a6", INT64_MAX},
        {"a7.i64[0]", -1},
        {"a8", -3},
        {"a8.u16[0]", 65533},
        {"null(a0)", 0},
        {"t0", 12},
        {"t1 * 2", 8},
        {"t2", 1},
        {"is(t3, 'float')", 1},
        {"is(t3, \"floa\")", 0},
        {"has(t4, 'dequantize_q4_0')", 1},
        {"has(t4, 'dequantize_q4')", 0},
        {"has(t4, 'one')", 1},
        {"grid.x * grid.y + grid.z + block.x + block.y", 266},
        {"seven * seven", 49},
        {"known(lost)", 0},
        {"known(seven)", 1},
        {"0 && lost", 0},
        {"lost && 0", 0},
        {"1 || lost", 1},
        {"lost || 7", 1},
        {"block_of('q4_K')", 256},
        {"bytes_of('q4_K')", 144},
        {"bytes_of(ggml(t0)) * 2", 288},
        {"bytes_of(ggml(40)) + block_of(ggml(40))", 100},
        {"ggml(t0) == 'q4_K'", 1},
        {"kind != 'bf16'", 0},
        {"block_of(kind) + bytes_of(kind)", 3},
        {"9223372036854775807", INT64_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct launch_value value = value_of(cases[i].text);
        if (value.state != LAUNCH_VALUE_KNOWN || value.number != cases[i].value)
            fail_msg("%s: state %d, %lld", cases[i].text, value.state, (long long)value.number);
    }
}

static void test_unknown(void **state)
{
    static const struct {
        const char *text;
        enum launch_value_state state;
    } cases[] = {
        {"a5.u64[24]", LAUNCH_VALUE_NOT_KEPT}, /* behind what was kept */
        {"a5.u64[20]", LAUNCH_VALUE_NOT_KEPT}, /* half of it kept */
        {"lost + 1", LAUNCH_VALUE_NOT_KEPT},
        {"lost ? 1 : 1", LAUNCH_VALUE_NOT_KEPT},
        {"lost == lost", LAUNCH_VALUE_NOT_KEPT},
        {"1 && lost", LAUNCH_VALUE_NOT_KEPT},
        {"0 || lost", LAUNCH_VALUE_NOT_KEPT},
        {"lost && 1", LAUNCH_VALUE_NOT_KEPT},
        {"lost || 0", LAUNCH_VALUE_NOT_KEPT},
        {"!lost", LAUNCH_VALUE_NOT_KEPT},
        {"min(1, lost)", LAUNCH_VALUE_NOT_KEPT},
        {"a6 + 1", LAUNCH_VALUE_OUT_OF_RANGE},
        {"a6 * 2 == a6 * 2", LAUNCH_VALUE_OUT_OF_RANGE},
        {"-a6 - 2", LAUNCH_VALUE_OUT_OF_RANGE},
        {"(-a6 - 1) / -1", LAUNCH_VALUE_OUT_OF_RANGE},
        {"-(-a6 - 1)", LAUNCH_VALUE_OUT_OF_RANGE},
        {"(-a6 - 1) % -1", LAUNCH_VALUE_OUT_OF_RANGE},
        {"a7", LAUNCH_VALUE_OUT_OF_RANGE}, /* 2^64 - 1 */
        {"1 / 0", LAUNCH_VALUE_OUT_OF_RANGE},
        {"1 % 0", LAUNCH_VALUE_OUT_OF_RANGE},
        {"ceil(1, 0)", LAUNCH_VALUE_OUT_OF_RANGE},
        {"exact(13, 4)", LAUNCH_VALUE_OUT_OF_RANGE},
        {"t3", LAUNCH_VALUE_OUT_OF_RANGE},                /* a type */
        {"block_of(ggml(4))", LAUNCH_VALUE_OUT_OF_RANGE}, /* a retired number */
        {"ggml(-1) == 'q4_K'", LAUNCH_VALUE_OUT_OF_RANGE},
        {"block_of('fp8-tensor')", LAUNCH_VALUE_OUT_OF_RANGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (value_of(cases[i].text).state != cases[i].state)
            fail_msg("%s: state %d", cases[i].text, value_of(cases[i].text).state);
}

/* Whatever a row may get wrong is said in words that name it. */
static void test_refused(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "a value is expected"},
        {"1 +", "a value is expected"},
        {"1 2", "'2' is not expected"},
        {"(1", "')' is expected"},
        {"a9", "there is no parameter 9"},
        {"a99999999999999999999", "there is no parameter"},
        {"t5", "there is no template argument 5"},
        {"a0", "a0 is a pointer"},
        {"a0.u64[0]", "a0 is a pointer"},
        {"a3", "no integer"},
        {"a5", "no integer"},
        {"a3.w", "has no .w"},
        {"a1.x", "has no .x"},
        {"a5.u64[-1]", "']' is expected"},
        {"a5.u64[999999]", "has no byte"},
        {"a5.f32[0]", "has no .f32"},
        {"null(a1)", "is no pointer"},
        {"null(1)", "a parameter such as a2"},
        {"is(t0, float)", "a text in quotes"},
        {"is(3, 'float')", "a template argument such as t0"},
        {"grid.w", ".x, .y and .z"},
        {"nothing", "nothing is not known here"},
        {"hidden", "hidden is not known here"},
        {"sqrt(2)", "there is no function sqrt()"},
        {"'q4_k'", "neither a format nor a path"},
        {"'q4_K'", "a text where a number"},
        {"'q4_K' + 1", "+ takes numbers"},
        {"'q4_K' == 1", "compared with a number"},
        {"'q4_K' ? 1 : 2", "? takes numbers"},
        {"1 ? 'q4_K' : 2", "one side of ':'"},
        {"block_of(4)", "block_of takes a format"},
        {"min(1)", "',' is expected"},
        {"ceil(1, 2, 3)", "')' is expected"},
        {"99999999999999999999", "is no number"},
        {"12abc", "is no number"},
        {"1 = 1", "is not expected"},
        {"'q4_K", "a text in quotes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[LAUNCH_EXPRESSION_ERROR_BYTES] = "";
        struct launch_expression *e = launch_expression_compile(cases[i].text, &scope, false, error);
        if (e || !strstr(error, cases[i].error))
            fail_msg("'%s' is %s: '%s'", cases[i].text, e ? "taken" : "refused", error);
    }
}

/* Deep nesting, long chains: refused, never a crash. */
static void test_bounds(void **state)
{
    static char text[100000];
    char error[LAUNCH_EXPRESSION_ERROR_BYTES];
    static const char *const units[] = {"(", "-", "!", "1+", "1?", "1?1:", "min(", "known("};
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i]), at = 0;
        while (at + length + 2 < sizeof text) {
            memcpy(text + at, units[i], length);
            at += length;
        }
        strcpy(text + at, "1");
        assert_null(launch_expression_compile(text, &scope, false, error));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
