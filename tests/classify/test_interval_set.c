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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_a_bitmap), cmocka_unit_test(test_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
