/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the timing: started inside the application's calls, run by a thread of its own, finished at exit.
 *
 * The thread exists because CUPTI may block: it alone flushes, reads records and asks for device facts, so that neither the
 * application nor the helper that reserves trace blocks ever waits for CUPTI. No lock is held around a call into CUPTI. */
#include "cupti/kernel_timing.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cupti/activity_buffers.h"
#include "cupti/cuda_driver.h"
#include "cupti/cupti_session.h"
#include "cupti/device_facts.h"
#include "cupti/event_timing.h"
#include "cupti/graph_calls.h"
#include "cupti/graph_capture.h"
#include "cupti/graph_events.h"
#include "cupti/graph_launches.h"
#include "cupti/graph_nodes.h"
#include "cupti/kernel_records.h"
#include "cupti/launch_join.h"
#include "cupti/lengths.h"
#include "cupti/other_clients.h"
#include "cupti/own_cost.h"
#include "cupti/record_silence.h"
#include "cupti/timed_kinds.h"
#include "cupti/timing_delivery.h"
#include "cupti/timing_mode.h"
#include "cupti/timing_sample.h"
#include "cupti/timing_window.h"
#include "trace/clock.h"
#include "trace/trace_writer.h"

_Atomic int kernel_timing_state_now;
_Atomic int kernel_timing_external_now;
_Atomic int kernel_timing_attention = 1;

enum {
    PERIOD_BUSY_MS = 10,
    PERIOD_EVENTS_MS = 2, /* there is a pair for each call until the next look */
    PERIOD_IDLE_MS = 50,
    FLUSH_BACKOFF_MS = 5000,
    ANCHOR_MS = 1000,
    GRAPHS_MS = 500,
    LENGTHS_MS = 50, /* the same while buffers of lengths are watched */
    /* A worker may leave soon after its cuInit, and its figures mean little without the device. */
    DEVICE_RETRY_MS = 2,
    DEVICE_BACKOFF_MS = 200,
    DEVICE_EARLY_TRIES = 8, /* then it is left to the thread */
};
static const uint64_t ms = 1000000; /* in ns */

static struct kernel_timing_settings settings = {
    .flush_period_ms = 200, .exit_timeout_ms = 1500, .buffer_count = 64, .buffer_bytes = 1 << 20};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the next three */
static pthread_cond_t wake;
static bool finishing, finished, thread_runs;
static _Atomic int inline_ticks; /* the thread could not be made: kernel_timing_tend() does its work */
static _Atomic int finish_begun;
static _Atomic int thread_id;
static _Atomic int give_up_asked; /* by a thread that waits for it */
static uint64_t started_ns;       /* set before the state says so */
static _Atomic int given_up;      /* CUPTI is another client's: shapes only, but buffers may still come back */
static _Atomic int devices_told;  /* 1: some DEVICE records are there, or being written by a call that ends */

/* Of whoever ticks: the thread, or the helper if there is none. */
static struct {
    bool devices_written;
    bool exit_handler_renewed;
    uint64_t devices_due_ns, devices_wait_ns, anchor_due_ns;
    uint64_t flush_due_ns, flush_wait_ns; /* wait 0: nothing to flush has been heard of yet */
    uint64_t seen_at_flush;
    bool events_wait; /* some of those recorded are not through */
} ticking;

/* The flag for calls is set before what it speaks of, and taken back after: a call that sees it looks itself. */
static bool calls_must_look(void)
{
    int state = atomic_load(&kernel_timing_state_now);
    bool started = state == KERNEL_TIMING_ON || state == KERNEL_TIMING_OFF;
    return state == KERNEL_TIMING_IDLE || atomic_load(&kernel_timing_external_now) || event_timing_is_on() ||
           graph_capture_asks() || (started && !atomic_load(&devices_told));
}

/* Looks again after the store: what another thread changed meanwhile must not be overlooked. */
static void attention_renew(void)
{
    atomic_store(&kernel_timing_attention, 1);
    if (calls_must_look())
        return;
    atomic_store(&kernel_timing_attention, 0);
    if (calls_must_look())
        atomic_store(&kernel_timing_attention, 1);
}

void kernel_timing_renew_attention(void)
{
    attention_renew();
}

static void set_state_and_join(enum kernel_timing_state state, bool external)
{
    atomic_store(&kernel_timing_attention, 1);
    atomic_store(&kernel_timing_external_now, external);
    atomic_store(&kernel_timing_state_now, (int)state);
    attention_renew();
}

static void set_state(enum kernel_timing_state state)
{
    set_state_and_join(state, false);
}

enum kernel_timing_state kernel_timing_state(void)
{
    return (enum kernel_timing_state)atomic_load_explicit(&kernel_timing_state_now, memory_order_acquire);
}

static bool is_on(void)
{
    return kernel_timing_state() == KERNEL_TIMING_ON;
}

/* ---- call path, behind the header's inline functions ---- */

static void publish(struct kernel_timing_context *context, enum trace_owner owner, uint64_t owner_id)
{
    launch_join_publish(context->last_launch, context->launches, context->call_id, owner, owner_id);
    context->last_launch = 0;
}

/* Of a launch the wrapper may know the name where CUPTI does not tell it. */
static void publish_nodes(struct kernel_timing_context *context, enum trace_owner owner, uint64_t owner_id)
{
    bool named = trace_owner_is_launch(owner) && context->launched;
    struct trace_thread *thread = named ? trace_thread_now() : NULL;
    uint64_t name_id = thread ? trace_name_intern(thread, context->launched) : 0;
    graph_nodes_publish(context->last_node, context->call_id, owner, owner_id, name_id);
    context->launched = NULL;
}

/* A call that never came back left its pair of events behind. */
static void begin_events(struct kernel_timing_context *context, void *stream)
{
    if (context->event_ticket)
        event_timing_after(context->event_ticket, 0, TRACE_OWNER_NONE, 0);
    context->event_ticket = event_timing_before(stream);
    if (context->event_ticket)
        context->at_end |= KERNEL_TIMING_EVENTS;
}

void kernel_timing_enter_slowly(struct kernel_timing_context *context, void *known_stream, uint64_t call_id)
{
    void *stream = known_stream == EVENT_TIMING_NO_STREAM ? NULL : known_stream;
    kernel_timing_start_if_needed(stream);
    kernel_timing_call_begin(context, call_id);
    enum kernel_timing_state state = kernel_timing_state();
    if (state == KERNEL_TIMING_IDLE || state == KERNEL_TIMING_STARTING) {
        context->at_end |= KERNEL_TIMING_EARLY;
        context->stream = stream;
    }
    if (!atomic_load_explicit(&devices_told, memory_order_relaxed))
        context->at_end |= KERNEL_TIMING_UNTOLD;
    if (event_timing_is_on())
        begin_events(context, known_stream);
    if (graph_capture_asks())
        graph_capture_begin(context, stream);
}

/* The thread tells as well, and more; but a worker may be gone by _exit() before that thread first runs. */
static void tell_devices(void)
{
    int errno_before = errno;
    enum kernel_timing_state state = kernel_timing_state();
    bool started = state == KERNEL_TIMING_ON || state == KERNEL_TIMING_OFF;
    if (started && !atomic_exchange(&devices_told, 1)) {
        static _Atomic int tries;
        if (!device_facts_write_early() && atomic_fetch_add(&tries, 1) < DEVICE_EARLY_TRIES)
            atomic_store(&devices_told, 0);
        attention_renew();
    }
    errno = errno_before;
}

void kernel_timing_external_push(struct kernel_timing_context *context, uint64_t call_id)
{
    int errno_before = errno;
    if (cupti_session_push(call_id))
        context->at_end |= KERNEL_TIMING_PUSHED;
    errno = errno_before;
}

static void external_pop(const struct kernel_timing_context *context, enum trace_owner owner, uint64_t owner_id)
{
    int errno_before = errno;
    cupti_session_pop();
    errno = errno_before;
    launch_join_external_publish(context->call_id, owner, owner_id);
}

/* Calls that succeed though the driver isn't to be found: looking for it takes the loader's lock, so it is done less and
 * less often then. */
static _Atomic int driver_is_not_needed;

static void early_call_ended(void *stream, bool was_timed)
{
    if (!was_timed)
        __atomic_fetch_add(&trace_writer_counters()->calls_before_timing, 1, __ATOMIC_RELAXED);
    kernel_timing_start_if_needed(stream);
    if (!cuda_driver_bound() && !atomic_load_explicit(&driver_is_not_needed, memory_order_relaxed))
        atomic_store_explicit(&driver_is_not_needed, 1, memory_order_relaxed);
}

void kernel_timing_settle(struct kernel_timing_context *context, enum trace_owner owner, uint64_t owner_id)
{
    uint32_t at_end = context->at_end;
    bool launch_seen = context->last_launch != 0; /* another thread started the timing meanwhile */
    context->at_end = 0;
    if (at_end & KERNEL_TIMING_EVENTS) {
        event_timing_after(context->event_ticket, context->call_id, owner, owner_id);
        context->event_ticket = 0;
    }
    if (at_end & KERNEL_TIMING_CAPTURED)
        graph_capture_end(context, owner, owner_id);
    if (at_end & KERNEL_TIMING_NODES) {
        publish_nodes(context, owner, owner_id);
    }
    if (launch_seen)
        publish(context, owner, owner_id);
    if (at_end & KERNEL_TIMING_PUSHED)
        external_pop(context, owner, owner_id);
    context->call_id = 0;
    if (at_end & KERNEL_TIMING_EARLY && owner != TRACE_OWNER_NONE)
        early_call_ended(context->stream, launch_seen);
    bool may_ask = atomic_load_explicit(&graph_capture_ongoing, memory_order_relaxed) <= 0; /* a later call does */
    if (at_end & KERNEL_TIMING_UNTOLD && owner != TRACE_OWNER_NONE && may_ask)
        tell_devices();
}

/* ---- ticks ---- */

static void at_exit(void)
{
    if (!trace_writer_is_own())
        return; /* a child whose parent's this is: no thread of ours lives here */
    kernel_timing_finish(settings.exit_timeout_ms * ms);
}

static void note_dropped(uint64_t dropped)
{
    struct trace_counters *counters = trace_writer_counters();
    if (dropped == CUPTI_DROPS_UNTOLD)
        __atomic_fetch_add(&counters->cupti_drops_untold, 1, __ATOMIC_RELAXED);
    else if (dropped)
        __atomic_fetch_add(&counters->cupti_records_dropped, dropped, __ATOMIC_RELAXED);
}

/* False: somebody waits for something else, the other buffers can wait. */
static bool take_buffer(uint8_t *buffer, size_t valid_bytes)
{
    kernel_records_consume(buffer, valid_bytes);
    return !atomic_load(&give_up_asked) || atomic_load(&given_up);
}

static void take_records(bool last)
{
    uint64_t cpu_ns = own_cost_cpu_ns(), seen = kernel_records_seen();
    unsigned buffers = activity_buffers_take(take_buffer);
    bool any = buffers != 0;
    kernel_records_retry(last);
    if (any)
        own_cost_note_records(kernel_records_seen() - seen, own_cost_cpu_ns() - cpu_ns, buffers,
                              activity_buffers_most_bytes());
    if (any || last)
        note_dropped(cupti_session_take_dropped());
    if (any && !ticking.exit_handler_renewed) {
        /* Exit handlers run newest first, and CUPTI may register its own as late as with the first context: ours has to
         * run before them. */
        ticking.exit_handler_renewed = true;
        atexit(at_exit);
    }
}

/* Said once: what a graph's kernels are is then not known, or not of all. */
static void note_graph_losses(void)
{
    static bool refused_noted, distrust_noted;
    uint64_t refused = graph_nodes_refused();
    if (refused && !refused_noted)
        trace_note(trace_thread_get(), TRACE_NOTE_GRAPH_NODES, refused < INT32_MAX ? (int32_t)refused : INT32_MAX,
                   "more nodes of CUDA graphs than are followed (%d): the kernels of others stand under their names",
                   GRAPH_NODES_MOST);
    if (graph_nodes_distrusted() && !distrust_noted)
        trace_note(trace_thread_get(), TRACE_NOTE_GRAPH_NODES, 0,
                   "an executable graph was updated in a way that this CUPTI does not tell of: kernels of graphs stand "
                   "under their names");
    refused_noted |= refused != 0;
    distrust_noted |= graph_nodes_distrusted();
}

/* CUPTI gives back buffers by itself when they are full; a flush also those that are not, as far as their records are
 * complete. While nothing new arrives it is asked less and less often. */
static void flush_if_due(uint64_t now_ns)
{
    uint64_t period_ns = settings.flush_period_ms * ms;
    bool launched = cupti_session_take_launched() || (!cupti_session_sees_launches() && cupti_session_was_used());
    bool heard = launched && timing_window_was_open();
    if (heard)
        record_silence_launched();
    if (heard && ticking.flush_wait_ns != period_ns) {
        ticking.flush_wait_ns = period_ns;
        ticking.flush_due_ns = now_ns + period_ns;
    }
    if (!ticking.flush_wait_ns || now_ns < ticking.flush_due_ns)
        return;
    cupti_session_flush();
    take_records(false);
    graph_nodes_drained();
    note_graph_losses();
    timing_delivery_flushed();
    uint64_t seen = kernel_records_seen();
    record_silence_flushed(seen, now_ns, false);
    uint64_t wait_ns = heard || seen != ticking.seen_at_flush ? period_ns : ticking.flush_wait_ns * 2;
    ticking.seen_at_flush = seen;
    ticking.flush_wait_ns = wait_ns < FLUSH_BACKOFF_MS * ms ? wait_ns : FLUSH_BACKOFF_MS * ms;
    ticking.flush_due_ns = clock_monotonic_ns() + ticking.flush_wait_ns;
}

/* The ids of kernels are none that launch callbacks gave: over to external correlation, or openly unjoined. The mutex
 * keeps this apart from the process leaving. */
static void change_join_if_needed(void)
{
    uint64_t kernels = kernel_records_mismatched();
    if (!kernels)
        return;
    kernel_records_stop_watching();
    uint64_t since_ns = cupti_session_timestamp();
    bool external = cupti_session_go_external();
    if (external) {
        kernel_records_go_external(since_ns);
        pthread_mutex_lock(&mutex);
        if (!finishing)
            set_state_and_join(KERNEL_TIMING_ON, true);
        pthread_mutex_unlock(&mutex);
        cupti_session_drop_callbacks();
    }
    trace_note(trace_thread_get(), TRACE_NOTE_JOIN, kernels < INT32_MAX ? (int32_t)kernels : INT32_MAX,
               "the first %llu kernels have other correlation ids than launches: %s", (unsigned long long)kernels,
               external ? "later ones are joined by external correlation"
                        : "none can be joined to calls, external correlation is refused");
}

static void anchor_now(void)
{
    uint64_t cupti_ns = cupti_session_timestamp();
    struct trace_thread *thread = trace_thread_get();
    if (cupti_ns && thread)
        trace_anchor(thread, cupti_ns);
}

/* CUPTI is not ours to ask, or no more: captures are followed by what streams say, and launches counted. */
static void follow_graphs_alone(const struct cuda_driver *driver)
{
    bool follow = settings.graphs == KERNEL_TIMING_GRAPHS_AUTO || settings.graphs == KERNEL_TIMING_GRAPHS_CAPTURE;
    graph_events_end();
    graph_calls_open(NULL, driver, false, follow);
}

/* ---- another client of CUPTI ---- */

static void note_given_up(uint64_t since_ns)
{
    char who[512] = "another client";
    other_clients_describe(who, sizeof who);
    trace_note(trace_thread_get(), TRACE_NOTE_PROFILER, 0,
               "%s: CUPTI was handed over to it, kernels were timed for %.3f s until then", who,
               (double)(clock_monotonic_ns() - since_ns) / 1e9);
}

/* The thread that asked goes on when it sees the state; what was handed over is read after that. */
static void give_up_if_asked(void)
{
    if (!atomic_load(&give_up_asked) || atomic_load(&given_up))
        return;
    anchor_now();
    timing_mode_happens(TIMING_MODE_PROFILER);
    timing_window_close(TRACE_WINDOW_PROFILER);
    note_dropped(cupti_session_stop());
    uint64_t ended_ns = clock_realtime_ns();
    while (cupti_session_is_shared() && activity_buffers_take(take_buffer))
        continue;
    cupti_session_close();
    follow_graphs_alone(cuda_driver_bound());
    atomic_store(&given_up, 1);
    note_given_up(started_ns);
    pthread_mutex_lock(&mutex);
    if (!finishing)
        set_state(KERNEL_TIMING_OFF);
    pthread_mutex_unlock(&mutex);
    take_records(false);
    kernel_records_end(ended_ns);
}

static void ask_to_give_up(void)
{
    pthread_mutex_lock(&mutex);
    atomic_store(&give_up_asked, 1);
    if (thread_runs)
        pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&mutex);
}

/* What another thread is starting is asked for once it has started. */
void kernel_timing_give_up(bool shares, uint64_t timeout_ns)
{
    const uint64_t until_ns = clock_monotonic_ns() + timeout_ns;
    enum kernel_timing_state state;
    while ((state = kernel_timing_state()) == KERNEL_TIMING_STARTING || state == KERNEL_TIMING_ON) {
        if (state == KERNEL_TIMING_ON && shares && cupti_session_is_shared())
            return;
        if (state == KERNEL_TIMING_ON)
            ask_to_give_up();
        if (clock_monotonic_ns() >= until_ns)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
}

bool kernel_timing_was_given_up(void)
{
    return atomic_load(&given_up);
}

static void write_devices(void)
{
    ticking.devices_written = device_facts_write();
    if (ticking.devices_written) {
        atomic_store(&devices_told, 1);
        attention_renew();
    }
}

/* Counts of launches of graphs, by the timing's thread while kernels are timed, else by the helper. */
static void write_graphs_if_due(uint64_t now_ns)
{
    static uint64_t last_ns;
    if (now_ns - last_ns < (lengths_are_watched() ? LENGTHS_MS : GRAPHS_MS) * ms)
        return;
    bool lengths = lengths_begin();
    graph_calls_note_if_used(kernel_records_graph_kernels() != 0);
    graph_calls_note_losses();
    bool whole = graph_launches_write(trace_thread_get(), false);
    if (lengths) /* launches wait in its log until the nodes of their graphs are known */
        lengths_end(false);
    last_ns = whole ? now_ns : 0;
}

/* At the end, when there is no next time; waits a little for blocks, which the helper goes on reserving. */
static void write_all_graphs(void)
{
    bool lengths = lengths_begin();
    graph_calls_note_if_used(kernel_records_graph_kernels() != 0);
    graph_calls_note_losses();
    for (unsigned i = 0; i < 50 && !graph_launches_write(trace_thread_get(), true); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (lengths)
        lengths_end(true);
}

static void tick(void)
{
    uint64_t now_ns = clock_monotonic_ns();
    if (!ticking.devices_written && now_ns >= ticking.devices_due_ns) {
        write_devices();
        uint64_t wait_ns = ticking.devices_wait_ns ? ticking.devices_wait_ns * 2 : DEVICE_RETRY_MS * ms;
        ticking.devices_wait_ns = wait_ns < DEVICE_BACKOFF_MS * ms ? wait_ns : DEVICE_BACKOFF_MS * ms;
        ticking.devices_due_ns = now_ns + ticking.devices_wait_ns;
    }
    ticking.events_wait = event_timing_tend();
    if (is_on())
        give_up_if_asked();
    if (atomic_load(&given_up))
        take_records(false);
    if (is_on() || timing_mode_now() == TRACE_TIMING_EVENTS) {
        timing_mode_note_graph_kernels(kernel_records_graph_kernels());
        timing_mode_tick();
        timing_window_tick(now_ns);
    }
    if (!is_on())
        return;
    write_graphs_if_due(now_ns);
    take_records(false);
    flush_if_due(now_ns);
    change_join_if_needed();
    if (now_ns >= ticking.anchor_due_ns) {
        anchor_now();
        ticking.anchor_due_ns = now_ns + ANCHOR_MS * ms;
    }
}

static void last_tick(void)
{
    if (!ticking.devices_written)
        write_devices();
    if (is_on() && cupti_session_take_launched() && timing_window_was_open())
        record_silence_launched();
    timing_window_end();
    event_timing_last_tend();
    if (atomic_load(&given_up))
        take_records(true);
    if (!is_on())
        return;
    if (cupti_session_was_used())
        cupti_session_flush();
    take_records(true);
    record_silence_flushed(kernel_records_seen(), clock_monotonic_ns(), true);
    note_graph_losses();
    anchor_now();
}

void kernel_timing_tend(void)
{
    timing_window_take_marks();
    if (atomic_load_explicit(&inline_ticks, memory_order_relaxed))
        tick();
    else if (kernel_timing_state() == KERNEL_TIMING_OFF)
        write_graphs_if_due(clock_monotonic_ns());
}

/* ---- the thread ---- */

static struct timespec monotonic_at(uint64_t at)
{
    return (struct timespec){.tv_sec = (time_t)(at / 1000000000), .tv_nsec = (long)(at % 1000000000)};
}

static struct timespec monotonic_after(uint64_t ns)
{
    return monotonic_at(clock_monotonic_ns() + ns);
}

static uint64_t sooner(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* Sleeps until the next tick; false: the process is leaving. */
static bool sleep_a_period(void)
{
    bool busy = is_on() && ticking.flush_wait_ns == settings.flush_period_ms * ms;
    uint64_t period_ns = (busy ? PERIOD_BUSY_MS : PERIOD_IDLE_MS) * ms;
    if (event_timing_is_started())
        period_ns = (ticking.events_wait ? PERIOD_EVENTS_MS : PERIOD_BUSY_MS) * ms;
    if (!ticking.devices_written && ticking.devices_wait_ns < period_ns)
        period_ns = ticking.devices_wait_ns;
    struct timespec until = monotonic_at(sooner(clock_monotonic_ns() + period_ns, timing_window_due_ns()));
    int woken = 0;
    pthread_mutex_lock(&mutex);
    while (!finishing && woken != ETIMEDOUT && (atomic_load(&given_up) || !atomic_load(&give_up_asked)))
        woken = pthread_cond_timedwait(&wake, &mutex, &until);
    bool leave = finishing;
    pthread_mutex_unlock(&mutex);
    return !leave;
}

int kernel_timing_thread_id(void)
{
    return atomic_load(&thread_id);
}

static void *run_thread(void *unused)
{
    atomic_store(&thread_id, (int)syscall(SYS_gettid));
    bool stay = true;
    while (stay && (is_on() || atomic_load(&given_up) || timing_mode_now() == TRACE_TIMING_EVENTS ||
                    !ticking.devices_written)) {
        tick();
        own_cost_note_cpu(OWN_COST_TIMING);
        stay = sleep_a_period();
    }
    last_tick();
    own_cost_note_cpu(OWN_COST_TIMING);
    pthread_mutex_lock(&mutex);
    finished = true;
    pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static bool make_thread(void)
{
    sigset_t all, before;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* A signal must never be handled here instead of in one of the application's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = pthread_create(&thread, &attributes, run_thread, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (made)
        pthread_setname_np(thread, "rooftap-timing");
    return made;
}

static void start_thread(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&wake, &attributes);
    pthread_condattr_destroy(&attributes);
    bool made = make_thread();
    pthread_mutex_lock(&mutex);
    thread_runs = made;
    pthread_mutex_unlock(&mutex);
    atomic_store(&inline_ticks, !made);
}

/* ---- start ---- */

/* In a forked child CUDA is unusable and the thread is gone. */
static void in_forked_child(void)
{
    atomic_store(&inline_ticks, 0);
    timing_window_in_child();
    event_timing_stop();
    lengths_stop();
    set_state(KERNEL_TIMING_FINISHED);
}

static enum trace_timing_mode mode_asked(const struct kernel_timing_settings *wanted)
{
    if (wanted->off)
        return TRACE_TIMING_OFF;
    if (wanted->events)
        return TRACE_TIMING_EVENTS;
    return wanted->mode == TRACE_TIMING_OFF ? TRACE_TIMING_AUTO : wanted->mode;
}

void kernel_timing_configure(const struct kernel_timing_settings *wanted)
{
    if (kernel_timing_state() != KERNEL_TIMING_IDLE && !trace_writer_is_open())
        in_forked_child(); /* by bare clone(), where no fork handler ran */
    settings.off = wanted->off;
    settings.events = mode_asked(wanted) == TRACE_TIMING_EVENTS;
    settings.mode = wanted->off || wanted->mode == TRACE_TIMING_OFF ? TRACE_TIMING_AUTO : wanted->mode;
    settings.join = wanted->join;
    settings.cupti_path = wanted->cupti_path;
    settings.cupti_api = wanted->cupti_api;
    settings.graphs = wanted->graphs;
    if (wanted->flush_period_ms)
        settings.flush_period_ms = wanted->flush_period_ms;
    if (wanted->exit_timeout_ms)
        settings.exit_timeout_ms = wanted->exit_timeout_ms;
    if (wanted->buffer_count)
        settings.buffer_count = wanted->buffer_count;
    if (wanted->buffer_bytes)
        settings.buffer_bytes = wanted->buffer_bytes;
    timing_mode_configure(mode_asked(wanted), wanted->graph_kernels_most);
    timing_sample_configure(wanted->sample_window_us * 1000ull, wanted->sample_budget_ppm, wanted->sample_seed);
    timing_window_configure(&wanted->window);
}

static void start_events(const struct cuda_driver *driver)
{
    bool on = event_timing_start(driver);
    trace_note(trace_thread_get(), on ? TRACE_NOTE_TIMING_ON : TRACE_NOTE_TIMING_OFF, 0,
               on ? "events of CUDA around calls and launches, without CUPTI"
                  : "this driver lacks functions that timing by events needs");
}

/* Before timing's thread runs. */
static void begin_mode(bool on)
{
    bool begun = on || settings.off || event_timing_is_on();
    enum timing_mode_event event = begun ? TIMING_MODE_BEGUN : TIMING_MODE_REFUSED;
    if (on && timing_mode_asked() == TRACE_TIMING_GRAPH && timed_kinds_are_on() && !timed_kinds_graphs_whole())
        event = TIMING_MODE_GRAPHS_REFUSED;
    timing_mode_begin(event, on ? cupti_session_version() : 0);
    bool events_wait = event_timing_is_on() && !timing_window_opens_at_once(TRACE_TIMING_EVENTS);
    if (events_wait)
        event_timing_switch(false);
    timing_window_begin(on ? timed_kinds_are_on() : event_timing_is_on());
}

static void start(const struct cuda_driver *driver, bool injected)
{
    enum cupti_session_outcome outcome = CUPTI_SESSION_REFUSED;
    if (settings.off)
        trace_note(trace_thread_get(), TRACE_NOTE_TIMING_OFF, 0, "switched off by the user");
    else if (settings.events)
        start_events(driver);
    else
        outcome = cupti_session_start(&settings, driver, injected, timing_window_opens_at_once(timing_mode_asked()));
    if (outcome == CUPTI_SESSION_LATER) {
        set_state(KERNEL_TIMING_IDLE);
        return;
    }
    bool on = outcome == CUPTI_SESSION_STARTED;
    if (!on) {
        graph_nodes_records_come(false);
        follow_graphs_alone(driver);
    }
    begin_mode(on);
    started_ns = clock_monotonic_ns();
    set_state_and_join(on ? KERNEL_TIMING_ON : KERNEL_TIMING_OFF, on && cupti_session_is_external());
    pthread_atfork(NULL, NULL, in_forked_child);
    start_thread(); /* also without CUPTI: for the device facts */
    atexit(at_exit);
}

static bool may_start(void)
{
    int idle = KERNEL_TIMING_IDLE;
    return trace_writer_is_open() &&
           atomic_compare_exchange_strong(&kernel_timing_state_now, &idle, KERNEL_TIMING_STARTING);
}

void kernel_timing_start_from_injection(void)
{
    int errno_before = errno;
    const struct cuda_driver *driver = cuda_driver_mapped();
    if (driver && may_start())
        start(driver, true);
    errno = errno_before;
}

/* Any answer but "no" counts as capturing; a thread without a context captures nothing. */
static bool is_capturing(const struct cuda_driver *driver, void *stream)
{
    enum { NO_CONTEXT = 201 };
    int status = 0;
    if (!driver->cuStreamIsCapturing)
        return false;
    int result = driver->cuStreamIsCapturing(stream, &status);
    return result != NO_CONTEXT && (result != 0 || status != 0);
}

/* Looks for a driver that isn't mapped yet, where calls do without it only at a thread's 1st, 2nd, 4th ... and each 1024th
 * chance. */
static const struct cuda_driver *look_for_driver(void)
{
    struct trace_thread *thread = trace_thread_now();
    struct kernel_timing_context *context = thread ? kernel_timing_context(thread) : NULL;
    if (context && atomic_load_explicit(&driver_is_not_needed, memory_order_relaxed)) {
        if (context->until_look-- != 0)
            return NULL;
        context->until_look = context->look_step; /* 0, 1, 3, 7 ... */
        context->look_step = context->look_step < 1023 ? context->look_step * 2 + 1 : 1023;
    }
    return cuda_driver_mapped();
}

void kernel_timing_start_slowly(void *stream)
{
    int errno_before = errno;
    const struct cuda_driver *bound = cuda_driver_bound(), *driver = bound ? bound : look_for_driver();
    if (cuda_driver_is_initialized(driver) && !is_capturing(driver, NULL) &&
        (!stream || !is_capturing(driver, stream)) && may_start()) {
        /* Another thread may capture in the mode that forbids everybody's unsafe calls; ours do not touch its stream. */
        int mode = CUDA_CAPTURE_RELAXED;
        bool exchanged =
            driver->cuThreadExchangeStreamCaptureMode && driver->cuThreadExchangeStreamCaptureMode(&mode) == 0;
        start(driver, false);
        if (exchanged)
            driver->cuThreadExchangeStreamCaptureMode(&mode);
    }
    errno = errno_before;
}

/* ---- exit ---- */

static bool wait_for_thread(uint64_t timeout_ns)
{
    struct timespec until = monotonic_after(timeout_ns);
    int waited = 0;
    pthread_mutex_lock(&mutex);
    finishing = true;
    if (thread_runs)
        pthread_cond_broadcast(&wake);
    while (thread_runs && !finished && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&wake, &mutex, &until);
    bool done = thread_runs ? finished : !atomic_load(&inline_ticks);
    pthread_mutex_unlock(&mutex);
    return done;
}

bool kernel_timing_finish(uint64_t timeout_ns)
{
    enum kernel_timing_state state = kernel_timing_state();
    timing_window_take_marks();
    if (state == KERNEL_TIMING_FINISHED)
        return true;
    if (state == KERNEL_TIMING_IDLE || state == KERNEL_TIMING_STARTING) {
        set_state(KERNEL_TIMING_FINISHED);
        timing_window_leave();
        return true;
    }
    if (atomic_exchange(&finish_begun, 1))
        return true; /* another thread is at it */
    bool done = wait_for_thread(timeout_ns);
    timing_window_leave();
    event_timing_stop();
    write_all_graphs();
    if (!done && state == KERNEL_TIMING_ON)
        trace_note(trace_thread_get(), TRACE_NOTE_TIMING_CUT, 0,
                   "CUPTI did not hand over within %llu ms what it held at exit: the last kernels may be missing",
                   (unsigned long long)(timeout_ns / ms));
    set_state(KERNEL_TIMING_FINISHED);
    return done;
}
