/* SPDX-License-Identifier: Apache-2.0 */
/* alpha and beta as zero, one or something else, in every type they can have. */
#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cublas_types.h"
#include "preload/scalar.h"

static void real_types(void **state)
{
    (void)state;
    const float f[] = {0.0f, -0.0f, 1.0f, 0.5f, -1.0f, 1e-45f};
    const double d[] = {0.0, -0.0, 1.0, 0.5, -1.0, 5e-324};
    const uint16_t h[] = {0, 0x8000, 0x3c00, 0x3800, 0xbc00, 1}, b[] = {0, 0x8000, 0x3f80, 0x3f00, 0xbf80, 1};
    const int32_t i[] = {0, 0, 1, 2, -1, INT32_MIN};
    const enum trace_scalar expected[] = {TRACE_SCALAR_ZERO,  TRACE_SCALAR_ZERO,  TRACE_SCALAR_ONE,
                                          TRACE_SCALAR_OTHER, TRACE_SCALAR_OTHER, TRACE_SCALAR_OTHER};
    for (int k = 0; k < 6; k++) {
        assert_int_equal(scalar_classify(&f[k], VENDOR_R_32F), expected[k]);
        assert_int_equal(scalar_classify_by_table(&f[k], VENDOR_R_32F), expected[k]);
        assert_int_equal(scalar_classify(&d[k], VENDOR_R_64F), expected[k]);
        assert_int_equal(scalar_classify(&h[k], VENDOR_R_16F), expected[k]);
        assert_int_equal(scalar_classify(&b[k], VENDOR_R_16BF), expected[k]);
        assert_int_equal(scalar_classify(&i[k], VENDOR_R_32I), expected[k]);
    }
}

static void complex_types(void **state)
{
    (void)state;
    const float f[][2] = {{0, 0}, {-0.0f, -0.0f}, {1, 0}, {0, 1}, {1, 1}};
    const double d[][2] = {{0, 0}, {-0.0, -0.0}, {1, 0}, {0, 1}, {1, 1}};
    const enum trace_scalar expected[] = {TRACE_SCALAR_ZERO, TRACE_SCALAR_ZERO, TRACE_SCALAR_ONE, TRACE_SCALAR_OTHER,
                                          TRACE_SCALAR_OTHER};
    for (int k = 0; k < 5; k++) {
        assert_int_equal(scalar_classify(f[k], VENDOR_C_32F), expected[k]);
        assert_int_equal(scalar_classify(d[k], VENDOR_C_64F), expected[k]);
    }
}

/* Types without a row, and pointers that aren't there, are unknown; a signalling NaN raises no flag. */
static void unknown_and_quiet(void **state)
{
    (void)state;
    const uint32_t signalling = 0x7fa00000;
    assert_int_equal(scalar_classify(NULL, VENDOR_R_32F), TRACE_SCALAR_UNKNOWN);
    assert_int_equal(scalar_classify(&signalling, 9999), TRACE_SCALAR_UNKNOWN);
    assert_int_equal(scalar_classify(&signalling, TRACE_UNKNOWN), TRACE_SCALAR_UNKNOWN);
    feclearexcept(FE_ALL_EXCEPT);
    assert_int_equal(scalar_classify(&signalling, VENDOR_R_32F), TRACE_SCALAR_OTHER);
    assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_types),
        cmocka_unit_test(complex_types),
        cmocka_unit_test(unknown_and_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
