/* SPDX-License-Identifier: Apache-2.0 */
/* --peak: what it means, what it refuses and with which words, and the row it makes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/peak_option.h"

static struct peak_option parsed(const char *text)
{
    struct peak_option option;
    char error[PEAK_OPTION_ERROR_BYTES] = "";
    if (!peak_option_parse(text, &option, error))
        fail_msg("%s: %s", text, error);
    return option;
}

static void test_numbers_and_units(void **state)
{
    struct peak_option o = parsed("bf16=165.2,bw=1008,fp8=330.3,int8=660.6,fp32=82.6");
    (void)state;
    assert_int_equal(o.device, PEAK_OPTION_WITHOUT_ROW);
    assert_true(o.flops_per_second[GPU_PATH_BF16] == 165.2e12);
    assert_true(o.bytes_per_second == 1008e9);
    assert_true(o.flops_per_second[GPU_PATH_FP8_E4M3] == 330.3e12); /* both formats run at one rate */
    assert_true(o.flops_per_second[GPU_PATH_FP8_E5M2] == 330.3e12);
    assert_true(o.flops_per_second[GPU_PATH_INT8] == 660.6e12);
    assert_true(o.flops_per_second[GPU_PATH_FP32] == 82.6e12);
    assert_true(o.flops_per_second[GPU_PATH_FP16] == 0); /* not given, so not known */

    o = parsed("3:bf16=2.25P,bw=8T,fp64=520G");
    assert_int_equal(o.device, 3);
    assert_true(o.flops_per_second[GPU_PATH_BF16] == 2.25e15);
    assert_true(o.bytes_per_second == 8e12);
    assert_true(o.flops_per_second[GPU_PATH_FP64] == 520e9);
    assert_true(parsed("bf16=165.2T,bw=1008G").flops_per_second[GPU_PATH_BF16] == 165.2e12);
    assert_true(parsed("fp16-acc16=330.3").flops_per_second[GPU_PATH_FP16_ACC16] == 330.3e12);
    assert_true(parsed("bw=1008").bytes_per_second == 1008e9);
}

static void test_mistakes_are_named(void **state)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "no TYPE=NUMBER: ''"},
        {"bf16", "no TYPE=NUMBER: 'bf16'"},
        {"=5", "no TYPE=NUMBER: '=5'"},
        {"bf16=165.2,", "no TYPE=NUMBER: ''"},
        {"bf17=165.2", "unknown type in 'bf17=165.2'"},
        {"bf=165.2", "unknown type in 'bf=165.2'"},
        {"bf16=", "no number of TFLOP/s in 'bf16='"},
        {"bf16=fast", "no number of TFLOP/s in 'bf16=fast'"},
        {"bf16=1.2.3", "no number of TFLOP/s in 'bf16=1.2.3'"},
        {"bf16=0x10", "no number of TFLOP/s in 'bf16=0x10'"},
        {"bf16=nan", "no number of TFLOP/s in 'bf16=nan'"},
        {"bf16=-5", "no number of TFLOP/s in 'bf16=-5'"},
        {"bf16=165TF", "no number of TFLOP/s in 'bf16=165TF'"},
        {"bf16=165.2t", "no number of TFLOP/s in 'bf16=165.2t'"},
        {"bf16=0", "no GPU has the peak of 'bf16=0'"},
        {"bf16=165200000000000", "no GPU has the peak of 'bf16=165200000000000'"}, /* FLOP/s, not TFLOP/s */
        {"bw=fast", "no number of GB/s in 'bw=fast'"},
        {"bw=1008000000000", "no GPU has the bandwidth of 'bw=1008000000000'"},
        {"bw=1,bw=2", "bandwidth given twice: 'bw=2'"},
        {"fp8=1,fp8-e4m3=2", "peak given twice: 'fp8-e4m3=2'"},
        {":bf16=1", "no GPU number before ':' in ':bf16=1'"},
        {"9999999:bf16=1", "no GPU number before ':' in '9999999:bf16=1'"},
        {"x:bf16=1", "unknown type in 'x:bf16=1'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct peak_option option;
        char error[PEAK_OPTION_ERROR_BYTES] = "";
        assert_false(peak_option_parse(cases[i].text, &option, error));
        if (strncmp(error, cases[i].said, strlen(cases[i].said)) != 0)
            fail_msg("'%s' is refused by: %s", cases[i].text, error);
        assert_non_null(strstr(error, "bf16=165.2,bw=1008")); /* what to do */
        assert_null(strchr(error, '\n'));
    }
}

static void test_row_of_an_unknown_gpu(void **state)
{
    struct peak_option o = parsed("bf16=165.2,bw=1008");
    struct device_roofs none = {NULL, 1, 1};
    struct gpu_spec *row = peak_option_row(&o, &none);
    (void)state;
    assert_true(fabs(gpu_spec_ridge(row, GPU_PATH_BF16) - 163.8889) < 1e-4);
    assert_true(isnan(gpu_spec_ridge(row, GPU_PATH_FP8_E4M3)));
    assert_string_equal(row->source, "--peak");
    assert_int_equal(row->origin, GPU_ORIGIN_PEAK);
    struct device_roofs roofs = {row, 1, 1};
    assert_int_equal(device_roof_specification(&roofs, GPU_PATH_BF16).compute_origin, ROOF_ORIGIN_PEAK);
    free(row);
}

/* Half an H100: what is not given stays the row's, scaled to the device; what is given is the device's own. */
static void test_row_over_a_known_gpu(void **state)
{
    struct peak_option o = parsed("0:bf16=400");
    struct device_roofs half = {gpu_spec_by_key("h100-sxm"), 0.5, 0.25};
    struct gpu_spec *row = peak_option_row(&o, &half);
    (void)state;
    assert_true(row->flops_per_second[GPU_PATH_BF16] == 400e12);
    assert_true(row->flops_per_second[GPU_PATH_FP8_E4M3] == 989.5e12);
    assert_true(row->bytes_per_second == 837.5e9);
    assert_int_equal(strncmp(row->source, "--peak (bf16); all else: NVIDIA H100 page", 41), 0);
    free(row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_and_units),
        cmocka_unit_test(test_mistakes_are_named),
        cmocka_unit_test(test_row_of_an_unknown_gpu),
        cmocka_unit_test(test_row_over_a_known_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
