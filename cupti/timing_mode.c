/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rules, and what is counted for them. */
#include "cupti/timing_mode.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cupti/cupti_versions.h"
#include "cupti/timing_sample.h"
#include "trace/clock.h"
#include "trace/trace_writer.h"

/* Parts of the bound, in percent. Behind the last one there is room for what is under way: kernels are counted when their
 * records are read, at most a flush period after they ran. */
enum { NEAR_PERCENT = 80, REACHED_PERCENT = 96, THINNING_MOST = 1 << 20, TEXT_BYTES = 512 };

/* clang-format off */
#define ANY TIMING_MODE_ANY
const struct timing_mode_rule timing_mode_rules[] = {
    /* asked                from                  event                       to                    text */
    { TRACE_TIMING_OFF,     ANY,                  TIMING_MODE_BEGUN,          TRACE_TIMING_OFF,     "shapes only, as asked" },
    { TRACE_TIMING_EVENTS,  ANY,                  TIMING_MODE_BEGUN,          TRACE_TIMING_EVENTS,  "events of CUDA around calls outside of captures, to about half a microsecond, as asked; CUPTI is left alone" },
    { TRACE_TIMING_EVENTS,  ANY,                  TIMING_MODE_REFUSED,        TRACE_TIMING_OFF,     "shapes only: this driver lacks functions that timing by events needs" },
    { TRACE_TIMING_AUTO,    ANY,                  TIMING_MODE_BEGUN,          TRACE_TIMING_NODE,    "auto: each kernel, those of graphs by their node, up to %llu kernels of graphs" },
    { TRACE_TIMING_NODE,    ANY,                  TIMING_MODE_BEGUN,          TRACE_TIMING_NODE,    "each kernel, as asked; ends at %llu kernels of graphs, since this CUPTI's times are not to be trusted much beyond" },
    { TRACE_TIMING_GRAPH,   ANY,                  TIMING_MODE_BEGUN,          TRACE_TIMING_GRAPH,   "each kernel outside of graphs, each launch of a graph as a whole, as asked" },
    { TRACE_TIMING_GRAPH,   ANY,                  TIMING_MODE_GRAPHS_REFUSED, TRACE_TIMING_NODE,    "each kernel: CUPTI refuses to time graphs as a whole; ends at %llu kernels of graphs" },
    { TRACE_TIMING_SAMPLED, ANY,                  TIMING_MODE_BEGUN,          TRACE_TIMING_SAMPLED, "what is launched in windows drawn at random, as asked" },
    { TRACE_TIMING_AUTO,    ANY,                  TIMING_MODE_REFUSED,        TRACE_TIMING_OFF,     "auto: shapes only, since CUPTI can't be used; --timing=events times calls outside of graphs without it" },
    { ANY,                  ANY,                  TIMING_MODE_REFUSED,        TRACE_TIMING_OFF,     "shapes only: CUPTI can't be used; --timing=events times calls outside of graphs without it" },
    { TRACE_TIMING_AUTO,    TRACE_TIMING_NODE,    TIMING_MODE_BOUND_NEAR,     TRACE_TIMING_SAMPLED, "auto: in windows drawn at random from here on, since this CUPTI's times of kernels in graphs turn invalid after a number of them" },
    { ANY,                  TRACE_TIMING_SAMPLED, TIMING_MODE_BOUND_NEARER,   TRACE_TIMING_SAMPLED, "fewer windows: half of the kernels of graphs that were left for them are used" },
    { ANY,                  TRACE_TIMING_NODE,    TIMING_MODE_BOUND_REACHED,  TRACE_TIMING_OFF,     "timing ends: this CUPTI's times of kernels in graphs turn invalid after a number of them" },
    { ANY,                  TRACE_TIMING_SAMPLED, TIMING_MODE_BOUND_REACHED,  TRACE_TIMING_OFF,     "timing ends: this CUPTI's times of kernels in graphs turn invalid after a number of them" },
    { ANY,                  ANY,                  TIMING_MODE_PROFILER,       TRACE_TIMING_OFF,     "timing ends: another profiler took CUPTI over" },
    { ANY,                  TRACE_TIMING_NODE,    TIMING_MODE_OVERHEAD,       TRACE_TIMING_SAMPLED, "in windows drawn at random from here on, to stay within the budget of overhead" },
    { ANY,                  TRACE_TIMING_GRAPH,   TIMING_MODE_OVERHEAD,       TRACE_TIMING_SAMPLED, "in windows drawn at random from here on, graphs still as a whole, to stay within the budget of overhead" },
    { ANY,                  ANY,                  TIMING_MODE_OVERHEAD_STILL, TRACE_TIMING_OFF,     "timing ends, to stay within the budget of overhead" },
    { ANY,                  TRACE_TIMING_SAMPLED, TIMING_MODE_SILENT,         TRACE_TIMING_SAMPLED, "this CUPTI gave no records of several windows: it stays switched on, and what ran outside of windows is left out" },
    { ANY,                  TRACE_TIMING_NODE,    TIMING_MODE_SILENT,         TRACE_TIMING_NODE,    "this CUPTI gave no records of several windows: it stays switched on, and what ran outside of windows is left out" },
    { ANY,                  TRACE_TIMING_GRAPH,   TIMING_MODE_SILENT,         TRACE_TIMING_GRAPH,   "this CUPTI gave no records of several windows: it stays switched on, and what ran outside of windows is left out" },
};
#undef ANY
/* clang-format on */
const unsigned timing_mode_rule_count = sizeof timing_mode_rules / sizeof *timing_mode_rules;

static enum trace_timing_mode asked = TRACE_TIMING_AUTO;
static _Atomic int in_force = TRACE_TIMING_OFF;
static bool begun;
static uint32_t version;
static enum trace_window_why last_why = TRACE_WINDOW_START;
static uint64_t most_wanted, most; /* kernels of graphs; 0: no bound */
static uint64_t thinning;
static _Atomic unsigned degrade_wanted;
static unsigned degraded;
static const char *_Atomic degrade_why;

const struct timing_mode_rule *timing_mode_find(enum trace_timing_mode what, int from, enum timing_mode_event event)
{
    for (unsigned i = 0; i < timing_mode_rule_count; i++) {
        const struct timing_mode_rule *rule = &timing_mode_rules[i];
        if (rule->event == event && (rule->asked == TIMING_MODE_ANY || rule->asked == (int)what) &&
            (rule->from == TIMING_MODE_ANY || rule->from == from))
            return rule;
    }
    return NULL;
}

void timing_mode_configure(enum trace_timing_mode wanted, uint64_t bound)
{
    asked = wanted;
    most_wanted = bound;
    begun = false;
    thinning = 1;
    degraded = 0;
    atomic_store(&degrade_wanted, 0);
    atomic_store(&in_force, TRACE_TIMING_OFF);
}

enum trace_timing_mode timing_mode_asked(void)
{
    return asked;
}

enum trace_timing_mode timing_mode_now(void)
{
    return (enum trace_timing_mode)atomic_load_explicit(&in_force, memory_order_relaxed);
}

enum trace_window_why timing_mode_why(void)
{
    return last_why;
}

static enum trace_window_why why_of(enum timing_mode_event event)
{
    switch (event) {
    case TIMING_MODE_BOUND_NEAR:
    case TIMING_MODE_BOUND_NEARER:
    case TIMING_MODE_BOUND_REACHED:
        return TRACE_WINDOW_BOUND;
    case TIMING_MODE_OVERHEAD:
    case TIMING_MODE_OVERHEAD_STILL:
        return TRACE_WINDOW_OVERHEAD;
    case TIMING_MODE_PROFILER:
        return TRACE_WINDOW_PROFILER;
    default:
        return TRACE_WINDOW_START;
    }
}

/* By parts, so that the product can't overflow. */
static uint64_t percent_of_bound(unsigned percent)
{
    return most / 100 * percent + most % 100 * percent / 100;
}

/* Kernels of graphs after which this mode changes; 0: it does not for that. */
static uint64_t bound_of(enum trace_timing_mode mode)
{
    if (mode == TRACE_TIMING_NODE)
        return percent_of_bound(asked == TRACE_TIMING_AUTO ? NEAR_PERCENT : REACHED_PERCENT);
    return mode == TRACE_TIMING_SAMPLED ? percent_of_bound(REACHED_PERCENT) : 0;
}

static void write_record(enum trace_timing_mode mode, const char *text)
{
    size_t bytes = strlen(text);
    struct trace_thread *thread = trace_thread_get();
    struct trace_timing *record = thread ? trace_reserve(thread, TRACE_RECORD_TIMING, sizeof *record + bytes) : NULL;
    if (!record)
        return;
    record->ticks = clock_ticks();
    record->asked = asked;
    record->mode = mode;
    record->cupti_version = version;
    record->text_bytes = (uint32_t)bytes;
    record->window_ns = mode == TRACE_TIMING_SAMPLED ? timing_sample_window_ns() : 0;
    record->period_ns = mode == TRACE_TIMING_SAMPLED ? timing_sample_period_ns() : 0;
    record->graph_records_most = bound_of(mode);
    memcpy(record->text, text, bytes);
    trace_commit(thread, record);
}

/* Where there is no bound nothing is said of one: the sentence ends before it. */
static int write_text(char *text, size_t size, const char *form, uint64_t bound)
{
    const char *at = strstr(form, "%llu"), *end = at;
    if (!at)
        return snprintf(text, size, "%s", form);
    if (bound)
        return snprintf(text, size, "%.*s%llu%s", (int)(at - form), form, (unsigned long long)bound,
                        at + sizeof "%llu" - 1);
    while (end > form && *end != ',' && *end != ';')
        end--;
    return snprintf(text, size, "%.*s", (int)(end - form), form);
}

static void apply(const struct timing_mode_rule *rule, const char *why)
{
    char text[TEXT_BYTES];
    int used = write_text(text, sizeof text, rule->text, bound_of(rule->to));
    if (why && used > 0 && (size_t)used < sizeof text)
        snprintf(text + used, sizeof text - (size_t)used, ": %s", why);
    last_why = why_of(rule->event);
    atomic_store(&in_force, rule->to);
    write_record(rule->to, text);
}

void timing_mode_begin(enum timing_mode_event event, uint32_t cupti_version)
{
    const struct timing_mode_rule *rule = timing_mode_find(asked, TIMING_MODE_ANY, event);
    version = cupti_version;
    most = !cupti_version ? 0 : most_wanted ? most_wanted : cupti_version_graph_kernels_most(cupti_version);
    begun = true;
    if (rule)
        apply(rule, NULL);
}

void timing_mode_happens(enum timing_mode_event event)
{
    const struct timing_mode_rule *rule = begun ? timing_mode_find(asked, (int)timing_mode_now(), event) : NULL;
    bool already_off = rule && rule->to == TRACE_TIMING_OFF && timing_mode_now() == TRACE_TIMING_OFF;
    if (rule && !already_off)
        apply(rule, NULL);
}

/* With each half of what is left the periods double, so that windows never use it up before a process's end. */
static void thin(uint64_t kernels)
{
    uint64_t from = percent_of_bound(NEAR_PERCENT), to = percent_of_bound(REACHED_PERCENT), factor = 1;
    if (kernels > from && kernels < to)
        while (factor < THINNING_MOST && (to - kernels) * (factor * 2) <= to - from)
            factor *= 2;
    if (factor <= thinning)
        return;
    thinning = factor;
    timing_sample_thin(factor);
    timing_mode_happens(TIMING_MODE_BOUND_NEARER);
}

void timing_mode_note_graph_kernels(uint64_t kernels)
{
    if (!most)
        return;
    if (kernels >= percent_of_bound(REACHED_PERCENT)) {
        timing_mode_happens(TIMING_MODE_BOUND_REACHED);
        return;
    }
    if (kernels >= percent_of_bound(NEAR_PERCENT))
        timing_mode_happens(TIMING_MODE_BOUND_NEAR);
    if (timing_mode_now() == TRACE_TIMING_SAMPLED)
        thin(kernels);
}

void timing_mode_degrade(unsigned level, const char *why)
{
    atomic_store(&degrade_why, why);
    atomic_store(&degrade_wanted, level);
}

void timing_mode_tick(void)
{
    unsigned wanted = atomic_load(&degrade_wanted);
    if (wanted <= degraded || !begun)
        return;
    degraded = wanted;
    enum timing_mode_event event = wanted == 1 ? TIMING_MODE_OVERHEAD : TIMING_MODE_OVERHEAD_STILL;
    const struct timing_mode_rule *rule = timing_mode_find(asked, (int)timing_mode_now(), event);
    if (rule && timing_mode_now() != TRACE_TIMING_OFF)
        apply(rule, atomic_load(&degrade_why));
}
