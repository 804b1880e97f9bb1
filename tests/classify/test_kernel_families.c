/* SPDX-License-Identifier: Apache-2.0 */
/* Each pattern finds its own example, which no earlier row takes; and names that look alike but are none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/kernel_patterns.h"

static void test_each_row_finds_its_example(void **state)
{
    size_t count;
    const struct kernel_pattern *patterns = kernel_patterns(&count);
    (void)state;
    assert_true(count > 20);
    for (size_t i = 0; i < count; i++) {
        if (!strstr(patterns[i].example, patterns[i].part))
            fail_msg("%s is not in its own example", patterns[i].part);
        for (size_t j = 0; j < i; j++)
            if (strstr(patterns[i].example, patterns[j].part))
                fail_msg("the example of %s is taken by the earlier %s", patterns[i].part, patterns[j].part);
        assert_int_equal(kernel_kind_of_name(patterns[i].example), patterns[i].kind);
    }
}

static void test_other_kernels_are_other(void **state)
{
    static const char *const names[] = {
        "_Z19silu_and_mul_kernelIN3c104HalfEEvPT_PKS2_i",
        "_ZN4vllm15cp_gather_cacheIjEEvPKT_PS1_PKiS6_iillllS6_",
        "_Z23rotary_embedding_kernelIfLb0EEvPKlPT_S3_PKS2_illliii",
        "_ZN2at6native13reduce_kernelILi256ELi2ENS0_8ReduceOp",
        "triton_poi_fused_mul_silu_3",
        "",
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(kernel_kind_of_name(names[i]), KERNEL_OTHER);
    assert_int_equal(kernel_kind_of_name(NULL), KERNEL_OTHER);
}

static void test_persistent(void **state)
{
    (void)state;
    assert_true(kernel_is_persistent("nvjet_tst_64x32_64x16_2x2_2cta_h_bz_TNT"));
    assert_true(kernel_is_persistent("_ZN7cutlass4gemm6kernel24GemmUniversalStreamK"));
    assert_false(kernel_is_persistent("ampere_bf16_s16816gemm_bf16_128x64_ldg8_relu_f2f_stages_64x4_tn"));
    assert_false(kernel_is_persistent(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_row_finds_its_example),
        cmocka_unit_test(test_other_kernels_are_other),
        cmocka_unit_test(test_persistent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
