/* SPDX-License-Identifier: Apache-2.0 */
/* One gate, and who has a hand on it: the user, the sample, the mode. All of it but marks on one thread. */
#include "cupti/timing_window.h"

#include <stdatomic.h>
#include <string.h>

#include "cupti/cupti_session.h"
#include "cupti/cupti_versions.h"
#include "cupti/event_timing.h"
#include "cupti/graph_launches.h"
#include "cupti/kernel_timing.h"
#include "cupti/timed_kinds.h"
#include "cupti/timing_delivery.h"
#include "cupti/timing_mode.h"
#include "cupti/timing_sample.h"
#include "trace/clock.h"
#include "trace/timing_control.h"
#include "trace/trace_writer.h"

static const uint64_t patience_ns = 1000000000; /* with a mark that somebody began to write */

static struct timing_window_settings settings;
/* Set when all is ready for whoever takes marks, which may be another thread. */
static struct timing_control *_Atomic control;
static struct timing_control_process *_Atomic process; /* NULL: none */
static uint64_t process_owner;
static uint64_t configured_ns; /* CLOCK_MONOTONIC */

static struct {
    _Atomic bool open;
    bool begun, closed_for_good, sampling;
    bool was_open;
    enum trace_timing_mode mode; /* in which it was opened */
    _Atomic uint32_t number;
    uint64_t change_ns;
} gate;

/* ---- the user ---- */

static struct timing_window_wish lasting(uint64_t from_ns, uint64_t duration_ns, enum trace_window_why why,
                                         uint64_t now_ns)
{
    uint64_t until_ns = duration_ns ? from_ns + duration_ns : TIMING_WINDOW_NEVER;
    if (until_ns < from_ns)
        until_ns = TIMING_WINDOW_NEVER;
    if (now_ns >= until_ns)
        return (struct timing_window_wish){false, TRACE_WINDOW_OPTION, TIMING_WINDOW_NEVER};
    return (struct timing_window_wish){true, why, until_ns};
}

struct timing_window_wish timing_window_wish(uint64_t begin_ns, uint64_t delay_ns, uint64_t duration_ns, uint64_t word,
                                             uint64_t now_ns)
{
    uint64_t opens_ns = delay_ns > TIMING_WINDOW_NEVER - begin_ns ? TIMING_WINDOW_NEVER : begin_ns + delay_ns;
    if (word && timing_command_of(word) == TIMING_COMMAND_STOP)
        return (struct timing_window_wish){false, TRACE_WINDOW_CONTROL, TIMING_WINDOW_NEVER};
    if (word)
        return lasting(timing_command_ns(word), duration_ns, TRACE_WINDOW_CONTROL, now_ns);
    if (now_ns < opens_ns)
        return (struct timing_window_wish){false, TRACE_WINDOW_OPTION, opens_ns};
    return lasting(opens_ns, duration_ns, delay_ns ? TRACE_WINDOW_OPTION : TRACE_WINDOW_START, now_ns);
}

/* The session's start, unless this clock is another one there (a time namespace). */
static uint64_t options_begin_ns(void)
{
    uint64_t start_ns = control ? __atomic_load_n(&control->start_ns, __ATOMIC_ACQUIRE) : 0;
    return start_ns && start_ns <= configured_ns ? start_ns : configured_ns;
}

static struct timing_window_wish wish_at(uint64_t now_ns, uint64_t *word)
{
    *word = control ? timing_control_word(control, process) : 0;
    return timing_window_wish(options_begin_ns(), settings.delay_ns, settings.duration_ns, *word, now_ns);
}

/* ---- the page ---- */

static _Atomic uint64_t mark_cursor; /* of the mark that was taken last */
static uint64_t marks_lost, marks_lost_noted, unfinished_since_ns;
static atomic_flag marks_are_taken = ATOMIC_FLAG_INIT;

static struct timing_control *map_page(const char *folder)
{
    struct timing_control *page = timing_control_map(folder);
    return page || !timing_control_make(folder) ? page : timing_control_map(folder);
}

/* A forked child has its parent's mapping, and a place of its own. */
static void join_page(void)
{
    uint32_t pid_namespace;
    struct timing_control *page = atomic_load(&control);
    atomic_store(&process, NULL);
    if (!page && settings.session_folder)
        page = map_page(settings.session_folder);
    if (!page)
        return;
    process_owner = timing_control_own(&pid_namespace);
    atomic_store(&mark_cursor, __atomic_load_n(&page->marks_given, __ATOMIC_ACQUIRE));
    struct timing_control_process *place = timing_control_join(page, process_owner, pid_namespace);
    if (place)
        __atomic_store_n(&place->marks, atomic_load(&mark_cursor), __ATOMIC_RELEASE);
    atomic_store(&process, place);
    atomic_store(&control, page);
}

static enum timing_control_state state_now(void)
{
    if (!gate.begun)
        return TIMING_CONTROL_WAITING;
    if (gate.closed_for_good || timing_mode_now() == TRACE_TIMING_OFF)
        return TIMING_CONTROL_OFF;
    return atomic_load(&gate.open) || gate.sampling ? TIMING_CONTROL_OPEN : TIMING_CONTROL_CLOSED;
}

static void tell_page(uint64_t word)
{
    struct timing_control_process *place = atomic_load(&process);
    if (!place)
        return;
    __atomic_store_n(&place->mode, (uint32_t)timing_mode_now(), __ATOMIC_RELAXED);
    __atomic_store_n(&place->windows, atomic_load(&gate.number), __ATOMIC_RELAXED);
    __atomic_store_n(&place->state, (uint32_t)state_now(), __ATOMIC_RELAXED);
    __atomic_store_n(&place->seen, word, __ATOMIC_RELEASE);
}

/* ---- records ---- */

static void write_window(enum trace_window_what what, enum trace_window_why why, uint32_t number, uint64_t realtime_ns,
                         const char *text, uint32_t bytes)
{
    struct trace_thread *thread = trace_thread_get();
    struct trace_window *record = thread ? trace_reserve(thread, TRACE_RECORD_WINDOW, sizeof *record + bytes) : NULL;
    if (!record)
        return;
    record->ticks = clock_ticks();
    record->realtime_ns = realtime_ns;
    record->what = what;
    record->why = why;
    record->number = number;
    record->text_bytes = bytes;
    if (bytes)
        memcpy(record->text, text, bytes);
    trace_commit(thread, record);
}

static void take_mark(const struct timing_control_mark *mark)
{
    if (mark->owner && mark->owner != process_owner)
        return;
    write_window(TRACE_WINDOW_MARK, TRACE_WINDOW_CONTROL, atomic_load(&gate.open) ? gate.number : 0, mark->realtime_ns,
                 mark->text, mark->bytes);
}

/* Who died while writing a mark is waited for a little, then it is given up. */
static bool give_up_mark(uint64_t *cursor)
{
    uint64_t now_ns = clock_monotonic_ns();
    if (!unfinished_since_ns)
        unfinished_since_ns = now_ns;
    if (now_ns - unfinished_since_ns < patience_ns)
        return false;
    timing_control_skip_mark(cursor, &marks_lost);
    return true;
}

static void note_lost_marks(void)
{
    if (marks_lost != marks_lost_noted)
        trace_note(trace_thread_get(), TRACE_NOTE_MARKS, (int32_t)marks_lost,
                   "%llu marks of 'rooftap ctl' were overwritten before this process looked at them",
                   (unsigned long long)marks_lost);
    marks_lost_noted = marks_lost;
}

void timing_window_take_marks(void)
{
    struct timing_control_mark mark;
    struct timing_control *page = atomic_load_explicit(&control, memory_order_acquire);
    if (!page || __atomic_load_n(&page->marks_given, __ATOMIC_ACQUIRE) == atomic_load(&mark_cursor) ||
        atomic_flag_test_and_set(&marks_are_taken))
        return;
    uint64_t cursor = atomic_load(&mark_cursor);
    for (bool more = true; more;) {
        enum timing_control_look look = timing_control_next_mark(page, &cursor, &mark, &marks_lost);
        if (look == TIMING_CONTROL_TAKEN)
            take_mark(&mark);
        more = look == TIMING_CONTROL_TAKEN || (look == TIMING_CONTROL_UNFINISHED && give_up_mark(&cursor));
        if (look != TIMING_CONTROL_UNFINISHED)
            unfinished_since_ns = 0;
    }
    note_lost_marks();
    atomic_store(&mark_cursor, cursor);
    struct timing_control_process *place = atomic_load(&process);
    if (place)
        __atomic_store_n(&place->marks, cursor, __ATOMIC_RELEASE);
    atomic_flag_clear(&marks_are_taken);
}

/* ---- the gate ---- */

void timing_window_configure(const struct timing_window_settings *wanted)
{
    settings = *wanted;
    configured_ns = clock_monotonic_ns();
    memset(&gate, 0, sizeof gate);
    timing_delivery_reset();
    gate.change_ns = TIMING_WINDOW_NEVER;
    join_page();
}

void timing_window_in_child(void)
{
    atomic_store(&process, NULL);
    atomic_store(&gate.open, false);
    gate.closed_for_good = true;
    atomic_flag_clear(&marks_are_taken);
}

static bool by_events(void)
{
    return timing_mode_now() == TRACE_TIMING_EVENTS;
}

/* CUPTI's result; 0 also of events, which are not refused. */
static int switch_timing(bool on)
{
    if (!by_events())
        return timed_kinds_switch(on);
    event_timing_switch(on);
    kernel_timing_renew_attention();
    return 0;
}

bool timing_window_opens_at_once(enum trace_timing_mode mode)
{
    uint64_t word;
    return mode != TRACE_TIMING_OFF && mode != TRACE_TIMING_SAMPLED && wish_at(clock_monotonic_ns(), &word).open;
}

static void opened(enum trace_window_why why)
{
    gate.number++;
    gate.was_open = true;
    gate.mode = timing_mode_now();
    uint64_t realtime_ns = clock_realtime_ns();
    timing_delivery_opened(gate.number);
    atomic_store(&gate.open, true);
    write_window(TRACE_WINDOW_OPEN, why, gate.number, realtime_ns, NULL, 0);
}

/* The record comes before CUPTI is switched off: what is launched behind it has no times. */
static void closed(enum trace_window_why why)
{
    uint64_t realtime_ns = clock_realtime_ns();
    timing_delivery_closed();
    write_window(TRACE_WINDOW_CLOSE, why, gate.number, realtime_ns, NULL, 0);
    atomic_store(&gate.open, false);
}

/* How often graphs were launched until here, for what is estimated from the windows. Outside of them: it takes its time. */
static void count_graphs(void)
{
    graph_launches_write(trace_thread_get(), false);
}

static void open_gate(enum trace_window_why why)
{
    count_graphs();
    int result = switch_timing(true);
    if (result == 0) {
        if (timing_mode_now() == TRACE_TIMING_GRAPH && !timed_kinds_graphs_whole())
            timing_mode_happens(TIMING_MODE_GRAPHS_REFUSED);
        opened(why);
        return;
    }
    /* Not at the start, but when it came to it. */
    gate.closed_for_good = true;
    trace_note(trace_thread_get(), TRACE_NOTE_TIMING_OFF, result, "cuptiActivityEnable(CONCURRENT_KERNEL): %s",
               cupti_result_text(result));
    timing_mode_happens(TIMING_MODE_REFUSED);
}

static void close_gate(enum trace_window_why why)
{
    closed(why);
    if (by_events() || !timing_delivery_keeps_on())
        switch_timing(false);
    count_graphs();
}

void timing_window_begin(bool is_open)
{
    uint64_t word;
    struct timing_window_wish wish = wish_at(clock_monotonic_ns(), &word);
    gate.begun = true;
    if (is_open)
        opened(wish.open ? wish.why : TRACE_WINDOW_START);
    tell_page(word);
}

/* What the gate should be, and why. */
static bool wanted_now(uint64_t now_ns, uint64_t *word, enum trace_window_why *why)
{
    struct timing_window_wish wish = wish_at(now_ns, word);
    enum trace_timing_mode mode = timing_mode_now();
    bool samples = mode == TRACE_TIMING_SAMPLED && wish.open && !gate.closed_for_good;
    *why = wish.why;
    gate.change_ns = wish.change_ns;
    if (samples && !gate.sampling)
        timing_sample_begin(now_ns);
    gate.sampling = samples;
    if (gate.closed_for_good || mode == TRACE_TIMING_OFF || !wish.open)
        return false;
    if (!samples)
        return true;
    bool open = timing_sample_is_open(now_ns);
    *why = TRACE_WINDOW_SAMPLED;
    return open;
}

static enum trace_window_why why_closed(enum trace_window_why wish)
{
    return timing_mode_now() != gate.mode ? timing_mode_why() : wish;
}

void timing_window_tick(uint64_t now_ns)
{
    uint64_t word;
    enum trace_window_why why;
    if (!gate.begun)
        return;
    bool wanted = wanted_now(now_ns, &word, &why), open = atomic_load(&gate.open);
    if (wanted && !open) {
        open_gate(why);
        if (gate.sampling)
            timing_sample_opened(clock_monotonic_ns());
    } else if (!wanted && open)
        close_gate(why_closed(why));
    if (!by_events() && !gate.closed_for_good && timing_delivery_judge(atomic_load(&gate.open), now_ns))
        switch_timing(false);
    tell_page(word);
}

uint64_t timing_window_due_ns(void)
{
    if (!gate.begun || gate.closed_for_good)
        return TIMING_WINDOW_NEVER;
    uint64_t sample_ns = gate.sampling ? timing_sample_change_ns() : TIMING_WINDOW_NEVER;
    return sample_ns < gate.change_ns ? sample_ns : gate.change_ns;
}

bool timing_window_is_open(void)
{
    return atomic_load_explicit(&gate.open, memory_order_relaxed);
}

bool timing_window_was_open(void)
{
    bool was = gate.was_open || atomic_load(&gate.open);
    gate.was_open = false;
    return was;
}

void timing_window_close(enum trace_window_why why)
{
    bool open = atomic_load(&gate.open);
    gate.closed_for_good = true;
    timing_delivery_give_up();
    if (open)
        closed(why);
    if (why != TRACE_WINDOW_PROFILER && timed_kinds_are_on())
        timed_kinds_switch(false);
    uint64_t word = control ? timing_control_word(control, process) : 0;
    tell_page(word);
}

void timing_window_end(void)
{
    if (atomic_load(&gate.open))
        closed(TRACE_WINDOW_END);
    gate.closed_for_good = true;
}

void timing_window_leave(void)
{
    timing_window_take_marks();
    struct timing_control_process *place = atomic_exchange(&process, NULL);
    if (place)
        timing_control_leave(place, process_owner);
}
