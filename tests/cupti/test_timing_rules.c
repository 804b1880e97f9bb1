/* SPDX-License-Identifier: Apache-2.0 */
/* What decides when kernels are timed, without a CUPTI: the user's wishes, the table of rules, the places of windows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cupti/cupti_versions.h"
#include "cupti/timing_mode.h"
#include "cupti/timing_sample.h"
#include "cupti/timing_window.h"
#include "trace/timing_control.h"

static const uint64_t s = 1000000000, never = TIMING_WINDOW_NEVER;

static uint64_t word_at(uint64_t ns, enum timing_command command)
{
    return (ns / 1000) << 2 | command;
}

/* By hand: the session began at 100 s. */
static void newest_wish_holds(void **state)
{
    (void)state;
    const uint64_t start = word_at(120 * s, TIMING_COMMAND_START), stop = word_at(120 * s, TIMING_COMMAND_STOP);
    const struct {
        uint64_t delay_ns, duration_ns, word, now_ns;
        bool open;
        enum trace_window_why why;
        uint64_t change_ns;
    } rows[] = {
        {0, 0, 0, 100 * s, true, TRACE_WINDOW_START, never},
        {0, 0, 0, 9999 * s, true, TRACE_WINDOW_START, never},
        {5 * s, 0, 0, 105 * s - 1, false, TRACE_WINDOW_OPTION, 105 * s},
        {5 * s, 0, 0, 105 * s, true, TRACE_WINDOW_OPTION, never},
        {5 * s, 2 * s, 0, 106 * s, true, TRACE_WINDOW_OPTION, 107 * s},
        {5 * s, 2 * s, 0, 107 * s, false, TRACE_WINDOW_OPTION, never},
        {0, 2 * s, 0, 101 * s, true, TRACE_WINDOW_START, 102 * s},
        {0, 2 * s, 0, 102 * s, false, TRACE_WINDOW_OPTION, never},
        {never, 0, 0, 9999 * s, false, TRACE_WINDOW_OPTION, never},
        {never, 0, start, 121 * s, true, TRACE_WINDOW_CONTROL, never},
        {never, 3 * s, start, 122 * s, true, TRACE_WINDOW_CONTROL, 123 * s},
        {never, 3 * s, start, 123 * s, false, TRACE_WINDOW_OPTION, never},
        {0, 0, stop, 121 * s, false, TRACE_WINDOW_CONTROL, never},
        {50 * s, 0, stop, 200 * s, false, TRACE_WINDOW_CONTROL,
         never}, /* said before the delay was over: it stays so */
        {50 * s, 0, start, 121 * s, true, TRACE_WINDOW_CONTROL, never},
        {0, 1 * s, start, 121 * s - 1, true, TRACE_WINDOW_CONTROL, 121 * s}, /* once more for so long */
        {0, never - 1, 0, 300 * s, true, TRACE_WINDOW_START, never},         /* no overflow */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct timing_window_wish wish =
            timing_window_wish(100 * s, rows[i].delay_ns, rows[i].duration_ns, rows[i].word, rows[i].now_ns);
        assert_int_equal(wish.open, rows[i].open);
        assert_int_equal(wish.why, rows[i].why);
        assert_int_equal(wish.change_ns, rows[i].change_ns);
    }
}

static void each_rule_can_hold(void **state)
{
    (void)state;
    bool holds[64] = {false};
    assert_true(timing_mode_rule_count <= 64);
    for (int asked = TRACE_TIMING_OFF; asked <= TRACE_TIMING_EVENTS; asked++)
        for (int from = TIMING_MODE_ANY; from <= TRACE_TIMING_EVENTS; from++)
            for (int event = TIMING_MODE_BEGUN; event <= TIMING_MODE_SILENT; event++) {
                const struct timing_mode_rule *rule =
                    timing_mode_find((enum trace_timing_mode)asked, from, (enum timing_mode_event)event);
                if (rule)
                    holds[rule - timing_mode_rules] = true;
            }
    for (unsigned i = 0; i < timing_mode_rule_count; i++) {
        const struct timing_mode_rule *rule = &timing_mode_rules[i];
        assert_true(holds[i]);
        assert_true(rule->to != TRACE_TIMING_AUTO && strlen(rule->text) > 8);
        const char *percent = strchr(rule->text, '%');
        assert_true(!percent || (!strncmp(percent, "%llu", 4) && !strchr(percent + 1, '%')));
    }
    /* Each mode but auto leads to itself where nothing is in the way. */
    for (int asked = TRACE_TIMING_OFF; asked <= TRACE_TIMING_EVENTS; asked++) {
        const struct timing_mode_rule *rule =
            timing_mode_find((enum trace_timing_mode)asked, TIMING_MODE_ANY, TIMING_MODE_BEGUN);
        assert_non_null(rule);
        assert_int_equal(rule->to, asked == TRACE_TIMING_AUTO ? TRACE_TIMING_NODE : asked);
    }
}

static void unknown_versions_have_the_bound(void **state)
{
    (void)state;
    for (unsigned i = 0; i < cupti_version_count; i++)
        assert_int_equal(cupti_version_graph_kernels_most(cupti_versions[i].api_version),
                         cupti_versions[i].graph_kernels_most);
    assert_int_equal(cupti_version_graph_kernels_most(25), 25000000);
    assert_int_equal(cupti_version_graph_kernels_most(140000), 25000000);
}

enum { PERIODS = 20000, BINS = 10 };

/* Looks each 10 us of a clock that nobody keeps. */
static void windows_lie_uniformly(void **state)
{
    (void)state;
    const uint64_t window = 1000000, period = 20000000, step = 10000;
    uint64_t bins[BINS] = {0}, open_ns = 0, windows = 0, now = 5 * s;
    bool was_open = false;
    timing_sample_configure(window, 50000, 12345);
    assert_int_equal(timing_sample_window_ns(), window);
    assert_int_equal(timing_sample_period_ns(), period);
    timing_sample_begin(now);
    for (; windows < PERIODS; now += step) {
        bool open = timing_sample_is_open(now);
        assert_true(timing_sample_change_ns() > now);
        if (open && !was_open) {
            uint64_t place = (now - 5 * s) % period;
            assert_true(place <= period - window + step);
            bins[place * BINS / (period - window + step + 1)]++;
            windows++;
        }
        open_ns += open ? step : 0;
        was_open = open;
    }
    double expected = (double)PERIODS / BINS, chi_square = 0;
    for (int i = 0; i < BINS; i++)
        chi_square += ((double)bins[i] - expected) * ((double)bins[i] - expected) / expected;
    assert_true(chi_square < 27.9); /* 9 degrees of freedom, 1 in 1000 */
    double share = (double)open_ns / (double)(now - 5 * s);
    assert_true(share > 0.0495 && share < 0.0505);
}

/* Whoever looks seldom opens late and closes late, and still stays within the budget. */
static void late_looks_are_made_up_for(void **state)
{
    (void)state;
    const uint64_t begin = 7 * s;
    uint64_t now = begin, open_ns = 0, random = 99;
    bool was_open = false;
    timing_sample_configure(1000000, 5000, 777);
    timing_sample_begin(now);
    for (int i = 0; i < 200000; i++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        uint64_t step = 1000 + (random >> 33) % 8000000; /* up to 8 ms */
        open_ns += was_open ? step : 0;
        now += step;
        was_open = timing_sample_is_open(now);
    }
    double share = (double)open_ns / (double)(now - begin);
    assert_true(share > 0.004 && share < 0.0051);
}

static void seeds_decide(void **state)
{
    (void)state;
    uint64_t places[3];
    static const uint64_t seeds[] = {1, 1, 2};
    for (int i = 0; i < 3; i++) {
        timing_sample_configure(0, 0, seeds[i]);
        timing_sample_begin(s);
        places[i] = timing_sample_change_ns();
        assert_true(places[i] >= s && places[i] <= s + 199000000);
    }
    assert_int_equal(places[0], places[1]);
    assert_int_not_equal(places[0], places[2]);
}

static void thinning_makes_periods_longer(void **state)
{
    (void)state;
    timing_sample_configure(1000000, 5000, 5);
    timing_sample_thin(8);
    assert_int_equal(timing_sample_period_ns(), 8 * 200000000ull);
    timing_sample_begin(s);
    unsigned windows = 0;
    bool was_open = false;
    for (uint64_t now = s; now < s + 80 * 1600000000ull; now += 500000) {
        bool open = timing_sample_is_open(now);
        windows += open && !was_open;
        was_open = open;
    }
    assert_in_range(windows, 78, 80);
}

/* Stopped for an hour: no window of that time is made up for. */
static void a_stop_is_no_debt(void **state)
{
    (void)state;
    timing_sample_configure(1000000, 5000, 6);
    timing_sample_begin(s);
    timing_sample_is_open(s);
    uint64_t now = s + 3600 * s;
    timing_sample_is_open(now); /* late for the first window */
    assert_true(timing_sample_change_ns() <= now + 3600 * s * 200);
    unsigned windows = 0;
    bool was_open = timing_sample_is_open(now);
    for (uint64_t end = now + 2 * s; now < end; now += 100000) {
        bool open = timing_sample_is_open(now);
        windows += open && !was_open;
        was_open = open;
    }
    assert_in_range(windows, 8, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_wish_holds),
        cmocka_unit_test(each_rule_can_hold),
        cmocka_unit_test(unknown_versions_have_the_bound),
        cmocka_unit_test(windows_lie_uniformly),
        cmocka_unit_test(late_looks_are_made_up_for),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(thinning_makes_periods_longer),
        cmocka_unit_test(a_stop_is_no_debt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
