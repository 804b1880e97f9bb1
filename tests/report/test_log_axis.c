/* SPDX-License-Identifier: Apache-2.0 */
/* Places on a logarithmic axis, computed by hand from logarithms to base 10. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/log_axis.h"

static void expect_near(double value, double expected, double slack)
{
    assert_true(fabs(value - expected) < slack);
}

static void expect_axis(double least, double most, double expected_least, double expected_most, int first, int count)
{
    struct log_axis axis = log_axis_of(least, most, 0, 100);
    int first_decade;
    expect_near(axis.least / expected_least, 1, 1e-9);
    expect_near(axis.most / expected_most, 1, 1e-9);
    assert_int_equal(log_axis_decades(&axis, &first_decade), count);
    assert_int_equal(first_decade, first);
}

static void test_ends(void **state)
{
    (void)state;
    expect_axis(3, 700, 2, 1000, 1, 3); /* 10, 100, 1000 */
    expect_axis(1, 1000, 1, 1000, 0, 4);
    expect_axis(0.6, 51, 0.5, 100, 0, 3);
    expect_axis(2e9, 5e14, 2e9, 5e14, 10, 5);
    expect_axis(1e-30, 1e30, 1e-30, 1e30, -30, 61);
    expect_axis(7, 7, 0.5, 100, 0, 3); /* 0.7 to 70 */
}

static void test_places(void **state)
{
    struct log_axis axis = log_axis_of(3, 700, 0, 100); /* 2 to 1000: 2.69897 decades */
    struct log_axis down = log_axis_of(1e12, 1e14, 500, 44);
    (void)state;
    expect_near(log_axis_at(&axis, 2), 0, 1e-9);
    expect_near(log_axis_at(&axis, 1000), 100, 1e-9);
    expect_near(log_axis_at(&axis, 20), 37.0512, 1e-3); /* 1 / 2.69897 */
    expect_near(log_axis_at(&axis, 0.2), -37.0512, 1e-3);
    expect_near(log_axis_at(&down, 1e13), 272, 1e-9);
    expect_near(log_axis_at(&down, 2e12), 431.3652, 1e-3); /* 500 - 456 * 0.30103 / 2 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends), cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
