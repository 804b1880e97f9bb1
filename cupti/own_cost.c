/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls are measured is drawn anew after each, evenly out of 1024: a fixed step would meet the same call of a
 * program's step again and again. */
#include "cupti/own_cost.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "trace/trace_writer.h"

enum {
    DRAWN_FROM = 1024,     /* powers of two */
    FIRST_DRAWN_FROM = 64, /* of a thread: who decodes by graphs makes few calls, at the start */
    IN_A_ROW = 3,
    /* More than any path of ours takes: the scheduler came between, or a page fault of the host's making. Left out, since one
     * such would outweigh a million others. */
    LONGEST_TICKS = 1 << 18,
    WRITE_FIRST_MS = 100,
    WRITE_LONGEST_MS = 4000,
};

static _Atomic unsigned level;
static _Atomic uint64_t helper_cpu_ns, timing_cpu_ns;
static _Atomic uint64_t records_read, records_cpu_ns, buffers_filled, buffers_bytes;
static uint64_t opened_ns;
static _Atomic uint64_t base_ns, base_ticks; /* one moment after the writer had chosen its clock; base_ns goes first */
static uint64_t write_due_ns, write_wait_ns; /* of the helper */

/* ---- call path ---- */

/* xorshift32: no state of 0, no table. */
static uint32_t draw(struct own_cost_thread *own)
{
    uint32_t x = own->random;
    if (!x)
        x = (uint32_t)clock_ticks() | 1;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    own->random = x;
    return x;
}

static uint32_t draw_interval(struct own_cost_thread *own)
{
    return draw(own) >> 8 & (DRAWN_FROM - 1);
}

/* Chosen are some in a row, of which the first only warms up what is used as rarely. True: this is one of the others. */
static bool is_to_be_measured(struct own_cost_thread *own, uint32_t *in_a_row, uint32_t *until)
{
    if (*in_a_row == 0) {
        bool first = own->random == 0; /* the first of a thread are no calls like others */
        *in_a_row = first ? 0 : IN_A_ROW;
        *until = first ? draw_interval(own) & (FIRST_DRAWN_FROM - 1) : 0;
        return false;
    }
    *until = --*in_a_row ? 0 : draw_interval(own);
    return true;
}

uint64_t own_cost_chosen(struct trace_thread *thread, uint64_t incarnation, enum own_cost_kind kind)
{
    struct own_cost_thread *own = trace_thread_own(thread);
    uint32_t until = 0;
    bool measured;
    if (atomic_load_explicit(&level, memory_order_relaxed) >= 3) { /* each call comes here */
        incarnation ^= OWN_COST_COUNTED;
        own->until_call = 0;
        if (own->until_counted-- != 0)
            return incarnation;
        measured = is_to_be_measured(own, &own->calls_in_a_row, &own->until_counted);
    } else {
        measured = is_to_be_measured(own, &own->calls_in_a_row, &until);
        own->until_call = (int32_t)until;
    }
    own->entered_ticks[kind] = measured ? clock_ticks() : 0;
    return incarnation ^ OWN_COST_MEASURED;
}

uint64_t own_cost_begin_slowly(struct trace_thread *thread, enum own_cost_kind kind)
{
    return thread ? own_cost_begin(thread, trace_incarnation(), kind) : trace_incarnation();
}

static void add(uint64_t *count, uint64_t *sum, uint64_t ticks)
{
    if (ticks > LONGEST_TICKS)
        return;
    __atomic_store_n(sum, *sum + ticks, __ATOMIC_RELAXED);
    __atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

void own_cost_end(struct trace_thread *thread, enum own_cost_kind kind, uint64_t start_ticks, uint64_t end_ticks)
{
    struct own_cost_thread *own = trace_thread_own(thread);
    uint64_t left_ticks = clock_ticks(), entered_ticks = own->entered_ticks[kind];
    if (entered_ticks)
        add(&own->calls, &own->calls_ticks, start_ticks - entered_ticks + (left_ticks - end_ticks));
}

uint64_t own_cost_callback_chosen(struct own_cost_thread *own)
{
    bool measured = is_to_be_measured(own, &own->callbacks_in_a_row, &own->until_callback);
    return measured ? clock_ticks() : OWN_COST_NOT_COUNTED;
}

void own_cost_callback_end(struct trace_thread *thread, uint64_t entered_ticks)
{
    struct own_cost_thread *own = trace_thread_own(thread);
    uint64_t left_ticks = clock_ticks();
    if (entered_ticks != OWN_COST_NOT_COUNTED)
        add(&own->callbacks, &own->callbacks_ticks, left_ticks - entered_ticks);
}

/* ---- off the call path ---- */

void own_cost_open(void)
{
    atomic_store(&level, 0);
    atomic_store(&helper_cpu_ns, UINT64_MAX);
    atomic_store(&timing_cpu_ns, UINT64_MAX);
    atomic_store(&records_read, 0);
    atomic_store(&records_cpu_ns, 0);
    atomic_store(&buffers_filled, 0);
    atomic_store(&buffers_bytes, 0);
    atomic_store(&base_ticks, 0);
    opened_ns = clock_monotonic_ns();
    write_wait_ns = WRITE_FIRST_MS * UINT64_C(1000000);
    write_due_ns = opened_ns + write_wait_ns;
}

uint64_t own_cost_cpu_ns(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0)
        return UINT64_MAX;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void own_cost_note_cpu(enum own_cost_thread_kind kind)
{
    atomic_store_explicit(kind == OWN_COST_HELPER ? &helper_cpu_ns : &timing_cpu_ns, own_cost_cpu_ns(),
                          memory_order_relaxed);
}

void own_cost_note_records(uint64_t records, uint64_t cpu_ns, uint64_t buffers, uint64_t buffer_bytes)
{
    atomic_fetch_add_explicit(&records_read, records, memory_order_relaxed);
    atomic_fetch_add_explicit(&records_cpu_ns, cpu_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&buffers_filled, buffers, memory_order_relaxed);
    atomic_store_explicit(&buffers_bytes, buffer_bytes, memory_order_relaxed);
}

void own_cost_set_level(unsigned new_level)
{
    atomic_store(&level, new_level);
}

/* A thread counts with plain stores, which are whole on every machine this runs on; an atomic one would cost each call. */
__attribute__((no_sanitize_thread)) static uint64_t load(const uint64_t *field)
{
    return __atomic_load_n(field, __ATOMIC_RELAXED);
}

__attribute__((no_sanitize_thread)) static void add_thread(const void *of_thread, const struct trace_slot *slot,
                                                           void *sums)
{
    struct trace_overhead *overhead = sums;
    const struct own_cost_thread *own = of_thread;
    overhead->calls += load(&own->calls);
    overhead->calls_ns += load(&own->calls_ticks);
    overhead->callbacks += load(&own->callbacks);
    overhead->callbacks_ns += load(&own->callbacks_ticks);
    overhead->callbacks_all += load(&own->callbacks_all);
    overhead->calls_all += load(&slot->calls_begun) + load(&slot->launches_begun);
}

/* 0: not known yet. What the machine says of its counter goes first, else the time since the first look, if that is enough. */
static double tick_ns(uint64_t now_ns, uint64_t now_ticks)
{
    const uint64_t span_least_ns = 1000000;
    uint64_t rate = clock_in_use == TRACE_CLOCK_MONOTONIC ? 1000000000 : clock_ticks_per_second();
    uint64_t from_ticks = atomic_load(&base_ticks), from_ns = atomic_load(&base_ns);
    if (rate)
        return 1e9 / (double)rate;
    if (!from_ticks) {
        atomic_store(&base_ns, now_ns);
        atomic_store(&base_ticks, now_ticks);
        return 0;
    }
    return now_ns < from_ns + span_least_ns ? 0 : (double)(now_ns - from_ns) / (double)(now_ticks - from_ticks);
}

void own_cost_sum(struct trace_overhead *overhead)
{
    uint64_t now_ns = clock_monotonic_ns(), now_ticks = clock_ticks();
    double ns_per_tick = tick_ns(now_ns, now_ticks);
    memset(overhead, 0, sizeof *overhead);
    trace_writer_visit_threads(add_thread, overhead);
    overhead->ticks = now_ticks;
    overhead->wall_ns = now_ns - opened_ns;
    overhead->calls_ns = (uint64_t)((double)overhead->calls_ns * ns_per_tick + 0.5);
    overhead->callbacks_ns = (uint64_t)((double)overhead->callbacks_ns * ns_per_tick + 0.5);
    if (!(ns_per_tick > 0)) /* then they are as good as not measured */
        overhead->calls = overhead->callbacks = 0;
    overhead->records = atomic_load_explicit(&records_read, memory_order_relaxed);
    overhead->records_ns = atomic_load_explicit(&records_cpu_ns, memory_order_relaxed);
    overhead->buffers = atomic_load_explicit(&buffers_filled, memory_order_relaxed);
    overhead->buffer_bytes = atomic_load_explicit(&buffers_bytes, memory_order_relaxed);
    overhead->helper_cpu_ns = atomic_load_explicit(&helper_cpu_ns, memory_order_relaxed);
    overhead->timing_cpu_ns = atomic_load_explicit(&timing_cpu_ns, memory_order_relaxed);
    overhead->level = atomic_load_explicit(&level, memory_order_relaxed);
}

/* Those of the kind that were not measured are taken to be like those that were. */
static double estimate(uint64_t all, uint64_t measured, uint64_t measured_ns)
{
    return all == 0 ? 0 : measured == 0 ? NAN : (double)measured_ns / (double)measured * (double)all;
}

double own_cost_application_ns(const struct trace_overhead *overhead)
{
    double calls_ns = estimate(overhead->calls_all, overhead->calls, overhead->calls_ns);
    double callbacks_ns = estimate(overhead->callbacks_all, overhead->callbacks, overhead->callbacks_ns);
    if (isnan(callbacks_ns))
        return calls_ns > 0 ? calls_ns : NAN;
    if (isnan(calls_ns))
        return callbacks_ns > 0 ? callbacks_ns : NAN;
    return calls_ns + callbacks_ns;
}

void own_cost_write(bool now)
{
    uint64_t now_ns = clock_monotonic_ns();
    if (!now && now_ns < write_due_ns) {
        if (!atomic_load(&base_ticks))
            tick_ns(now_ns, clock_ticks());
        return;
    }
    struct trace_thread *thread = trace_thread_get();
    struct trace_overhead sums;
    own_cost_sum(&sums);
    struct trace_overhead *record = thread ? trace_reserve(thread, TRACE_RECORD_OVERHEAD, sizeof *record) : NULL;
    if (!record)
        return;
    memcpy((char *)record + sizeof record->record, (const char *)&sums + sizeof sums.record,
           sizeof sums - sizeof sums.record);
    trace_commit(thread, record);
    if (now)
        return;
    write_wait_ns = write_wait_ns * 2 < WRITE_LONGEST_MS * UINT64_C(1000000) ? write_wait_ns * 2
                                                                             : WRITE_LONGEST_MS * UINT64_C(1000000);
    write_due_ns = now_ns + write_wait_ns;
}
