/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI calls runs on application threads inside CUDA calls: it calls nothing of CUDA, takes no lock, and allocates
 * nothing. Starting happens inside a call of the application too, but once. */
#include "cupti/cupti_session.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cupti/activity_buffers.h"
#include "cupti/cupti_library.h"
#include "cupti/cupti_versions.h"
#include "cupti/graph_calls.h"
#include "cupti/graph_events.h"
#include "cupti/graph_nodes.h"
#include "cupti/kernel_records.h"
#include "cupti/launch_join.h"
#include "cupti/other_clients.h"
#include "cupti/own_cost.h"
#include "cupti/subscription.h"
#include "cupti/timed_kinds.h"
#include "trace/trace_writer.h"

static struct cupti_library cupti;
static uint32_t api_version;
static bool is_external;
static bool sees_launches;
static _Atomic int launched, launched_in_window;
static _Atomic int used;
static _Atomic int calls_launch;

/* ---- callbacks ---- */

/* Loads first: the line stays shared while many threads launch. */
static void note_launched(void)
{
    if (!atomic_load_explicit(&launched, memory_order_relaxed))
        atomic_store_explicit(&launched, 1, memory_order_relaxed);
    if (!atomic_load_explicit(&launched_in_window, memory_order_relaxed))
        atomic_store_explicit(&launched_in_window, 1, memory_order_relaxed);
    if (!atomic_load_explicit(&used, memory_order_relaxed))
        atomic_store_explicit(&used, 1, memory_order_relaxed);
}

static bool is_launch(uint32_t cbid)
{
    switch (cbid) {
    case CUPTI_CBID_cuLaunchKernel:
    case CUPTI_CBID_cuLaunchKernel_ptsz:
    case CUPTI_CBID_cuLaunchCooperativeKernel:
    case CUPTI_CBID_cuLaunchCooperativeKernel_ptsz:
    case CUPTI_CBID_cuLaunchKernelEx:
    case CUPTI_CBID_cuLaunchKernelEx_ptsz:
    case CUPTI_CBID_cuGraphLaunch:
    case CUPTI_CBID_cuGraphLaunch_ptsz:
        return true;
    default:
        return false;
    }
}

static void on_launch(uint32_t cbid, const struct cupti_callback_data *call)
{
    struct trace_thread *thread = trace_thread_now();
    struct kernel_timing_context *context = thread ? kernel_timing_context(thread) : NULL;
    if (call->callback_site != CUPTI_SITE_ENTER) {
        if (context && !(context->at_end & (KERNEL_TIMING_NODES | KERNEL_TIMING_CAPTURED)))
            context->launched = NULL;
        if (__builtin_expect(cbid == CUPTI_CBID_cuGraphLaunch || cbid == CUPTI_CBID_cuGraphLaunch_ptsz, 0))
            graph_events_launched(call);
        return;
    }
    if (context && context->call_id) {
        context->launched = call->symbol_name;
        context->launches = context->last_launch ? context->launches + 1 : 1;
        launch_join_note(call->correlation_id, context->call_id, &context->last_launch);
        if (!atomic_load_explicit(&calls_launch, memory_order_relaxed))
            atomic_store_explicit(&calls_launch, 1, memory_order_relaxed);
    } else {
        uint32_t no_chain = 0;
        launch_join_note(call->correlation_id, 0, &no_chain);
    }
    note_launched();
}

static void on_callback(void *user, int domain, uint32_t cbid, const void *data)
{
    (void)user;
    struct trace_thread *thread = trace_thread_now();
    uint64_t entered_ticks = own_cost_callback_begin(thread);
    if (__builtin_expect(domain == CUPTI_DOMAIN_RESOURCE, 0))
        graph_events_resource(cbid, data);
    else if (__builtin_expect(domain != CUPTI_DOMAIN_DRIVER_API || !is_launch(cbid), 0))
        graph_events_call(domain, cbid, data);
    else
        on_launch(cbid, data);
    if (__builtin_expect(entered_ticks != 0, 0))
        own_cost_callback_end(thread, entered_ticks);
}

static void on_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
    note_launched(); /* copies alone ask for buffers too */
    *buffer = activity_buffers_request(size);
    *max_records = 0; /* as many as fit */
}

static void on_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid_size)
{
    (void)context, (void)stream, (void)size;
    activity_buffers_complete(buffer, valid_size);
}

/* ---- start ---- */

/* Says it once, in the trace; the report has shapes only from then on. */
static enum cupti_session_outcome refuse(int result, const char *what, const char *why)
{
    trace_note(trace_thread_get(), TRACE_NOTE_TIMING_OFF, result, "%s: %s", what, why);
    return CUPTI_SESSION_REFUSED;
}

/* Who holds CUPTI stays undisturbed. */
static enum cupti_session_outcome refuse_for_other(int result, const char *who)
{
    trace_note(trace_thread_get(), TRACE_NOTE_PROFILER, result,
               "another profiler uses CUPTI, kernels are not timed: %s", who);
    return refuse(result, "another profiler uses CUPTI", who);
}

static enum cupti_session_outcome refuse_result(const char *function, int result)
{
    return refuse(result, function, cupti_result_text(result));
}

static void note_on(const char *remark)
{
    bool exact = false;
    uint64_t before = __atomic_load_n(&trace_writer_counters()->calls_before_timing, __ATOMIC_RELAXED);
    const struct cupti_version *version = cupti_version_find(api_version, &exact);
    trace_note(trace_thread_get(), TRACE_NOTE_TIMING_ON, (int32_t)api_version, "CUPTI of CUDA %s%s, %s, %s%s%s%s",
               version->cuda, exact ? "" : " or newer", cupti.path, cupti.how, remark,
               subscription_is_shared() ? ", as one client among others" : "",
               before ? ", not from the first call on: CUDA was not ready, or a stream captured" : "");
}

static unsigned switch_callbacks(bool on)
{
    static const uint32_t cbids[] = {
        CUPTI_CBID_cuLaunchKernel,   CUPTI_CBID_cuLaunchKernel_ptsz,   CUPTI_CBID_cuLaunchCooperativeKernel,
        CUPTI_CBID_cuLaunchKernelEx, CUPTI_CBID_cuLaunchKernelEx_ptsz, CUPTI_CBID_cuLaunchCooperativeKernel_ptsz,
        CUPTI_CBID_cuGraphLaunch,    CUPTI_CBID_cuGraphLaunch_ptsz,
    };
    unsigned switched = 0;
    for (unsigned i = 0; i < sizeof cbids / sizeof *cbids; i++) /* old drivers lack the newest */
        switched += cupti.cuptiEnableCallback(on, subscription_handle(), CUPTI_DOMAIN_DRIVER_API, cbids[i]) == CUPTI_OK;
    return switched;
}

/* CUPTI gives external records only beside records of API calls, so those have to be on as well. */
static bool enable_external(void)
{
    return subscription_may_push() && launch_join_open(true) && timed_kinds_add_external();
}

static enum cupti_session_outcome enable_activities(bool open, const char **remark)
{
    int result = subscription_register(on_buffer_requested, on_buffer_completed);
    if (result != CUPTI_OK)
        return refuse_result("cuptiActivityRegisterCallbacks", result);
    result = open ? timed_kinds_switch(true) : CUPTI_OK;
    if (result != CUPTI_OK)
        return refuse_result("cuptiActivityEnable(CONCURRENT_KERNEL)", result);
    if (timed_kinds_lack_copies())
        *remark = ", without times of copies";
    return CUPTI_SESSION_STARTED;
}

/* How kernels find their calls. Returns what the trace has to say about it. */
static const char *enable_join(enum kernel_timing_join join)
{
    is_external = !sees_launches && join != KERNEL_TIMING_JOIN_CORRELATION && enable_external();
    if (is_external) {
        sees_launches = true; /* each push tells */
        return join == KERNEL_TIMING_JOIN_EXTERNAL ? ", joined by external correlation"
                                                   : ", launch callbacks refused: joined by external correlation";
    }
    if (!sees_launches && join == KERNEL_TIMING_JOIN_EXTERNAL)
        sees_launches = switch_callbacks(true) > 0;
    if (!sees_launches)
        return ", launch callbacks refused: kernels can't be joined to calls";
    return join == KERNEL_TIMING_JOIN_EXTERNAL ? ", external correlation refused" : "";
}

/* CUPTI's word for "somebody is there"; 12 before it had a result of its own for that. */
static bool is_taken(int result)
{
    return result == CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_MAX_LIMIT_REACHED ||
           result == CUPTI_NOT_COMPATIBLE;
}

/* The form that leaves the user's own profiler working in most cases is the old one: whoever comes later gets CUPTI from us
 * (other_clients.h), while the new form would keep out all that do not know it, PyTorch's among them. It is taken where the
 * user says so, where a client that shares is there already, and where the old one finds somebody there. One try each. */
static int open_subscription(enum kernel_timing_cupti_api api)
{
    bool may_share = api != KERNEL_TIMING_CUPTI_V1 && subscription_may_share(&cupti);
    bool sharing_is_there = other_clients_now() == OTHER_CLIENTS_SHARING;
    bool shares_first = may_share && (api == KERNEL_TIMING_CUPTI_V2 || sharing_is_there);
    int result = CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    if (shares_first)
        result = subscription_open(&cupti, true, on_callback);
    if (sharing_is_there || (shares_first && (result == CUPTI_OK || is_taken(result))))
        return result;
    result = subscription_open(&cupti, false, on_callback);
    if (is_taken(result) && may_share && !shares_first && subscription_open(&cupti, true, on_callback) == CUPTI_OK)
        return CUPTI_OK;
    return result;
}

static enum cupti_session_outcome refuse_subscription(int result)
{
    char who[512];
    if (!is_taken(result))
        return refuse_result("cuptiSubscribe", result);
    const char *name = subscription_refused_by();
    snprintf(who, sizeof who, "cuptiSubscribe: %s%s%s", cupti_result_text(result), *name ? ", " : "", name);
    return refuse_for_other(result, who);
}

/* Before kernels are recorded. */
static void follow_graphs(enum kernel_timing_graphs graphs)
{
    bool told = graphs != KERNEL_TIMING_GRAPHS_OFF &&
                graph_events_enable(&cupti, subscription_handle(), graphs != KERNEL_TIMING_GRAPHS_CAPTURE);
    graph_calls_open(&cupti, cuda_driver_bound(), told,
                     graphs == KERNEL_TIMING_GRAPHS_CALLBACKS ? told : graphs != KERNEL_TIMING_GRAPHS_OFF);
    graph_nodes_records_come(true);
}

static enum cupti_session_outcome subscribe(enum kernel_timing_join join, enum kernel_timing_cupti_api api,
                                            enum kernel_timing_graphs graphs, bool open)
{
    /* One subscription a process, and never a second try: if another tool is there, it stays undisturbed. */
    int result = open_subscription(api);
    if (result != CUPTI_OK)
        return refuse_subscription(result);
    /* Callbacks before activities: of a kernel that is recorded the launch was seen. */
    sees_launches = join != KERNEL_TIMING_JOIN_EXTERNAL && switch_callbacks(true) > 0;
    follow_graphs(graphs);
    const char *remark = "";
    enum cupti_session_outcome outcome = enable_activities(open, &remark);
    if (outcome != CUPTI_SESSION_STARTED) {
        subscription_stop();
        subscription_close();
        return outcome;
    }
    const char *join_remark = enable_join(join);
    bool exact = false;
    kernel_records_open(cupti_version_find(api_version, &exact), is_external,
                        sees_launches && join == KERNEL_TIMING_JOIN_AUTO);
    note_on(*join_remark ? join_remark : remark);
    return CUPTI_SESSION_STARTED;
}

static enum cupti_session_outcome check_version(void)
{
    int result = cupti.cuptiGetVersion(&api_version);
    if (result != CUPTI_OK)
        return refuse_result("cuptiGetVersion", result);
    bool exact = false;
    if (!cupti_version_find(api_version, &exact))
        return refuse((int)api_version, cupti.path, "this CUPTI is older than CUDA 11.7");
    return CUPTI_SESSION_STARTED;
}

enum cupti_session_outcome cupti_session_start(const struct kernel_timing_settings *settings,
                                               const struct cuda_driver *driver, bool injected, bool open)
{
    char why[512] = "";
    int driver_version = 0;
    if (other_clients_now() == OTHER_CLIENTS_ALONE && other_clients_describe(why, sizeof why))
        return refuse_for_other(0, why);
    driver->cuDriverGetVersion(&driver_version);
    bool found = cupti.path[0] || cupti_library_find(&cupti, driver_version, settings->cupti_path, why, sizeof why);
    dlerror(), dlerror(); /* what our search left there is not the application's; the second frees it */
    if (!found)
        return refuse(0, "CUPTI", why);
    if (injected && cupti.needs_initialized_driver)
        return CUPTI_SESSION_LATER;
    if (!launch_join_open(false) || !kernel_records_reserve() ||
        !activity_buffers_open(settings->buffer_count, settings->buffer_bytes))
        return refuse(ENOMEM, "mmap", "no memory for activity buffers");
    timed_kinds_choose(settings->mode == TRACE_TIMING_GRAPH);
    enum cupti_session_outcome outcome = check_version();
    return outcome == CUPTI_SESSION_STARTED ? subscribe(settings->join, settings->cupti_api, settings->graphs, open)
                                            : outcome;
}

/* ---- afterwards ---- */

int cupti_session_switch_kind(int kind, bool on)
{
    return on ? subscription_enable(kind) : subscription_disable(kind);
}

uint32_t cupti_session_version(void)
{
    return api_version;
}

bool cupti_session_is_external(void)
{
    return is_external;
}

bool cupti_session_sees_launches(void)
{
    return sees_launches;
}

bool cupti_session_was_used(void)
{
    return atomic_load_explicit(&used, memory_order_relaxed) != 0;
}

bool cupti_session_take_launched(void)
{
    return atomic_load_explicit(&launched, memory_order_relaxed) &&
           atomic_exchange_explicit(&launched, 0, memory_order_relaxed);
}

bool cupti_session_take_launched_in_window(void)
{
    return atomic_exchange_explicit(&launched_in_window, 0, memory_order_relaxed);
}

bool cupti_session_calls_launch(void)
{
    return atomic_load_explicit(&calls_launch, memory_order_relaxed) != 0;
}

bool cupti_session_go_external(void)
{
    is_external = enable_external();
    return is_external;
}

void cupti_session_drop_callbacks(void)
{
    switch_callbacks(false);
}

void cupti_session_flush(void)
{
    if (subscription_handle())
        cupti.cuptiActivityFlushAll(0);
}

/* Once another client has CUPTI the count is its own, and reading resets it. */
uint64_t cupti_session_take_dropped(void)
{
    uint64_t dropped = 0;
    if (subscription_handle() && !subscription_take_dropped(&dropped))
        return CUPTI_DROPS_UNTOLD;
    return dropped;
}

uint64_t cupti_session_timestamp(void)
{
    return subscription_handle() ? subscription_timestamp() : 0;
}

bool cupti_session_is_shared(void)
{
    return subscription_is_shared();
}

uint64_t cupti_session_stop(void)
{
    subscription_stop();
    return cupti_session_take_dropped();
}

void cupti_session_close(void)
{
    subscription_close();
}

bool cupti_session_push(uint64_t call_id)
{
    note_launched();
    return subscription_push(call_id) == CUPTI_OK;
}

void cupti_session_pop(void)
{
    subscription_pop();
}
