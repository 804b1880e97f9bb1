/* SPDX-License-Identifier: Apache-2.0 */
/* The union against a bitmap of single nanoseconds, with a buffer so small that every set spills. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/interval_set.h"

enum { TIMELINE = 4000 };

static void check(struct interval_set *set, const unsigned char *busy)
{
    uint64_t covered = 0, first = UINT64_MAX, last = 0;
    for (uint64_t i = 0; i < TIMELINE; i++)
        if (busy[i]) {
            covered++;
            first = i < first ? i : first;
            last = i + 1;
        }
    struct interval_union u = interval_set_union(set);
    assert_true(u.known);
    assert_int_equal(u.covered_ns, covered);
    assert_int_equal(u.first_ns, first);
    assert_int_equal(u.last_ns, last);
}

static void add(struct interval_set *set, unsigned char *busy, uint64_t start, uint64_t length)
{
    interval_set_add(set, start, start + length);
    memset(busy + start, 1, length);
}

static void test_against_a_bitmap(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        unsigned char busy[TIMELINE] = {0};
        struct interval_set *set = interval_set_open(seed % 7 + 2), *other = interval_set_open(seed % 3 + 2);
        srand(seed);
        for (int i = 0; i < 300; i++)
            add(i % 3 ? set : other, busy, (uint64_t)rand() % (TIMELINE - 20), (uint64_t)rand() % 9 + 1);
        interval_set_absorb(set, other);
        check(set, busy);
        check(set, busy); /* asking changes nothing */
        interval_set_close(set);
    }
}

/* Bounded, and in order but for neighbours that change places: what is folded into stretches is counted exactly. */
static void test_bounded(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        const size_t most = seed % 5 + 2, intervals = seed % 4;
        unsigned char busy[TIMELINE] = {0};
        struct interval_set *set = interval_set_open_bounded(seed % 9 + 12, most), *copy = interval_set_open(2);
        srand(seed);
        for (uint64_t at = 10; at < TIMELINE - 60; at += 20 + (uint64_t)rand() % 9) {
            add(set, busy, at + 10, (uint64_t)rand() % 20 + 1);
            add(set, busy, at, (uint64_t)rand() % 5 + 1);
        }
        check(set, busy);
        check(set, busy);
        struct interval_summary summary = interval_set_summary(set, intervals);
        assert_true(summary.known && summary.count <= most + intervals);
        for (size_t i = 0; i < summary.count; i++) {
            assert_true(i == 0 || summary.stretches[i].start_ns > summary.stretches[i - 1].end_ns);
            interval_set_add_stretch(copy, &summary.stretches[i]);
        }
        interval_set_take(copy, summary.gap_ns, summary.known);
        check(copy, busy); /* also as another set that took what this one said of itself */
        assert_true(interval_set_gap(copy) >= interval_set_gap(set));
        free(summary.stretches);
        interval_set_close(set);
        interval_set_close(copy);
    }
}

static void assert_not_known(const struct interval_stretch *a, const struct interval_stretch *b)
{
    struct interval_set *set = interval_set_open(2);
    interval_set_add_stretch(set, a);
    interval_set_add_stretch(set, b);
    assert_false(interval_set_union(set).known);
    interval_set_close(set);
}

/* Never a guess: what comes after the time around it became a stretch, and stretches of two sets that overlap. */
static void test_not_known(void **state)
{
    (void)state;
    struct interval_set *set = interval_set_open_bounded(4, 4);
    for (uint64_t at = 100; at < 2000; at += 100)
        interval_set_add(set, at, at + 50);
    assert_true(interval_set_union(set).known);
    interval_set_add(set, 160, 170); /* in the gap of a stretch by now */
    for (uint64_t at = 2000; at < 3000; at += 100)
        interval_set_add(set, at, at + 50);
    assert_false(interval_set_union(set).known);
    interval_set_close(set);

    const struct interval_stretch a = {100, 200, 60}, overlapping = {180, 300, 70}, within = {150, 160, 10},
                                  after = {200, 300, 70};
    assert_not_known(&a, &overlapping);
    assert_not_known(&a, &within);
    set = interval_set_open(2);
    interval_set_add_stretch(set, &a);
    interval_set_add_stretch(set, &after); /* they touch, that is all */
    assert_int_equal(interval_set_union(set).covered_ns, 130);
    interval_set_close(set);
}

static void test_edges(void **state)
{
    (void)state;
    struct interval_set *set = interval_set_open(2);
    assert_false(interval_set_union(set).known);
    interval_set_add(set, 10, 5); /* ends before it starts: not an interval */
    assert_false(interval_set_union(set).known);
    interval_set_add(set, UINT64_MAX - 1, UINT64_MAX);
    interval_set_add(set, 5, 5);
    struct interval_union u = interval_set_union(set);
    assert_true(u.known);
    assert_int_equal(u.covered_ns, 1);
    assert_int_equal(u.first_ns, 5);
    assert_true(u.last_ns == UINT64_MAX);
    interval_set_close(set);
    interval_set_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_bitmap),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_not_known),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
