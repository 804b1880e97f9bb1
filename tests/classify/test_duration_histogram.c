/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles against the sorted durations themselves: nearest rank, and never farther off than is promised. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "classify/duration_histogram.h"
#include "tests/classify/brute_force.h"

enum { DURATIONS = 5000 };

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* From nanoseconds to years, most of them around microseconds. */
static uint64_t draw(struct random_numbers *numbers)
{
    return random_next(numbers) >> random_in(numbers, random_chance(numbers, 90) ? 40 : 0, 63);
}

static void percentiles_are_those_of_the_sorted_list(void **state)
{
    static uint64_t all[DURATIONS];
    static const double shares[] = {0.001, 0.01, 0.5, 0.9, 0.99, 0.999, 1};
    struct random_numbers numbers = {7};
    (void)state;
    for (int round = 1; round <= 30; round++) {
        struct duration_histogram histogram = {0}, other = {0};
        size_t count = (size_t)random_in(&numbers, 1, DURATIONS);
        for (size_t i = 0; i < count; i++) {
            all[i] = draw(&numbers);
            duration_histogram_add(i % 3 ? &histogram : &other, duration_bucket(all[i]), 1);
        }
        duration_histogram_add_all(&histogram, &other);
        qsort(all, count, sizeof all[0], compare);
        assert_int_equal(histogram.total, count);
        for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
            size_t rank = (size_t)ceil(shares[i] * (double)count);
            double exact = (double)all[rank ? rank - 1 : 0], found = duration_histogram_at(&histogram, shares[i]);
            assert_true(fabs(found - exact) <= exact / 64);
        }
        duration_histogram_free(&histogram);
        duration_histogram_free(&other);
    }
}

/* FORMAT.md's rule, spelled out: each below 32 its own, then 32 equal parts an octave. */
static void buckets_are_those_of_the_format(void **state)
{
    (void)state;
    uint32_t bucket = 0;
    for (; bucket < 32; bucket++)
        assert_int_equal(duration_bucket(bucket), bucket);
    for (unsigned octave = 5; octave < 64; octave++)
        for (uint64_t part = 0; part < 32; part++, bucket++) {
            uint64_t width = 1ull << (octave - 5), least = (1ull << octave) + part * width;
            assert_int_equal(duration_bucket(least), bucket);
            assert_int_equal(duration_bucket(least + (width - 1)), bucket);
            double middle = duration_of_bucket(bucket);
            assert_true(middle >= (double)least && middle <= (double)least + (double)width);
        }
    assert_int_equal(bucket, DURATION_BUCKETS);
}

static void nothing_and_edges(void **state)
{
    (void)state;
    struct duration_histogram histogram = {0};
    assert_true(isnan(duration_histogram_at(&histogram, 0.5)));
    duration_histogram_add(&histogram, DURATION_BUCKETS, 1); /* there is no such bucket */
    duration_histogram_add(&histogram, 3, 0);
    assert_true(isnan(duration_histogram_at(&histogram, 0.5)));
    duration_histogram_add(&histogram, duration_bucket(UINT64_MAX), 1);
    duration_histogram_add(&histogram, 0, 1);
    assert_int_equal(histogram.total, 2);
    assert_true(duration_histogram_at(&histogram, 0.5) == 0);
    duration_histogram_add(&histogram, 0, UINT64_MAX); /* a stranger's number stays at the largest */
    assert_true(histogram.total <= INT64_MAX);
    duration_histogram_free(&histogram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_those_of_the_sorted_list),
        cmocka_unit_test(buckets_are_those_of_the_format),
        cmocka_unit_test(nothing_and_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
