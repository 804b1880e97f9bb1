/* SPDX-License-Identifier: Apache-2.0 */
/* Modes and windows with a CUPTI that does as it is told: what is switched on when, and what the trace says of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cupti/kernel_timing.h"
#include "cupti/timing_mode.h"
#include "tests/cupti/fake_cupti.h"
#include "tests/cupti/host.h"
#include "tests/cupti/trace_of_test.h"
#include "trace/clock.h"
#include "trace/timing_control.h"
#include "trace/trace_writer.h"

enum { KERNELS = 10, GRAPHS = 51, PATIENCE_MS = 5000 };
static const uint64_t ms = 1000000;

static void pause_ms(unsigned n)
{
    nanosleep(&(struct timespec){.tv_sec = n / 1000, .tv_nsec = (long)(n % 1000) * 1000000}, NULL);
}

/* Waits for what another thread does soon. */
static bool comes_true(bool (*condition)(void))
{
    for (int i = 0; i < PATIENCE_MS && !condition(); i++)
        pause_ms(1);
    return condition();
}

static bool is_enabled(void)
{
    return fake_cupti_kind_enabled(KERNELS);
}

static bool is_disabled(void)
{
    return !fake_cupti_kind_enabled(KERNELS);
}

static uint64_t now_realtime(void)
{
    return clock_realtime_ns();
}

/* A call with one kernel that runs now, as far as its record says. */
static uint32_t run_call(uint64_t owner)
{
    uint64_t call;
    uint32_t correlation = call_with(owner, 1, &call);
    run_kernel_at(correlation, now_realtime());
    return correlation;
}

static void run_graph_kernels(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fake_cupti_kernel(&(struct fake_kernel){.correlation_id = 1,
                                                .name = "node",
                                                .start_ns = now_realtime(),
                                                .end_ns = now_realtime() + 10,
                                                .graph_id = 5,
                                                .stream = 7});
    fake_cupti_hand_back();
}

static struct timing_control *page(void)
{
    static struct timing_control *mapped;
    if (!mapped)
        mapped = timing_control_map(trace_of_test_folder());
    CHECK(mapped != NULL);
    return mapped;
}

static struct kernel_timing_settings with_page(struct kernel_timing_settings settings)
{
    settings.window.session_folder = trace_of_test_folder();
    return settings;
}

static void check_window(const struct trace_content *c, size_t i, enum trace_window_what what,
                         enum trace_window_why why, uint32_t number)
{
    CHECK(i < c->window_count);
    const struct trace_window *w = &c->windows[i].record;
    if (w->what != what || w->why != why || w->number != number)
        fprintf(stderr, "window record %zu: what %u why %u number %u\n", i, w->what, w->why, w->number);
    CHECK(w->what == what && w->why == why && w->number == number);
}

/* ---- scenarios ---- */

static void from_start_to_end(void)
{
    struct trace_content c;
    start_on();
    CHECK(is_enabled());
    run_call(1);
    finish_and_read(&c);
    CHECK(c.window_count == 2 && c.kernel_count == 1 && c.timing_count == 1);
    check_window(&c, 0, TRACE_WINDOW_OPEN, TRACE_WINDOW_START, 1);
    check_window(&c, 1, TRACE_WINDOW_CLOSE, TRACE_WINDOW_END, 1);
    const struct trace_timing *t = &c.timings[0].record;
    CHECK(t->asked == TRACE_TIMING_AUTO && t->mode == TRACE_TIMING_NODE && t->cupti_version == 130001);
    CHECK(t->graph_records_most == 20000000 && t->window_ns == 0 && t->period_ns == 0);
    CHECK(strstr(c.timings[0].text, "20000000"));
}

static void delayed(void)
{
    struct trace_content c;
    uint64_t begun_ns = clock_monotonic_ns();
    start_with((struct kernel_timing_settings){.window = {.delay_ns = 300 * ms, .duration_ns = 300 * ms}});
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON && is_disabled());
    CHECK(fake_cupti_callback_enabled(1, LAUNCH) && fake_cupti_callback_enabled(3, 13));
    run_call(1);
    CHECK(comes_true(is_enabled) && clock_monotonic_ns() - begun_ns >= 300 * ms);
    uint32_t timed = run_call(2);
    CHECK(comes_true(is_disabled) && clock_monotonic_ns() - begun_ns >= 600 * ms);
    run_call(3);
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && kernel_of(&c, timed)->owner_id == 2 && c.window_count == 2);
    check_window(&c, 0, TRACE_WINDOW_OPEN, TRACE_WINDOW_OPTION, 1);
    check_window(&c, 1, TRACE_WINDOW_CLOSE, TRACE_WINDOW_OPTION, 1);
    CHECK(c.windows[1].record.realtime_ns > c.windows[0].record.realtime_ns);
    CHECK(fake_cupti_calls("cuptiSubscribe") == 1 && fake_cupti_calls("cuptiUnsubscribe") == 0);
}

/* What `rooftap ctl` does, and what a process makes of it. */
static void controlled(void)
{
    struct trace_content c;
    uint32_t pid_namespace;
    start_with(with_page((struct kernel_timing_settings){.window = {.delay_ns = TIMING_WINDOW_NEVER}}));
    CHECK(is_disabled());
    const struct timing_control_process *own = timing_control_find(page(), timing_control_own(&pid_namespace));
    CHECK(own != NULL);
    uint64_t first = timing_control_give(&page()->word, TIMING_COMMAND_START);
    CHECK(comes_true(is_enabled));
    uint32_t in_first = run_call(1);
    timing_control_give((uint64_t *)&own->word, TIMING_COMMAND_STOP);
    CHECK(comes_true(is_disabled));
    run_call(2);
    CHECK(own->seen > first && own->windows == 1 && own->state == TIMING_CONTROL_CLOSED);
    uint64_t last = timing_control_give(&page()->word, TIMING_COMMAND_START); /* newer than the process's own */
    CHECK(comes_true(is_enabled));
    uint32_t in_second = run_call(3);
    for (int i = 0; i < PATIENCE_MS && own->seen != last; i++)
        pause_ms(1);
    CHECK(own->seen == last && own->state == TIMING_CONTROL_OPEN && own->mode == TRACE_TIMING_NODE);
    uint64_t owner = own->owner;
    finish_and_read(&c);
    CHECK(timing_control_find(page(), owner) == NULL);
    CHECK(c.kernel_count == 2 && kernel_of(&c, in_first)->owner_id == 1 && kernel_of(&c, in_second)->owner_id == 3);
    CHECK(c.window_count == 4);
    check_window(&c, 0, TRACE_WINDOW_OPEN, TRACE_WINDOW_CONTROL, 1);
    check_window(&c, 1, TRACE_WINDOW_CLOSE, TRACE_WINDOW_CONTROL, 1);
    check_window(&c, 2, TRACE_WINDOW_OPEN, TRACE_WINDOW_CONTROL, 2);
    check_window(&c, 3, TRACE_WINDOW_CLOSE, TRACE_WINDOW_END, 2);
}

static void marked(void)
{
    static const char odd[] = "\x01\xff\n%s%n\"\\\x1b[31m";
    char longest[TIMING_CONTROL_MARK_BYTES];
    struct trace_content c;
    uint32_t pid_namespace;
    start_with(with_page((struct kernel_timing_settings){.off = false}));
    uint64_t own = timing_control_own(&pid_namespace), before_ns = clock_realtime_ns();
    memset(longest, 'x', sizeof longest);
    timing_control_mark(page(), 0, odd, sizeof odd - 1);
    timing_control_mark(page(), own + 1, "another's", 9);
    uint64_t last = timing_control_mark(page(), own, longest, sizeof longest);
    const struct timing_control_process *place = timing_control_find(page(), own);
    for (int i = 0; i < PATIENCE_MS && place->marks < last; i++)
        pause_ms(1);
    CHECK(place->marks == last);
    finish_and_read(&c);
    CHECK(c.window_count == 4);
    check_window(&c, 1, TRACE_WINDOW_MARK, TRACE_WINDOW_CONTROL, 1);
    check_window(&c, 2, TRACE_WINDOW_MARK, TRACE_WINDOW_CONTROL, 1);
    CHECK(strcmp(c.windows[1].text, odd) == 0);
    CHECK(strlen(c.windows[2].text) == sizeof longest && c.windows[2].text[0] == 'x');
    CHECK(c.windows[1].record.realtime_ns >= before_ns && c.windows[2].record.realtime_ns <= clock_realtime_ns());
    CHECK(!content_note(&c, TRACE_NOTE_MARKS));
}

/* More than the page holds at one time, in one go: the newest are kept, the others counted. */
static void marks_overwritten(void)
{
    struct trace_content c;
    struct kernel_timing_settings settings = with_page((struct kernel_timing_settings){.off = false});
    trace_of_test_open();
    kernel_timing_configure(&settings);
    CHECK(timing_control_map(trace_of_test_folder()) == page() || page());
    struct timing_control *shared = page();
    /* As if written while nobody ran: the count goes last. */
    enum { GIVEN = TIMING_CONTROL_MARKS + 36 };
    for (uint64_t n = GIVEN - TIMING_CONTROL_MARKS + 1; n <= GIVEN; n++) {
        struct timing_control_mark *mark = &shared->marks[n % TIMING_CONTROL_MARKS];
        *mark = (struct timing_control_mark){.realtime_ns = n, .bytes = 1, .text = "m"};
        mark->sequence = n;
    }
    __atomic_store_n(&shared->marks_given, GIVEN, __ATOMIC_RELEASE);
    pause_ms(100);
    finish_and_read(&c);
    CHECK(c.window_count == TIMING_CONTROL_MARKS && content_note(&c, TRACE_NOTE_MARKS)->value == 36);
    CHECK(c.windows[0].record.realtime_ns == 37 && c.windows[0].record.number == 0);
}

/* Its writer died before it was whole: those behind it are not held up for ever. */
static void mark_unfinished(void)
{
    struct trace_content c;
    start_with(with_page((struct kernel_timing_settings){.off = false}));
    __atomic_add_fetch(&page()->marks_given, 1, __ATOMIC_ACQ_REL);
    timing_control_mark(page(), 0, "behind", 6);
    pause_ms(1500);
    finish_and_read(&c);
    CHECK(c.window_count == 3 && strcmp(c.windows[1].text, "behind") == 0);
    CHECK(content_note(&c, TRACE_NOTE_MARKS)->value == 1);
}

static void off_takes_marks(void)
{
    struct trace_content c;
    start_with(with_page((struct kernel_timing_settings){.off = true}));
    pause_ms(100); /* timing's thread has nothing to do and ends */
    timing_control_mark(page(), 0, "here", 4);
    pause_ms(100);
    finish_and_read(&c);
    CHECK(c.window_count == 1 && strcmp(c.windows[0].text, "here") == 0 && c.windows[0].record.number == 0);
    CHECK(c.timing_count == 1 && c.timings[0].record.mode == TRACE_TIMING_OFF &&
          c.timings[0].record.asked == TRACE_TIMING_OFF && c.timings[0].record.graph_records_most == 0);
}

/* CUPTI's times of graphs' kernels are said to turn invalid at 1000 of them. */
static void node_ends_at_its_bound(void)
{
    struct trace_content c;
    start_with((struct kernel_timing_settings){.mode = TRACE_TIMING_NODE, .graph_kernels_most = 1000});
    run_graph_kernels(959);
    pause_ms(100);
    CHECK(is_enabled());
    run_graph_kernels(1);
    CHECK(comes_true(is_disabled));
    run_graph_kernels(500);
    run_call(1);
    finish_and_read(&c);
    CHECK(c.kernel_count == 960 && c.window_count == 2 && c.timing_count == 2);
    check_window(&c, 1, TRACE_WINDOW_CLOSE, TRACE_WINDOW_BOUND, 1);
    CHECK(c.timings[0].record.mode == TRACE_TIMING_NODE && c.timings[0].record.graph_records_most == 960);
    CHECK(c.timings[1].record.mode == TRACE_TIMING_OFF && c.timings[1].record.asked == TRACE_TIMING_NODE);
}

/* Of 1000: 800 one by one, then samples, thinner as they are used up, then none. */
static void auto_stays_clear_of_the_bound(void)
{
    struct trace_content c;
    start_with((struct kernel_timing_settings){
        .graph_kernels_most = 1000, .sample_budget_ppm = 500000, .sample_window_us = 5000, .sample_seed = 3});
    run_graph_kernels(800);
    CHECK(comes_true(is_disabled)); /* between two windows */
    unsigned runs = 0;
    for (; runs < 5000 && timing_mode_now() == TRACE_TIMING_SAMPLED; runs++) {
        run_graph_kernels(1);
        pause_ms(1);
    }
    CHECK(timing_mode_now() == TRACE_TIMING_SAMPLED || runs > 320); /* half the time at first, then ever less */
    run_graph_kernels(0);
    finish_and_read(&c);
    CHECK(c.kernel_count > 800 && c.kernel_count < 1000); /* 960 and what ran until timing's thread had its turn */
    CHECK(c.timing_count >= 3 && c.timings[0].record.graph_records_most == 800);
    CHECK(c.timings[1].record.mode == TRACE_TIMING_SAMPLED && c.timings[1].record.graph_records_most == 960);
    CHECK(c.timings[1].record.window_ns == 5 * ms && c.timings[1].record.period_ns == 10 * ms);
    for (size_t i = 2; i < c.timing_count && c.timings[i].record.mode == TRACE_TIMING_SAMPLED; i++)
        CHECK(c.timings[i].record.period_ns >= 2 * c.timings[i - 1].record.period_ns);
    check_window(&c, 1, TRACE_WINDOW_CLOSE, TRACE_WINDOW_BOUND, 1);
    check_window(&c, 2, TRACE_WINDOW_OPEN, TRACE_WINDOW_SAMPLED, 2);
}

/* Windows take what is launched in them and nothing else, and are open for the budget's share of the time. */
static void sampled(void)
{
    struct trace_content c;
    uint64_t begun_ns = clock_monotonic_ns(), open_ns = 0;
    start_with((struct kernel_timing_settings){
        .mode = TRACE_TIMING_SAMPLED, .sample_budget_ppm = 200000, .sample_window_us = 5000, .sample_seed = 11});
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON && is_disabled());
    for (int i = 0; i < 1500; i++) {
        run_call(1);
        pause_ms(1);
    }
    uint64_t wall_ns = clock_monotonic_ns() - begun_ns;
    finish_and_read(&c);
    CHECK(c.window_count >= 20 && c.window_count % 2 == 0);
    for (size_t i = 0; i + 1 < c.window_count; i += 2) {
        uint64_t from = c.windows[i].record.realtime_ns, to = c.windows[i + 1].record.realtime_ns;
        check_window(&c, i, TRACE_WINDOW_OPEN, TRACE_WINDOW_SAMPLED, (uint32_t)i / 2 + 1);
        open_ns += to - from;
        CHECK(i + 2 == c.window_count || to - from >= 4900000);
    }
    CHECK(open_ns < wall_ns * 22 / 100);
    CHECK(c.kernel_count > 50 && c.kernel_count < 750);
    for (size_t i = 0; i < c.kernel_count; i++) { /* within a window, but for the way from launch to record */
        bool inside = false;
        for (size_t w = 0; w + 1 < c.window_count; w += 2)
            inside |= c.kernels[i].start_ns + 5 * ms >= c.windows[w].record.realtime_ns &&
                      c.kernels[i].start_ns <= c.windows[w + 1].record.realtime_ns + 5 * ms;
        CHECK(inside && c.kernels[i].owner_id == 1);
    }
    const struct trace_timing *t = &c.timings[0].record;
    CHECK(t->mode == TRACE_TIMING_SAMPLED && t->window_ns == 5 * ms && t->period_ns == 25 * ms);
    CHECK(t->graph_records_most == 24000000);
}

static void graphs_as_one(void)
{
    struct trace_content c;
    start_with(with_page((struct kernel_timing_settings){.mode = TRACE_TIMING_GRAPH}));
    CHECK(fake_cupti_kind_enabled(GRAPHS) && is_enabled());
    timing_control_give(&page()->word, TIMING_COMMAND_STOP);
    CHECK(comes_true(is_disabled) && !fake_cupti_kind_enabled(GRAPHS));
    finish_and_read(&c);
    CHECK(c.timing_count == 1 && c.timings[0].record.mode == TRACE_TIMING_GRAPH);
    CHECK(c.timings[0].record.graph_records_most == 0);
}

static void other_modes_leave_graphs_alone(void)
{
    struct trace_content c;
    start_on();
    CHECK(!fake_cupti_kind_enabled(GRAPHS));
    finish_and_read(&c);
}

/* Not at the start, when there is still a way back, but when the window opens. */
static void refused_later(void)
{
    struct trace_content c;
    start_with((struct kernel_timing_settings){.window = {.delay_ns = 200 * ms}});
    fake_cupti_set_result("cuptiActivityEnable", 35);
    pause_ms(600);
    CHECK(fake_cupti_calls("cuptiActivityEnable") == 1 && is_disabled());
    finish_and_read(&c);
    const struct text_note *note = content_note(&c, TRACE_NOTE_TIMING_OFF);
    CHECK(note && note->value == 35 && strstr(note->text, "cuptiActivityEnable"));
    CHECK(c.window_count == 0 && c.timing_count == 2 && c.timings[1].record.mode == TRACE_TIMING_OFF);
    CHECK(strstr(c.timings[1].text, "--timing=events"));
}

static void refused_at_once(void)
{
    struct trace_content c;
    fake_cupti_set_result("cuptiSubscribe", 999);
    start_with((struct kernel_timing_settings){.off = false});
    finish_and_read(&c);
    CHECK(c.timing_count == 1 && c.timings[0].record.mode == TRACE_TIMING_OFF);
    CHECK(c.timings[0].record.asked == TRACE_TIMING_AUTO && c.timings[0].record.cupti_version == 0);
    CHECK(strstr(c.timings[0].text, "--timing=events") && c.window_count == 0);
}

static unsigned said_silent(const struct trace_content *c)
{
    unsigned times = 0;
    for (size_t i = 0; i < c->timing_count; i++)
        times += strstr(c->timings[i].text, "gave no records") != NULL;
    return times;
}

static void run_calls_for(unsigned n, uint64_t owner)
{
    for (uint64_t until_ns = clock_monotonic_ns() + n * ms; clock_monotonic_ns() < until_ns;) {
        run_call(owner);
        pause_ms(1);
    }
}

static const struct kernel_timing_settings short_windows = {
    .mode = TRACE_TIMING_SAMPLED, .sample_budget_ppm = 200000, .sample_window_us = 20000, .flush_period_ms = 10};

/* A CUPTI that delivers only until it is first switched off: said, and no longer switched off. */
static void silent_windows(void)
{
    struct trace_content c;
    fake_cupti_first_period_only(true);
    start_with(short_windows);
    run_calls_for(3000, 1);
    CHECK(is_enabled());
    finish_and_read(&c);
    CHECK(said_silent(&c) == 1 && c.timing_count == 2);
}

/* The same of one that is asked for by ctl and open for long. */
static void silent_window_of_ctl(void)
{
    struct trace_content c;
    fake_cupti_first_period_only(true);
    start_with(with_page((struct kernel_timing_settings){.flush_period_ms = 10}));
    run_calls_for(100, 1);
    timing_control_give(&page()->word, TIMING_COMMAND_STOP);
    CHECK(comes_true(is_disabled));
    timing_control_give(&page()->word, TIMING_COMMAND_START);
    CHECK(comes_true(is_enabled));
    run_calls_for(2500, 2);
    finish_and_read(&c);
    CHECK(said_silent(&c) == 1);
}

/* Only captures for the first windows: a CUPTI that does what it should is not left on for that. */
static void only_captures_at_first(void)
{
    struct trace_content c;
    start_with(short_windows);
    for (int i = 0; i < 1500; i++) {
        fake_cupti_launch(LAUNCH); /* leaves no record */
        pause_ms(1);
    }
    run_calls_for(1500, 1);
    unsigned switched = fake_cupti_calls("cuptiActivityDisable");
    run_calls_for(500, 1);
    CHECK(fake_cupti_calls("cuptiActivityDisable") > switched + 6); /* windows open and close again */
    finish_and_read(&c);
    CHECK(c.kernel_count > 50 && c.kernel_count < 1000);
}

/* It delivers what was launched long enough after it was switched on, so nothing of short windows: left on in the end, and
 * what ran outside of windows is left out. */
static void left_on(void)
{
    struct trace_content c;
    fake_cupti_warm_up(200 * ms);
    start_with(short_windows);
    for (int i = 0; i < 80 && !(is_enabled() && fake_cupti_calls("cuptiActivityDisable") >= 20); i++)
        run_calls_for(100, 1);
    run_calls_for(1000, 2); /* on trial at the latest now, or for good */
    run_calls_for(1500, 3);
    CHECK(is_enabled());
    finish_and_read(&c);
    size_t timed = 0;
    CHECK(said_silent(&c) == 1);
    for (size_t i = 0; i < c.kernel_count; i++) {
        bool inside = false;
        timed += c.kernels[i].owner_id == 3;
        for (size_t w = 0; w + 1 < c.window_count; w += 2)
            inside |= c.kernels[i].start_ns + ms >= c.windows[w].record.realtime_ns &&
                      c.kernels[i].start_ns <= c.windows[w + 1].record.realtime_ns + ms;
        CHECK(inside);
    }
    CHECK(timed > 50 && timed < 600); /* a fifth of them */
}

/* GRAPH_TRACE is refused when the window opens: said, and each kernel is timed. */
static void graphs_refused_later(void)
{
    struct trace_content c;
    start_with((struct kernel_timing_settings){.mode = TRACE_TIMING_GRAPH, .window = {.delay_ns = 200 * ms}});
    fake_cupti_refuse_kind(GRAPHS, 27);
    CHECK(comes_true(is_enabled) && !fake_cupti_kind_enabled(GRAPHS));
    run_call(1);
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && c.timing_count == 2 && c.timings[1].record.mode == TRACE_TIMING_NODE);
    CHECK(c.timings[1].record.graph_records_most == 24000000 && strstr(c.timings[1].text, "refuses to time graphs"));
}

static void graphs_refused(void)
{
    struct trace_content c;
    fake_cupti_refuse_kind(GRAPHS, 27);
    start_with((struct kernel_timing_settings){.mode = TRACE_TIMING_GRAPH});
    run_call(1);
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && c.timing_count == 1 && c.timings[0].record.mode == TRACE_TIMING_NODE);
    CHECK(c.timings[0].record.asked == TRACE_TIMING_GRAPH);
}

static void degraded(void)
{
    struct trace_content c;
    start_with((struct kernel_timing_settings){.sample_budget_ppm = 10000});
    timing_mode_degrade(1, "0.8 % of 0.5 % were used");
    CHECK(comes_true(is_disabled) && timing_mode_now() == TRACE_TIMING_SAMPLED);
    timing_mode_degrade(2, "0.6 % of 0.5 % were used");
    for (int i = 0; i < PATIENCE_MS && timing_mode_now() != TRACE_TIMING_OFF; i++)
        pause_ms(1);
    pause_ms(300);
    CHECK(is_disabled());
    finish_and_read(&c);
    CHECK(c.timing_count == 3 && c.timings[1].record.mode == TRACE_TIMING_SAMPLED &&
          c.timings[2].record.mode == TRACE_TIMING_OFF && strstr(c.timings[2].text, "0.6 % of 0.5 %"));
    check_window(&c, 1, TRACE_WINDOW_CLOSE, TRACE_WINDOW_OVERHEAD, 1);
}

static void handed_over(void)
{
    struct trace_content c;
    start_on();
    kernel_timing_give_up(false, second_ns);
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF && is_disabled());
    finish_and_read(&c);
    CHECK(c.window_count == 2 && c.timing_count == 2 && c.timings[1].record.mode == TRACE_TIMING_OFF);
    check_window(&c, 1, TRACE_WINDOW_CLOSE, TRACE_WINDOW_PROFILER, 1);
}

/* A child has a place of its own, or none; it never speaks for its parent. */
static void forked(void)
{
    struct trace_content c;
    uint32_t pid_namespace;
    start_with(with_page((struct kernel_timing_settings){.off = false}));
    uint64_t own = timing_control_own(&pid_namespace);
    for (int i = 0; i < PATIENCE_MS && timing_control_find(page(), own)->state != TIMING_CONTROL_OPEN; i++)
        pause_ms(1);
    pid_t child = fork();
    if (child == 0) {
        kernel_timing_finish(second_ns);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const struct timing_control_process *place = timing_control_find(page(), own);
    CHECK(place && place->state == TIMING_CONTROL_OPEN);
    timing_control_give(&page()->word, TIMING_COMMAND_STOP);
    CHECK(comes_true(is_disabled));
    finish_and_read(&c);
    CHECK(c.window_count == 2);
}

static const struct scenario scenarios[] = {
    {"from_start_to_end", from_start_to_end},
    {"delayed", delayed},
    {"controlled", controlled},
    {"marked", marked},
    {"marks_overwritten", marks_overwritten},
    {"mark_unfinished", mark_unfinished},
    {"off_takes_marks", off_takes_marks},
    {"node_ends_at_its_bound", node_ends_at_its_bound},
    {"auto_stays_clear_of_the_bound", auto_stays_clear_of_the_bound},
    {"sampled", sampled},
    {"graphs_as_one", graphs_as_one},
    {"other_modes_leave_graphs_alone", other_modes_leave_graphs_alone},
    {"refused_later", refused_later},
    {"refused_at_once", refused_at_once},
    {"silent_windows", silent_windows},
    {"silent_window_of_ctl", silent_window_of_ctl},
    {"only_captures_at_first", only_captures_at_first},
    {"left_on", left_on},
    {"graphs_refused_later", graphs_refused_later},
    {"graphs_refused", graphs_refused},
    {"degraded", degraded},
    {"handed_over", handed_over},
    {"forked", forked},
};

int main(int argc, char **argv)
{
    return host_run(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
