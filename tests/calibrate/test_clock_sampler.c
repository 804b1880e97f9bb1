/* SPDX-License-Identifier: Apache-2.0 */
/* How often clocks are read, and a sampler that can't write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/clock_sampler.h"

static void period(void **state)
{
    (void)state;
    assert_int_equal(clock_sampler_period_ms(0), 200);
    assert_int_equal(clock_sampler_period_ms(2047), 200);
    assert_int_equal(clock_sampler_period_ms(2048), 400);
    assert_int_equal(clock_sampler_period_ms(4096), 800);
    assert_int_equal(clock_sampler_period_ms(UINT64_MAX / 2), 60000);
}

/* 2048 readings each at 0.2, 0.4, ... 12.8 s are 2048 · 0.2 · (2^7 - 1) = 52,019.2 s; the other 34,380.8 s of a day take 1343 at
 * 25.6 s: 7 · 2048 + 1343 = 15,679. */
static void a_day_is_bounded(void **state)
{
    uint64_t readings = 0, ms = 0;
    (void)state;
    while (ms < 86400000u)
        ms += clock_sampler_period_ms(readings++);
    assert_int_equal(readings, 15679);
}

static void no_library(void **state)
{
    struct clock_sampler sampler;
    (void)state;
    clock_sampler_start(&sampler, "/no/such/folder", "/no/such/libnvidia-ml.so.1", NULL);
    while (waitpid(sampler.pid, NULL, WNOHANG) == 0) /* else it may not have got so far */
        continue;
    struct clock_sampler_result result = clock_sampler_stop(&sampler, true);
    assert_non_null(strstr(result.why, "NVML is not there: /no/such/libnvidia-ml.so.1"));
    assert_int_equal(result.samples, 0);
    clock_sampler_free(&sampler);
    clock_sampler_free(&sampler);
}

static void never_started(void **state)
{
    struct clock_sampler sampler = {.gate = -1};
    (void)state;
    assert_int_equal(clock_sampler_stop(&sampler, true).samples, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(period),
        cmocka_unit_test(a_day_is_bounded),
        cmocka_unit_test(no_library),
        cmocka_unit_test(never_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
