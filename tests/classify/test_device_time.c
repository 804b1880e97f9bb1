/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a device's span against a bitmap of single nanoseconds; windows; what can't be told; pairing of windows' ends;
 * sums of copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "classify/copy_sums.h"
#include "classify/device_time.h"
#include "classify/window_spans.h"

enum { TIMELINE = 6000, COMPUTE = 1, COMMUNICATION = 2, COPY = 4, WINDOW = 8 };

struct device {
    struct device_time time;
    struct interval_set *busy;
};

static struct device device_open(bool bounded)
{
    struct device device = {.busy = bounded ? interval_set_open_bounded(INTERVAL_SET_BUFFER, 64)
                                            : interval_set_open(INTERVAL_SET_BUFFER)};
    device_time_open(&device.time, bounded);
    return device;
}

static void device_close(struct device *device)
{
    device_time_close(&device->time);
    interval_set_close(device->busy);
}

static void mark(unsigned char *line, uint64_t start, uint64_t end, int what)
{
    for (uint64_t i = start; i < end; i++)
        line[i] |= (unsigned char)what;
}

static void run(struct device *device, unsigned char *line, enum device_activity activity, uint64_t start, uint64_t end)
{
    static const int bits[] = {
        [DEVICE_COMPUTE] = COMPUTE, [DEVICE_COMMUNICATION] = COMMUNICATION, [DEVICE_COPIES] = COPY};
    device_time_add(&device->time, activity, start, end);
    interval_set_add(device->busy, start, end);
    mark(line, start, end, bits[activity]);
}

/* What the definitions in device_time.h say, one nanosecond at a time. */
static struct device_time_sum expected(const unsigned char *line, bool windows)
{
    struct device_time_sum sum = {.busy_known = true, .span_known = true, .split_known = true};
    int first = 0, last = TIMELINE - 1;
    while (first < TIMELINE && !(line[first] & 7))
        first++;
    while (last > first && !(line[last] & 7))
        last--;
    for (int i = first; i <= last; i++) {
        int ran = line[i] & 7;
        sum.busy_ns += ran != 0;
        sum.span_ns += ran || !windows || line[i] & WINDOW;
        sum.gap_ns += !ran && (!windows || line[i] & WINDOW);
        sum.compute_ns += (ran & COMPUTE) != 0;
        sum.communication_ns += (ran & COMMUNICATION) && !(ran & COMPUTE);
        sum.communication_overlapped_ns += (ran & COMMUNICATION) && (ran & COMPUTE);
        sum.copy_ns += ran == COPY;
        sum.copy_overlapped_ns += (ran & COPY) && ran != COPY;
    }
    return sum;
}

static void assert_sum(struct device *device, struct device_time_sum want)
{
    struct device_time_sum sum = device_time_sum(&device->time, device->busy);
    assert_int_equal(sum.busy_known, want.busy_known);
    assert_int_equal(sum.span_known, want.span_known);
    assert_int_equal(sum.split_known, want.split_known);
    assert_int_equal(sum.busy_ns, want.busy_ns);
    assert_int_equal(sum.span_ns, want.span_ns);
    assert_int_equal(sum.gap_ns, want.gap_ns);
    assert_int_equal(sum.compute_ns, want.compute_ns);
    assert_int_equal(sum.communication_ns, want.communication_ns);
    assert_int_equal(sum.communication_overlapped_ns, want.communication_overlapped_ns);
    assert_int_equal(sum.copy_ns, want.copy_ns);
    assert_int_equal(sum.copy_overlapped_ns, want.copy_overlapped_ns);
    if (sum.split_known && sum.span_known)
        assert_int_equal(sum.compute_ns + sum.communication_ns + sum.copy_ns + sum.gap_ns, sum.span_ns);
}

static uint64_t below(uint64_t most)
{
    return (uint64_t)rand() % most;
}

static void test_parts_sum_to_the_span(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++) {
        unsigned char line[TIMELINE] = {0};
        struct device device = device_open(false), other = device_open(false);
        srand(seed);
        for (int i = 0; i < 120; i++) {
            /* Communication comes late in some, never in others, first in the rest. */
            enum device_activity activity = (enum device_activity)(DEVICE_COMPUTE + below(3));
            if (activity == DEVICE_COMMUNICATION && (seed % 3 == 0 || (seed % 3 == 1 && i < 60)))
                activity = DEVICE_COMPUTE;
            uint64_t start = below(TIMELINE - 60);
            run(i % 4 && seed % 2 ? &device : &other, line, activity, start, start + below(50));
        }
        device_time_absorb(&device.time, &other.time);
        interval_set_include(device.busy, other.busy);
        assert_sum(&device, expected(line, false));
        assert_sum(&device, expected(line, false)); /* asking changes nothing */
        device_close(&device);
        device_close(&other);
    }
}

static void test_windows(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        unsigned char line[TIMELINE] = {0};
        struct device device = device_open(false);
        srand(seed);
        for (uint64_t at = 100 + below(50); at < TIMELINE - 700; at += 600 + below(100)) {
            uint64_t end = at + 200 + below(200);
            device_time_add_window(&device.time, at, end);
            mark(line, at, end, WINDOW);
            for (int i = 0; i < 10; i++) { /* some run on beyond the window's end */
                uint64_t start = at + below(end - at);
                run(&device, line, (enum device_activity)(DEVICE_COMPUTE + below(3)), start, start + below(80));
            }
        }
        assert_sum(&device, expected(line, true));
        device_close(&device);
    }
}

/* In order but for streams side by side, as records come; most is folded into stretches, which are summed up as exactly. */
static void test_bounded(void **state)
{
    (void)state;
    struct device device = device_open(true);
    uint64_t compute = 0, communication = 0, copies = 0, now = 1000000000;
    const uint64_t first = now;
    for (int i = 0; i < 600000; i++) {
        device_time_add(&device.time, DEVICE_COMPUTE, now, now + 50);
        device_time_add(&device.time, DEVICE_COMMUNICATION, now + 30, now + 70); /* 20 beside compute */
        device_time_add(&device.time, DEVICE_COPIES, now + 60, now + 75);        /* 10 beside communication */
        interval_set_add(device.busy, now, now + 75);
        compute += 50, communication += 20, copies += 5;
        now += 100;
    }
    assert_sum(&device, (struct device_time_sum){.busy_known = true,
                                                 .span_known = true,
                                                 .split_known = true,
                                                 .busy_ns = compute + communication + copies,
                                                 .span_ns = now - 100 + 75 - first,
                                                 .gap_ns = now - 100 + 75 - first - compute - communication - copies,
                                                 .compute_ns = compute,
                                                 .communication_ns = communication,
                                                 .communication_overlapped_ns = compute / 50 * 20,
                                                 .copy_ns = copies,
                                                 .copy_overlapped_ns = copies * 2});
    device_close(&device);
}

static void test_what_is_not_known(void **state)
{
    (void)state;
    unsigned char line[TIMELINE] = {0};
    struct device device = device_open(false);
    assert_sum(&device, (struct device_time_sum){0}); /* nothing ran */
    run(&device, line, DEVICE_COMPUTE, 100, 200);
    run(&device, line, DEVICE_COPIES, 150, 260);
    device.time.split_unknown = true;
    assert_sum(&device,
               (struct device_time_sum){.busy_known = true, .span_known = true, .busy_ns = 160, .span_ns = 160});
    device.time.span_unknown = true;
    assert_sum(&device, (struct device_time_sum){.busy_known = true, .busy_ns = 160});
    device_close(&device);

    /* Stretches that a stranger wrote: more compute than kernels. */
    device = device_open(false);
    interval_set_add(device.busy, 0, 1000);
    device_time_add_stretch(&device.time, DEVICE_KERNELS, &(struct interval_stretch){0, 1000, 300});
    device_time_add_stretch(&device.time, DEVICE_COMPUTE, &(struct interval_stretch){0, 1000, 400});
    assert_sum(&device,
               (struct device_time_sum){.busy_known = true, .span_known = true, .busy_ns = 1000, .span_ns = 1000});
    device_close(&device);
}

static void end_at(struct window_spans *spans, uint32_t number, uint32_t what, uint64_t ns)
{
    window_spans_add(spans, &(struct trace_window){.realtime_ns = ns, .what = what, .number = number});
}

/* The span that windows leave of an activity from 1000 to 1010 and one from 9000 to 9010; 0: not known. */
static uint64_t span_of(struct window_spans *spans)
{
    unsigned char line[TIMELINE * 2] = {0};
    struct device device = device_open(false);
    run(&device, line, DEVICE_COMPUTE, 1000, 1010);
    run(&device, line, DEVICE_COMPUTE, 9000, 9010);
    window_spans_give(spans, &device.time);
    struct device_time_sum sum = device_time_sum(&device.time, device.busy);
    device_close(&device);
    window_spans_free(spans);
    return sum.span_known ? sum.span_ns : 0;
}

static void test_ends_of_windows(void **state)
{
    (void)state;
    struct window_spans spans = {0};
    assert_int_equal(span_of(&spans), 8010); /* no window: always */
    end_at(&spans, 1, TRACE_WINDOW_OPEN, 500);
    end_at(&spans, 1, TRACE_WINDOW_CLOSE, 9500);
    assert_int_equal(span_of(&spans), 8010);

    end_at(&spans, 2, TRACE_WINDOW_OPEN, 8000); /* in any order; a mark is no end */
    end_at(&spans, 1, TRACE_WINDOW_CLOSE, 2000);
    end_at(&spans, 1, TRACE_WINDOW_MARK, 1500);
    end_at(&spans, 1, TRACE_WINDOW_OPEN, 500);
    assert_int_equal(span_of(&spans), 1000 + 1010); /* the second is open still */

    end_at(&spans, 7, TRACE_WINDOW_CLOSE, 1500); /* its OPEN is lost */
    end_at(&spans, 8, TRACE_WINDOW_OPEN, 8900);
    end_at(&spans, 8, TRACE_WINDOW_CLOSE, 9005);
    assert_int_equal(span_of(&spans), 500 + 110); /* the last kernel ran on to 9010 */

    struct trace_sum_windows sum = {.windows = {[TRACE_WINDOW_START] = 1}, .first_open_ns = 500, .last_close_ns = 9500};
    window_spans_add_sum(&spans, &sum);
    assert_int_equal(span_of(&spans), 8010);
    sum.windows[TRACE_WINDOW_SAMPLED] = 3;
    window_spans_add_sum(&spans, &sum);
    assert_int_equal(span_of(&spans), 0); /* when they were is lost */
    window_spans_add_sum(&spans, &sum);
    window_spans_add_stretch(&spans, &(struct interval_stretch){500, 2000, 1500});
    window_spans_add_stretch(&spans, &(struct interval_stretch){8900, 9005, 105});
    assert_int_equal(span_of(&spans), 1000 + 110);
    window_spans_add_sum(&spans, &sum);
    window_spans_add_stretch(&spans, &(struct interval_stretch){500, 9005, 3000}); /* open for some of it */
    assert_int_equal(span_of(&spans), 0);
    for (uint32_t i = 0; i < 100000; i++) { /* in order they take no memory */
        end_at(&spans, i, TRACE_WINDOW_OPEN, 2 * i + 1);
        end_at(&spans, i, TRACE_WINDOW_CLOSE, 2 * i + 2);
    }
    assert_int_equal(spans.lone_count, 0);
    assert_int_equal(span_of(&spans), 4005 + 2 * 5); /* odd times of 1000 to 9010, and the even ones of both kernels */
}

static void add_copy(struct copy_sums *sums, struct trace_copy copy, uint16_t size)
{
    copy.record.size = size;
    struct copy_sum one = copy_sum_of(&copy);
    copy_sums_add(sums, &one);
}

static void test_copies(void **state)
{
    (void)state;
    const uint16_t whole = sizeof(struct trace_copy), old = 64;
    struct copy_sums sums = {0};
    struct trace_copy copy = {.kind = TRACE_COPY_MEMCPY, .direction = 1, .bytes = 10, .start_ns = 100, .end_ns = 103};
    add_copy(&sums, copy, whole);
    copy.is_peer = 1, copy.from_device = 3, copy.to_device = 4; /* lie behind the end of an old record */
    add_copy(&sums, copy, old);
    copy.direction = 10;
    add_copy(&sums, copy, whole);
    add_copy(&sums, copy, old); /* between devices, and which is not known */
    copy.kind = TRACE_COPY_MEMSET, copy.direction = 0, copy.is_peer = 0;
    add_copy(&sums, copy, whole);
    assert_int_equal(sums.count, 4);
    assert_string_equal(copy_sum_name(&sums.rows[0]), "HtoD");
    assert_int_equal(sums.rows[0].copies, 2);
    assert_int_equal(sums.rows[0].bytes, 20);
    assert_int_equal(sums.rows[0].ns, 6);
    assert_int_equal(sums.rows[1].from, 3);
    assert_int_equal(sums.rows[1].to, 4);
    assert_string_equal(copy_sum_name(&sums.rows[2]), "PtoP");
    assert_int_equal(sums.rows[2].from, -1);
    assert_string_equal(copy_sum_name(&sums.rows[3]), "memset");
    assert_int_equal(copy_sum_memory_accesses(&sums.rows[0]), 0);
    assert_int_equal(copy_sum_memory_accesses(&sums.rows[3]), 1);
    assert_int_equal(copy_sum_memory_accesses(&(struct copy_sum){.kind = TRACE_COPY_MEMCPY, .direction = 8}), 2);

    /* A stranger's numbers make no rows without end, and lose nothing. */
    for (uint32_t i = 0; i < 5000; i++) {
        struct copy_sum one = {.kind = i % 7, .direction = 10, .from = i, .to = -1, .copies = 1, .bytes = 2, .ns = 3};
        copy_sums_add(&sums, &one);
    }
    uint64_t copies = 0;
    for (size_t i = 0; i < sums.count; i++) {
        copies += sums.rows[i].copies;
        assert_non_null(copy_sum_name(&sums.rows[i]));
    }
    assert_int_equal(copies, 5 + 5000);
    assert_true(sums.count <= COPY_SUMS_MOST);
    copy_sums_free(&sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_sum_to_the_span),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_what_is_not_known),
        cmocka_unit_test(test_ends_of_windows),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
