/* SPDX-License-Identifier: Apache-2.0 */
/* Start, helper thread, fork and exit. Nothing happens before the first call that does work on the GPU: a shell or a
 * compiler that inherited the preload stays without file, thread or descriptor. Whether this process has started stands in
 * a page that the kernel wipes on fork, so a child begins anew with a file and a helper of its own, at its own first call. */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cupti/kernel_timing.h"
#include "cupti/lengths.h"
#include "cupti/overhead_budget.h"
#include "cupti/own_cost.h"
#include "preload/audit_gate.h"
#include "preload/blas_copies.h"
#include "preload/driver_entries.h"
#include "preload/entries.h"
#include "preload/host_threads.h"
#include "preload/job_rank.h"
#include "preload/length_rules.h"
#include "preload/parameter_plan.h"
#include "preload/real_symbol.h"
#include "preload/session_search.h"
#include "preload/settings.h"
#include "preload/symbol_lookup.h"
#include "preload/unused_libraries.h"
#include "trace/refusals.h"
#include "trace/trace_writer.h"

enum phase { PHASE_IDLE = 0, PHASE_STARTING, PHASE_RUNNING, PHASE_LEAVING };

struct process_state {  /* wiped to zeros in a forked child */
    _Atomic int pid;    /* whose this is: a child of vfork() sees its parent's */
    _Atomic int phase;  /* enum phase */
    _Atomic int asleep; /* futex of the helper */
    _Atomic int stop;
};

enum {
    HELPER_STACK_BYTES = 1 << 20, /* CUPTI delivers buffers on the flushing thread; only touched pages cost */
    HELPER_SLEEP_SHORTEST_MS = 2,
    HELPER_SLEEP_LONGEST_MS = 10, /* the blocks kept ready last for 30 000 calls: 3 M/s at least */
    ANCHOR_PERIOD_MS = 1000,
    HOST_LOOK_MS = 200,
    COPIES_LOOK_SHORTEST_MS = 250, /* less and less often: in a large process it is a millisecond */
    COPIES_LOOK_LONGEST_MS = 64000,
    STATE_BYTES = 4096,
    HOOK_LEVEL_BYTES = 32,
    RANK_BYTES = 384,
};

_Atomic bool preload_off;
_Atomic unsigned preload_incarnation;
static _Atomic(struct process_state *) state_page;
static struct session_folders settings_folders;
static struct settings settings;
static bool session_is_left_out; /* no word of it in the environment */
static _Atomic bool settings_are_read;
static int loaded_by; /* pid; a forked child's is another, and its environment as the kernel shows it is its parent's */
static sigset_t host_mask; /* of the thread that started the recording */

int InitializeInjection(void);

/* ---- settings: read when loaded, since hosts edit their environment; copied, since some overwrite that memory ---- */

static void read_settings(void)
{
    settings_read(&settings);
    session_folders_keep(&settings_folders, &settings);
    session_is_left_out = !getenv(SETTING_DIR);
    atomic_store_explicit(&settings_are_read, true, memory_order_release);
}

__attribute__((constructor)) static void loaded(void)
{
    int saved_errno = errno;
    read_settings();
    loaded_by = (int)getpid();
    errno = saved_errno;
}

/* ---- the state page ---- */

/* Before Linux 4.14 nothing wipes the page: then children are noticed where fork handlers run, and by bare clone() not. */
static void wipe_state(void)
{
    struct process_state *page = atomic_load_explicit(&state_page, memory_order_relaxed);
    if (page)
        memset(page, 0, sizeof *page);
}

static struct process_state *state_get(void)
{
    struct process_state *page = atomic_load_explicit(&state_page, memory_order_acquire);
    if (page)
        return page;
    page = mmap(NULL, STATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (madvise(page, STATE_BYTES, MADV_WIPEONFORK) != 0)
        pthread_atfork(NULL, NULL, wipe_state);
    struct process_state *expected = NULL;
    if (!atomic_compare_exchange_strong(&state_page, &expected, page)) {
        munmap(page, STATE_BYTES);
        page = expected;
    }
    return page;
}

/* False in a process that runs in the memory of another, as the child of vfork() does: nothing of this is its own. */
static bool state_is_own(struct process_state *state)
{
    int owner = 0, me = (int)getpid();
    return atomic_compare_exchange_strong(&state->pid, &owner, me) || owner == me;
}

void preload_claim_process(void)
{
    struct process_state *state = settings.disable ? NULL : state_get();
    if (state)
        state_is_own(state);
}

/* ---- the helper: reserves blocks ahead, fetches kernel times, relates clocks ---- */

static void helper_sleep(struct process_state *state, unsigned milliseconds)
{
    struct timespec t = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    syscall(SYS_futex, &state->asleep, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
}

/* A host whose main() ends by pthread_exit() lives until its last thread has returned, and that must not be one of ours, nor
 * one that CUPTI started from them and that never returns: in their place we do what the host's last would, the library's
 * exit(0). */
static void follow_host(void)
{
    kernel_timing_finish((uint64_t)settings.exit_wait_ms * 1000000);
    pthread_sigmask(SIG_SETMASK, &host_mask, NULL); /* the host's exit handlers run here */
    exit(0);
}

/* Names of functions that the host got and that we don't stand in front of, as soon as there are some, and more. */
static void note_escaped(void)
{
    static _Atomic uint64_t noted; /* and in whose trace */
    char names[512];
    unsigned count = driver_entries_list_escaped(names, sizeof names);
    struct trace_thread *thread = count ? trace_thread_get() : NULL;
    uint64_t now = (uint64_t)atomic_load(&preload_incarnation) << 32 | count;
    if (!thread || atomic_exchange(&noted, now) == now)
        return;
    trace_note(thread, TRACE_NOTE_ESCAPED, (int32_t)count, "%u entry points escaped: %s", count, names);
}

static void *helper_run(void *argument)
{
    struct process_state *state = argument;
    unsigned sleep_ms = HELPER_SLEEP_SHORTEST_MS, since_anchor_ms = 0, since_look_ms = 0;
    unsigned since_copies_ms = 0, copies_wait_ms = COPIES_LOOK_SHORTEST_MS;
    prctl(PR_SET_NAME, "rooftap", 0, 0, 0);
    const int own = (int)syscall(SYS_gettid);
    while (!atomic_load_explicit(&state->stop, memory_order_acquire)) {
        bool busy = trace_writer_tend();
        kernel_timing_tend();
        own_cost_note_cpu(OWN_COST_HELPER);
        overhead_budget_tend();
        own_cost_write(false);
        note_escaped();
        if (since_anchor_ms >= ANCHOR_PERIOD_MS) {
            trace_anchor(trace_thread_get(), 0);
            since_anchor_ms = 0;
        }
        if (since_look_ms >= HOST_LOOK_MS) {
            if (host_threads_are_gone(own, kernel_timing_thread_id()))
                follow_host();
            since_look_ms = 0;
        }
        if (since_copies_ms >= copies_wait_ms) {
            blas_copies_note();
            since_copies_ms = 0;
            copies_wait_ms = copies_wait_ms * 2 < COPIES_LOOK_LONGEST_MS ? copies_wait_ms * 2 : COPIES_LOOK_LONGEST_MS;
        }
        sleep_ms = busy ? HELPER_SLEEP_SHORTEST_MS : sleep_ms * 2;
        if (sleep_ms > HELPER_SLEEP_LONGEST_MS)
            sleep_ms = HELPER_SLEEP_LONGEST_MS;
        helper_sleep(state, sleep_ms);
        since_anchor_ms += sleep_ms;
        since_look_ms += sleep_ms;
        since_copies_ms += sleep_ms;
    }
    return NULL;
}

/* With every signal blocked, so that the host's handlers run on the host's threads. 0 or an errno. */
static int helper_start(struct process_state *state)
{
    pthread_attr_t attributes;
    pthread_t helper;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    pthread_attr_setstacksize(&attributes, HELPER_STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&helper, &attributes, helper_run, state);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

/* ---- exit ---- */

/* Registered at the first call, so it runs before the handlers of the libraries that were there before it. */
static void leave(void)
{
    struct process_state *state = atomic_load_explicit(&state_page, memory_order_acquire);
    if (!state || atomic_load(&state->phase) != PHASE_RUNNING || !state_is_own(state))
        return;
    kernel_timing_finish((uint64_t)settings.exit_wait_ms * 1000000);
}

/* Nothing was recorded, and nothing failed. */
static void note_unused(const struct process_state *state)
{
    bool idle = !state || atomic_load(&state->phase) == PHASE_IDLE;
    if (idle && !settings.disable && settings.dir && atomic_load(&settings_are_read))
        unused_libraries_note(settings.dir);
}

__attribute__((destructor)) static void unloaded(void)
{
    struct process_state *state = atomic_load_explicit(&state_page, memory_order_acquire);
    int running = PHASE_RUNNING;
    note_unused(state);
    if (!state || !state_is_own(state) || !atomic_compare_exchange_strong(&state->phase, &running, PHASE_LEAVING))
        return;
    kernel_timing_finish((uint64_t)settings.exit_wait_ms * 1000000);
    atomic_store_explicit(&state->stop, 1, memory_order_release);
    note_escaped();
    blas_copies_note();
    own_cost_write(true);
    trace_writer_end();
}

/* ---- start ---- */

static const char *hook_level(char text[HOOK_LEVEL_BYTES])
{
    Dl_info found, own;
    void *symbol = dlsym(RTLD_DEFAULT, "cublasGemmEx");
    bool ours =
        symbol && dladdr(symbol, &found) && dladdr((void *)&preload_off, &own) && found.dli_fbase == own.dli_fbase;
    dlerror(), dlerror();
    if (!ours)
        return "injection";
    snprintf(text, HOOK_LEVEL_BYTES, "preload%s%s", symbol_lookup_is_on() ? ", dlsym" : "",
             audit_gate_is_attached() ? ", audit" : "");
    return text;
}

static void write_facts(struct trace_thread *thread)
{
    char level[HOOK_LEVEL_BYTES], rank[RANK_BYTES];
    for (unsigned id = 1; id < ENTRY_COUNT; id++)
        trace_entry_write(thread, id, entry_name(id));
    trace_note(thread, TRACE_NOTE_HOOK_LEVEL, 0, "%s", hook_level(level));
    if (loaded_by == (int)getpid() && job_rank_text(rank, sizeof rank))
        trace_note(thread, TRACE_NOTE_RANK, 0, "%s", rank);
    if (symbol_lookup_is_lost())
        trace_note(thread, TRACE_NOTE_ESCAPED, TRACE_UNKNOWN,
                   "look-ups by name are not seen: the C library's own dlsym is not where it is known to be");
    trace_anchor(thread, 0);
}

static enum kernel_timing_join join_of(enum setting_join join)
{
    switch (join) {
    case SETTING_JOIN_CORRELATION:
        return KERNEL_TIMING_JOIN_CORRELATION;
    case SETTING_JOIN_EXTERNAL:
        return KERNEL_TIMING_JOIN_EXTERNAL;
    default:
        return KERNEL_TIMING_JOIN_AUTO;
    }
}

static enum kernel_timing_cupti_api cupti_api_of(enum setting_cupti_api api)
{
    switch (api) {
    case SETTING_CUPTI_V1:
        return KERNEL_TIMING_CUPTI_V1;
    case SETTING_CUPTI_V2:
        return KERNEL_TIMING_CUPTI_V2;
    default:
        return KERNEL_TIMING_CUPTI_AUTO;
    }
}

static enum kernel_timing_graphs graphs_of(enum setting_graphs graphs)
{
    switch (graphs) {
    case SETTING_GRAPHS_CALLBACKS:
        return KERNEL_TIMING_GRAPHS_CALLBACKS;
    case SETTING_GRAPHS_CAPTURE:
        return KERNEL_TIMING_GRAPHS_CAPTURE;
    case SETTING_GRAPHS_OFF:
        return KERNEL_TIMING_GRAPHS_OFF;
    default:
        return KERNEL_TIMING_GRAPHS_AUTO;
    }
}

static enum trace_timing_mode mode_of(enum setting_timing timing)
{
    switch (timing) {
    case SETTING_TIMING_NODE:
        return TRACE_TIMING_NODE;
    case SETTING_TIMING_GRAPH:
        return TRACE_TIMING_GRAPH;
    case SETTING_TIMING_SAMPLED:
        return TRACE_TIMING_SAMPLED;
    case SETTING_TIMING_EVENTS:
        return TRACE_TIMING_EVENTS;
    default:
        return TRACE_TIMING_AUTO;
    }
}

static enum lengths_mode lengths_mode_of(enum setting_kv_lengths kv_lengths)
{
    return kv_lengths == SETTING_KV_OFF ? LENGTHS_OFF : kv_lengths == SETTING_KV_READ ? LENGTHS_READ : LENGTHS_WATCH;
}

/* Before the trace opens: from then on other threads' calls may start the timing. */
static void configure_timing(void)
{
    lengths_configure(lengths_mode_of(settings.kv_lengths));
    length_rules_configure(settings.kv_lengths == SETTING_KV_OFF ? NULL : settings.lengths);
    struct kernel_timing_settings timing = {.off = settings.timing == SETTING_TIMING_OFF,
                                            .mode = mode_of(settings.timing),
                                            .window = {.session_folder = settings.dir,
                                                       .delay_ns = settings.delay_ms >= SETTING_DELAY_NEVER_MS
                                                                       ? TIMING_WINDOW_NEVER
                                                                       : (uint64_t)settings.delay_ms * 1000000,
                                                       .duration_ns = (uint64_t)settings.duration_ms * 1000000},
                                            .sample_window_us = settings.sample_window_us,
                                            .sample_budget_ppm = settings.sample_budget_ppm,
                                            .sample_seed = (uint64_t)settings.sample_seed,
                                            .graph_kernels_most = (uint64_t)settings.graph_kernels_most,
                                            .graphs = graphs_of(settings.graphs),
                                            .join = join_of(settings.join),
                                            .cupti_api = cupti_api_of(settings.cupti_api),
                                            .exit_timeout_ms = settings.exit_wait_ms};
    if (!timing.exit_timeout_ms)
        timing.exit_timeout_ms = 1; /* 0 would mean its default */
    kernel_timing_configure(&timing);
    own_cost_open();
    overhead_budget_configure(settings.max_overhead_ppm);
}

/* Another thread is starting: its trace is what this one needs, the rest comes. Not for ever: that thread may have died. */
static bool wait_for_trace(struct process_state *state)
{
    const struct timespec pause = {0, 200000};
    for (int i = 0; i < 5000 && !trace_writer_is_open() && atomic_load(&state->phase) == PHASE_STARTING; i++)
        nanosleep(&pause, NULL);
    return trace_writer_is_open();
}

static void start_parts(struct process_state *state)
{
    struct trace_thread *thread = trace_thread_get();
    if (thread)
        write_facts(thread);
    int error = helper_start(state);
    if (error && thread)
        trace_note(thread, TRACE_NOTE_WRITER, error, "no helper thread: what follows is counted, not kept");
    atexit(leave);
}

/* MASK: the signals that the host's thread has blocked by itself. */
static bool start(const sigset_t *mask)
{
    if (!atomic_load_explicit(&settings_are_read, memory_order_acquire))
        read_settings(); /* called from the constructor of a library that was loaded before us */
    struct process_state *state = settings.disable ? NULL : state_get();
    if (!state) {
        atomic_store(&preload_off, true);
        return false;
    }
    if (!state_is_own(state))
        return false;
    int idle = PHASE_IDLE;
    if (!atomic_compare_exchange_strong(&state->phase, &idle, PHASE_STARTING))
        return wait_for_trace(state); /* once leaving, nothing opens again */
    host_mask = *mask;
    if (session_is_left_out && !settings.dir)
        session_search(&settings, &settings_folders);
    configure_timing();
    parameter_plan_configure(settings.parameters);
    trace_writer_redact_arguments(settings.redact_args);
    trace_writer_use_ring(settings.ring);
    bool wanted = !settings.disable && settings.dir;
    if (!wanted || !trace_writer_open(settings.dir)) {
        if (wanted)
            refusals_add(settings.dir, errno);
        atomic_store(&preload_off, true);
        atomic_store(&state->phase, PHASE_LEAVING); /* nobody need wait */
        return false;
    }
    atomic_fetch_add(&preload_incarnation, 1);
    start_parts(state);
    atomic_store(&state->phase, PHASE_RUNNING);
    return true;
}

/* With signals held back: a handler that calls cuBLAS while its own thread is in here would wait for itself. */
bool preload_start(void)
{
    int saved_errno = errno;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = start(&before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved_errno;
    return started;
}

struct trace_thread *preload_thread_slowly(void)
{
    struct trace_thread *thread = trace_thread_get();
    if (thread)
        return thread;
    if (atomic_load_explicit(&preload_off, memory_order_relaxed) || trace_writer_is_open() || !preload_start())
        return NULL;
    return trace_thread_get();
}

/* The driver calls this inside the application's own cuInit() if CUDA_INJECTION64_PATH names us; 1: all is well. */
PRELOAD_EXPORT int InitializeInjection(void)
{
    int saved_errno = errno;
    if (!atomic_load(&preload_off) && (trace_writer_is_open() ? trace_writer_is_own() : preload_start()))
        kernel_timing_start_from_injection();
    errno = saved_errno;
    return 1;
}
