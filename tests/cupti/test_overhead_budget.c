/* SPDX-License-Identifier: Apache-2.0 */
/* When something is given up for the user's budget. Looks are made up: half a second apart, own time as a part of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cupti/overhead_budget.h"

static const uint64_t half_second_ns = 500000000;

struct run {
    struct overhead_budget budget;
    struct overhead_budget_look now;
    double part;
};

/* LOOKS more, in each of which PART of the time is ours. Returns how many steps were taken. */
static unsigned go_on(struct run *run, unsigned looks, double part)
{
    unsigned steps = 0;
    for (unsigned i = 0; i < looks; i++) {
        run->now.wall_ns += half_second_ns;
        run->now.own_ns += part * (double)half_second_ns;
        steps += overhead_budget_judge(&run->budget, run->now, &run->part);
    }
    return steps;
}

static void test_within(void **state)
{
    struct run run = {.budget = {.part = 0.01}};
    (void)state;
    assert_int_equal(go_on(&run, 1000, 0.0099), 0);
    assert_int_equal(run.budget.level, 0);
}

static void test_above(void **state)
{
    struct run run = {.budget = {.part = 0.01}};
    (void)state;
    assert_int_equal(go_on(&run, 2, 0.02), 0); /* no second of them yet: there are two looks half a second apart */
    assert_int_equal(go_on(&run, 1, 0.02), 1);
    assert_int_equal(run.budget.level, 1);
    assert_true(fabs(run.part - 0.02) < 1e-9);
    assert_int_equal(go_on(&run, 1, 0.02), 0); /* a whole second under this step first */
    assert_int_equal(go_on(&run, 1, 0.02), 1);
    assert_int_equal(go_on(&run, 2, 0.02), 1);
    assert_int_equal(run.budget.level, overhead_budget_step_count);
    assert_int_equal(go_on(&run, 100, 0.9), 0); /* there is no more to give up */
}

/* What went before the window is no excuse, and what a step saved is not asked for again. */
static void test_windows_slide(void **state)
{
    struct run run = {.budget = {.part = 0.01}};
    (void)state;
    assert_int_equal(go_on(&run, 1000, 0.0001), 0);
    assert_int_equal(go_on(&run, 2, 0.03), 0); /* two of 0.03 and six of 0.0001 in eight: 0.0076 */
    assert_int_equal(go_on(&run, 1, 0.03), 1); /* three of them: 0.0113 */
    assert_int_equal(go_on(&run, 1000, 0.005), 0);
    assert_int_equal(run.budget.level, 1);
}

static void test_no_budget_and_unknown(void **state)
{
    struct run none = {.budget = {.part = 0}}, unknown = {.budget = {.part = 0.01}};
    (void)state;
    assert_int_equal(go_on(&none, 100, 0.9), 0);
    for (int i = 0; i < 100; i++) {
        struct overhead_budget_look look = {NAN, (uint64_t)i * half_second_ns};
        double part;
        assert_false(overhead_budget_judge(&unknown.budget, look, &part));
    }
}

static void test_steps(void **state)
{
    (void)state;
    for (unsigned i = 0; i < overhead_budget_step_count; i++) {
        assert_int_equal(overhead_budget_steps[i].level, i + 1);
        assert_true(overhead_budget_steps[i].text && *overhead_budget_steps[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_within),        cmocka_unit_test(test_above),
        cmocka_unit_test(test_windows_slide), cmocka_unit_test(test_no_budget_and_unknown),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
