/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's clock against the host's, by anchors; expectations worked out by hand. FAILURES row: C05. */
#include "classify/clock_relation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND 1000000000ull
static const uint64_t epoch = 1700000000 * SECOND; /* some day of 2023 */

static void anchor_at(struct clock_relation *relation, uint64_t seconds, int64_t skew_ns)
{
    struct trace_anchor anchor = {.realtime_ns = epoch + seconds * SECOND,
                                  .monotonic_ns = 5000 * SECOND + seconds * SECOND,
                                  .cupti_ns = (uint64_t)((int64_t)(epoch + seconds * SECOND) + skew_ns)};
    clock_relation_add(relation, &anchor);
}

static uint64_t placed(const struct clock_relation *relation, uint64_t start_ns)
{
    uint64_t end_ns = start_ns + 2000;
    clock_relation_place(relation, &start_ns, &end_ns);
    assert_int_equal(end_ns - start_ns, 2000);
    return start_ns;
}

static void same_clocks_are_left_alone(void **state)
{
    (void)state;
    struct clock_relation relation = {0};
    assert_int_equal(placed(&relation, epoch), epoch); /* nothing known */
    for (unsigned i = 0; i < 100; i++)
        anchor_at(&relation, i, i % 7 * 1000); /* some microseconds: readings one after the other */
    assert_int_equal(placed(&relation, epoch + 5), epoch + 5);
    assert_in_range(relation.max_skew_ns, 1, 6000);
    assert_int_equal(relation.anchors, 100);
    struct trace_anchor helper = {.realtime_ns = epoch, .monotonic_ns = 1, .cupti_ns = 0};
    clock_relation_add(&relation, &helper);
    assert_int_equal(relation.anchors, 100);
}

/* Another epoch: boot time, so 1.7e18 ns behind; back to within the tolerance. */
static void another_epoch(void **state)
{
    (void)state;
    struct clock_relation relation = {0};
    const int64_t skew = -(int64_t)(epoch - 5000 * SECOND);
    for (unsigned i = 0; i < 10; i++)
        anchor_at(&relation, i, skew);
    uint64_t at = placed(&relation, 5000 * SECOND + 10 * SECOND); /* by CUPTI's clock, 10 s after the first anchor */
    assert_in_range(at, epoch + 10 * SECOND - CLOCK_RELATION_TOLERANCE_NS,
                    epoch + 10 * SECOND + CLOCK_RELATION_TOLERANCE_NS);
    assert_int_equal(relation.max_skew_ns, epoch - 5000 * SECOND);
}

/* 20 ppm over a day is 1.728 s; placed times never are further off than the tolerance and a second's drift of 20 us, and
 * never go back. */
static void drift_of_a_day(void **state)
{
    (void)state;
    struct clock_relation relation = {0};
    uint64_t before = 0;
    for (uint64_t second = 0; second <= 86400; second++) {
        int64_t skew = (int64_t)(second * 20000);
        anchor_at(&relation, second, skew);
        for (uint64_t part = 0; part < 10; part++) { /* kernels of the second after it */
            uint64_t host = epoch + second * SECOND + part * SECOND / 10;
            uint64_t cupti = host + second * 20000 + part * 2000, at = placed(&relation, cupti);
            uint64_t off = at > host ? at - host : host - at;
            assert_true(off <= CLOCK_RELATION_TOLERANCE_NS + 4 * 20000);
            assert_true(at > before);
            before = at;
        }
    }
    assert_in_range(relation.max_skew_ns, 1727900000, 1728000000); /* a median is two anchors behind */
    assert_true(fabs(clock_relation_drift_ppm(&relation) - 20) < 0.01);
}

/* One reading in a hundred is late by a minute, as after a suspend between two readings: the others count. */
static void an_interrupted_reading(void **state)
{
    (void)state;
    struct clock_relation relation = {0};
    for (unsigned i = 0; i < 1000; i++) {
        anchor_at(&relation, i, i % 100 == 99 ? -60 * (int64_t)SECOND : 100);
        assert_int_equal(placed(&relation, epoch), epoch);
    }
    assert_int_equal(relation.max_skew_ns, 100);
}

static void impossible_times_stay(void **state)
{
    (void)state;
    struct clock_relation relation = {0};
    anchor_at(&relation, 0, 3600 * (int64_t)SECOND);
    uint64_t start = 50, end = 20; /* not of that clock, or upside down */
    clock_relation_place(&relation, &start, &end);
    assert_int_equal(start, 50);
    assert_int_equal(end, 20);
    start = 20, end = 50;
    clock_relation_place(&relation, &start, &end);
    assert_int_equal(start, 20);
    assert_true(isnan(clock_relation_drift_ppm(&relation)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_clocks_are_left_alone),
        cmocka_unit_test(another_epoch),
        cmocka_unit_test(drift_of_a_day),
        cmocka_unit_test(an_interrupted_reading),
        cmocka_unit_test(impossible_times_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
