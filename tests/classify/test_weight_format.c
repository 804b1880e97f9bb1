/* SPDX-License-Identifier: Apache-2.0 */
/* Weight formats against block sizes in bytes, and against bits a weight as their sources print them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "classify/weight_format.h"

/* Bytes of one row of 256 weights. ggml: sizeof of the block structs of ggml-common.h, blocks of 32 eight times; the
 * comments there print the bits of the others. */
static void test_bytes_of_256(void **state)
{
    static const struct {
        const char *name;
        double bytes;
    } cases[] = {
        {"fp32", 1024},
        {"bf16", 512},
        {"fp16", 512},
        {"q4_0", 8 * 18},
        {"q4_1", 8 * 20},
        {"q5_0", 8 * 22},
        {"q5_1", 8 * 24},
        {"q8_0", 8 * 34},
        {"q2_K", 84},
        {"q3_K", 110},
        {"q4_K", 144},
        {"q5_K", 176},
        {"q6_K", 210},
        {"iq1_s", 50},
        {"iq1_m", 56},
        {"iq2_xxs", 66},
        {"iq2_xs", 74},
        {"iq2_s", 82},
        {"iq3_xxs", 98},
        {"iq3_s", 110},
        {"iq4_nl", 8 * 18},
        {"iq4_xs", 136},
        {"tq1_0", 54},
        {"tq2_0", 66},
        {"q1_0", 2 * 18},
        {"q2_0", 4 * 18},
        {"mxfp4", 8 * 17},
        {"mxfp8", 8 * 33},
        {"mxfp6", 8 * 25},
        {"nvfp4", 16 * 9},
        {"fp8", 256 + 4},
        {"fp8-tensor", 256 + 4},
        {"int8", 256 + 2},
        {"int4", 2 * (64 + 2.5)},
        {"int4-g64", 4 * (32 + 2.5)},
        {"int4-g32", 8 * (16 + 2.5)},
        {"int4-symmetric", 2 * (64 + 2)},
        {"fp8-block128", 256 + 2 * 4},
    };
    size_t count;
    (void)state;
    weight_formats(&count);
    assert_int_equal(count, sizeof cases / sizeof cases[0]); /* a new row needs its case */
    for (size_t i = 0; i < count; i++) {
        const struct weight_format *format = weight_format_find(cases[i].name);
        assert_non_null(format);
        if (weight_format_bytes(format, 1, 256) != cases[i].bytes)
            fail_msg("%s: %g bytes", cases[i].name, weight_format_bytes(format, 1, 256));
    }
}

static void test_bits(void **state)
{
    (void)state;
    assert_true(weight_format_bits(weight_format_find("q4_K")) == 4.5);
    assert_true(weight_format_bits(weight_format_find("q6_K")) == 6.5625);
    assert_true(weight_format_bits(weight_format_find("q2_K")) == 2.625);
    assert_true(weight_format_bits(weight_format_find("q3_K")) == 3.4375);
    assert_true(weight_format_bits(weight_format_find("tq1_0")) == 1.6875);
    assert_true(weight_format_bits(weight_format_find("nvfp4")) == 4.5);
    assert_true(weight_format_bits(weight_format_find("mxfp4")) == 4.25);
    assert_true(weight_format_bits(weight_format_find("int4")) == 4 + 20 / 128.0);
    assert_true(weight_format_bits(weight_format_find("bf16")) == 16);
}

static void test_shapes(void **state)
{
    (void)state;
    /* 129 x 300 in blocks of 128 x 128: 2 x 3 floats; in groups of 128: 129 x 3 scales of 20 bits */
    assert_true(weight_format_bytes(weight_format_find("fp8-block128"), 129, 300) == 129 * 300 + 6 * 4);
    assert_true(weight_format_bytes(weight_format_find("int4"), 129, 300) == 129 * 300 / 2.0 + 129 * 3 * 2.5);
    assert_true(weight_format_bytes(weight_format_find("fp8-tensor"), 129, 300) == 129 * 300 + 4);
    assert_true(weight_format_bytes(weight_format_find("bf16"), 0, 300) == 0);
}

static void test_rows(void **state)
{
    size_t count;
    const struct weight_format *formats = weight_formats(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(weight_format_find(formats[i].name), &formats[i]); /* no name twice */
        assert_true(strlen(formats[i].source) > 0 && strlen(formats[i].layout) > 0);
    }
    assert_null(weight_format_find("Q4_K"));
    assert_null(weight_format_find("q4"));
    assert_null(weight_format_find(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_256),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
