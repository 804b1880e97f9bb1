/* SPDX-License-Identifier: Apache-2.0 */
/* What goes otherwise than planned: the timing can't start before calls come, and kernels have ids that no launch had. One
 * scenario a process, as in test_kernel_timing.c. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "tests/cupti/fake_cupti.h"
#include "tests/cupti/host.h"
#include "trace/clock.h"

/* ---- late starts: calls as the wrappers make them ---- */

static uint32_t launch_on(void *stream, uint64_t owner_id, enum trace_owner owner, uint64_t *call_id)
{
    *call_id = next_call_id();
    errno = EDOM;
    kernel_timing_enter(call_context(), stream, *call_id);
    uint32_t correlation = fake_cupti_launch(LAUNCH);
    kernel_timing_call_end(call_context(), owner, owner_id);
    CHECK(errno == EDOM && call_context()->call_id == 0);
    return correlation;
}

static void open_unstarted(void)
{
    trace_of_test_open();
    kernel_timing_configure(&(struct kernel_timing_settings){.off = false});
}

/* The runtime initialises the driver inside the program's first launch: that one is lost, and counted; the next is not. */
static void after_lazy_init(void)
{
    struct trace_content c;
    uint64_t call;
    open_unstarted();
    kernel_timing_enter(call_context(), NULL, next_call_id());
    CHECK(kernel_timing_state() == KERNEL_TIMING_IDLE);
    fake_cuda_init();
    kernel_timing_call_end(call_context(), TRACE_OWNER_LAUNCH, 10);
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON && kernel_timing_attention == 0);
    uint32_t second = launch_on(NULL, 11, TRACE_OWNER_LAUNCH, &call);
    run_kernel(second);
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && kernel_of(&c, second)->owner_id == 11 && c.counters.calls_before_timing == 1);
    CHECK(strstr(content_note(&c, TRACE_NOTE_TIMING_ON)->text, "not from the first call on"));
    CHECK(c.note_count == 1 && fake_cuda_calls_before_init() == 0 && fake_cupti_calls_before_init() == 0);
}

/* However many calls are captured, the first one after it is timed. */
static void capture_ends(void)
{
    static char stream;
    struct trace_content c;
    uint64_t call;
    open_unstarted();
    fake_cuda_init();
    fake_cuda_set_capturing(&stream, 1);
    for (int i = 0; i < 77; i++)
        launch_on(&stream, 10, TRACE_OWNER_LAUNCH, &call);
    CHECK(kernel_timing_state() == KERNEL_TIMING_IDLE && fake_cupti_calls("cuptiSubscribe") == 0);
    fake_cuda_set_capturing(NULL, 0);
    uint32_t first = launch_on(&stream, 11, TRACE_OWNER_LAUNCH, &call);
    run_kernel(first);
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && kernel_of(&c, first)->owner_id == 11 && kernel_of(&c, first)->call_id == call);
    CHECK(c.counters.calls_before_timing == 77);
}

/* Calls that fail before the driver is ready launched nothing: they are not counted, and no later one is lost by them. */
static void refusals_cost_no_attempt(void)
{
    struct trace_content c;
    uint64_t call;
    open_unstarted();
    for (int i = 0; i < 777; i++)
        launch_on(NULL, 0, TRACE_OWNER_NONE, &call);
    CHECK(kernel_timing_state() == KERNEL_TIMING_IDLE && fake_cuda_calls_before_init() == 0);
    fake_cuda_init();
    run_kernel(launch_on(NULL, 11, TRACE_OWNER_LAUNCH, &call));
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && c.kernels[0].owner_id == 11 && c.counters.calls_before_timing == 0);
    CHECK(!strstr(content_note(&c, TRACE_NOTE_TIMING_ON)->text, "first call"));
}

/* ---- ids that do not match ---- */

enum { SHIFT = 1 << 20, ENOUGH = 64 };

static void callbacks_refused_externally(void)
{
    struct trace_content c;
    fake_cupti_set_result("cuptiEnableCallback", 1);
    start_on();
    uint64_t call = next_call_id();
    kernel_timing_call_begin(call_context(), call);
    fake_cupti_external(10, call);
    kernel_timing_call_end(call_context(), TRACE_OWNER_CALL, 501);
    run_kernel(10);
    finish_and_read(&c);
    CHECK(kernel_of(&c, 10)->owner_id == 501 && c.counters.kernels_unjoined == 0);
    CHECK(strstr(content_note(&c, TRACE_NOTE_TIMING_ON)->text, "refused: joined by external correlation"));
}

static void run_shifted_kernels(void)
{
    uint64_t call;
    for (int i = 0; i < ENOUGH; i++)
        run_kernel(launch_on(NULL, 5, TRACE_OWNER_LAUNCH, &call) + SHIFT);
    fake_cupti_hand_back();
}

static void wait_for_trouble(const char *function, unsigned calls)
{
    for (int i = 0; i < 1000 && fake_cupti_calls(function) < calls; i++)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    CHECK(fake_cupti_calls(function) >= calls);
}

static void ids_differ(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    run_shifted_kernels();
    wait_for_trouble("cuptiEnableCallback", 2 * 8 + 18); /* on, and off again; those of graphs stay */
    CHECK(fake_cupti_kind_enabled(39) && fake_cupti_kind_enabled(4) && kernel_timing_external_now);
    call = next_call_id();
    kernel_timing_enter(call_context(), NULL, call);
    CHECK(fake_cupti_top_external() == call);
    uint32_t id = fake_cupti_launch(LAUNCH);
    fake_cupti_external(id + SHIFT, call);
    kernel_timing_call_end(call_context(), TRACE_OWNER_CALL, 501);
    CHECK(fake_cupti_top_external() == 0);
    run_kernel(1); /* before the change, and by the callback's id: joined to nothing, at once */
    run_kernel_at(id + SHIFT, clock_realtime_ns());
    finish_and_read(&c);
    CHECK(c.kernel_count == ENOUGH + 2 && c.counters.kernels_unjoined == ENOUGH + 1);
    const struct trace_kernel *k = kernel_of(&c, id + SHIFT);
    CHECK(k->owner_id == 501 && k->call_id == call && k->join == TRACE_JOIN_EXTERNAL);
    CHECK(kernel_of(&c, 1)->call_id == 0);
    const struct text_note *note = content_note(&c, TRACE_NOTE_JOIN);
    CHECK(note && note->value == ENOUGH && strstr(note->text, "later ones are joined by external correlation"));
    CHECK(c.note_count == 2 && kernel_timing_external_now == 0);
}

static void ids_differ_and_refused(void)
{
    struct trace_content c;
    start_on();
    fake_cupti_set_result("cuptiActivityEnable", 1);
    unsigned enabled = fake_cupti_calls("cuptiActivityEnable");
    run_shifted_kernels();
    wait_for_trouble("cuptiActivityEnable", enabled + 1);
    run_shifted_kernels();
    CHECK(!kernel_timing_external_now && kernel_timing_state() == KERNEL_TIMING_ON);
    finish_and_read(&c);
    CHECK(c.kernel_count == 2 * ENOUGH && c.counters.kernels_unjoined == 2 * ENOUGH);
    CHECK(strstr(content_note(&c, TRACE_NOTE_JOIN)->text, "none can be joined") && c.note_count == 2);
    CHECK(fake_cupti_calls("cuptiActivityEnable") == enabled + 1);
}

/* One kernel that is found by its id shows that ids match: others are launches that nobody saw. */
static void one_id_matches(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    run_kernel(call_with(9, 1, &call));
    for (int i = 0; i < 4; i++)
        run_shifted_kernels();
    fake_cupti_hand_back();
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    CHECK(!fake_cupti_kind_enabled(39) && !kernel_timing_external_now);
    finish_and_read(&c);
    CHECK(c.kernel_count == 4 * ENOUGH + 1 && c.counters.kernels_unjoined == 4 * ENOUGH);
    CHECK(!content_note(&c, TRACE_NOTE_JOIN));
}

static const struct scenario scenarios[] = {
    {"after_lazy_init", after_lazy_init},
    {"capture_ends", capture_ends},
    {"refusals_cost_no_attempt", refusals_cost_no_attempt},
    {"callbacks_refused_externally", callbacks_refused_externally},
    {"ids_differ", ids_differ},
    {"ids_differ_and_refused", ids_differ_and_refused},
    {"one_id_matches", one_id_matches},
};

int main(int argc, char **argv)
{
    return host_run(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
}
