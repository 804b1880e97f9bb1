/* SPDX-License-Identifier: Apache-2.0 */
/* Other clients of CUPTI in the process: before us, after us, and beside us. Their calls are made as the shim's wrappers make
 * them. One scenario a process; those that share run with a CUPTI that has the functions for it. */
#include "cupti/other_clients.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cupti/activity_buffers.h"
#include "tests/cupti/fake_cupti.h"
#include "tests/cupti/host.h"
#include "trace/clock.h"

/* ---- another client, in its own words ---- */

int cuptiSubscribe(void **handle, void (*function)(void *, int, uint32_t, const void *), void *user);
int cuptiActivityRegisterCallbacks(void (*request)(uint8_t **, size_t *, size_t *),
                                   void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t));
int cuptiActivityEnable(int kind);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count);

static uint8_t other_buffer[8192] __attribute__((aligned(8)));
static uint8_t *_Atomic other_got;
static _Atomic size_t other_bytes;

static void other_called(void *user, int domain, uint32_t cbid, const void *data)
{
    (void)user, (void)domain, (void)cbid, (void)data;
}

static void other_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = other_buffer;
    *size = sizeof other_buffer;
    *max_records = 0;
}

static void other_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size;
    other_got = buffer;
    other_bytes += valid;
}

/* As a profiler starts: each call between its two halves. */
static void other_starts(void)
{
    void *handle = NULL;
    other_clients_before("cuptiSubscribe", "/opt/other.so", false);
    int result = cuptiSubscribe(&handle, other_called, NULL);
    other_clients_after("cuptiSubscribe", false, result);
    CHECK(result == 0);
    other_clients_before("cuptiActivityRegisterCallbacks", "/opt/other.so", false);
    result = cuptiActivityRegisterCallbacks(other_requested, other_completed);
    other_clients_after("cuptiActivityRegisterCallbacks", false, result);
    other_clients_before("cuptiActivityEnable", "/opt/other.so", false);
    result |= cuptiActivityEnable(10);
    other_clients_after("cuptiActivityEnable", false, result);
    CHECK(result == 0);
}

static void check_note(const struct trace_content *c, int value, const char *text)
{
    unsigned count = 0;
    for (size_t i = 0; i < c->note_count; i++)
        count += c->notes[i].code == TRACE_NOTE_PROFILER;
    const struct text_note *note = content_note(c, TRACE_NOTE_PROFILER);
    CHECK(count == 1 && note->value == value && strstr(note->text, text));
}

static void pause_ms(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000}, NULL);
}

/* ---- after us ---- */

/* What was recorded is fetched first, nothing of ours stays switched on, and what comes later is all the other's. */
static void later(void)
{
    struct trace_content c;
    uint64_t call;
    size_t dropped = 0;
    start_on();
    uint32_t ours = call_with(7, 1, &call);
    run_kernel(ours);
    fake_cupti_drop(3);
    other_starts();
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF && other_clients_now() == OTHER_CLIENTS_ALONE);
    CHECK(!fake_cupti_kind_enabled(1) && !fake_cupti_kind_enabled(2) && !fake_cupti_callback_enabled(1, LAUNCH));
    fake_cupti_drop(5);
    uint32_t theirs = call_with(8, 1, &call);
    run_kernel(theirs);
    fake_cupti_hand_back();
    CHECK(other_got == other_buffer && other_bytes == 216); /* one kernel record, in the buffer it gave */
    pause_ms(300);
    unsigned subscribed = fake_cupti_calls("cuptiSubscribe"), flushed = fake_cupti_calls("cuptiActivityFlushAll");
    for (int i = 0; i < 100; i++)
        call_with(9, 1, &call);
    pause_ms(500);
    CHECK(fake_cupti_calls("cuptiSubscribe") == subscribed && fake_cupti_calls("cuptiActivityFlushAll") == flushed);
    CHECK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == 0 &&
          dropped == 5); /* reading resets: not read by us */
    finish_and_read(&c);
    CHECK(fake_cupti_is_subscribed() && fake_cupti_calls("cuptiUnsubscribe") == 1);
    CHECK(fake_cupti_calls("cuptiActivityFlushAll") == flushed);
    CHECK(c.kernel_count == 1 && kernel_of(&c, ours)->owner_id == 7 && c.counters.kernels_unjoined == 0);
    CHECK(c.counters.cupti_records_dropped == 3);
    check_note(&c, 0, "cuptiSubscribe called by /opt/other.so: CUPTI was handed over");
    CHECK(content_note(&c, TRACE_NOTE_TIMING_ON));
}

/* It never subscribes, as newer ones do not: its callbacks and kinds alone take ours away. */
static void later_without_subscribing(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    uint32_t ours = call_with(7, 1, &call);
    run_kernel(ours);
    other_clients_before("cuptiActivityRegisterCallbacks", NULL, false);
    int result = cuptiActivityRegisterCallbacks(other_requested, other_completed);
    other_clients_after("cuptiActivityRegisterCallbacks", false, result);
    CHECK(result == 0 && !fake_cupti_is_subscribed() && !fake_cupti_kind_enabled(10));
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && kernel_of(&c, ours)->owner_id == 7);
    check_note(&c, 0, "a library that is not known");
}

/* Buffers that CUPTI still held come back through our callback: ours in them is taken, what is not is counted. */
static void late_buffers_come_back(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    uint32_t ours = call_with(7, 1, &call);
    fake_cupti_flush_delivers(false);
    run_kernel_at(ours, clock_realtime_ns());
    other_clients_before("cuptiSubscribe", "/opt/other.so", false);
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF);
    cuptiActivityEnable(10); /* of the other: its kernels land in the buffer that we gave */
    cuptiActivityEnable(1);
    run_kernel_at(ours + 5000, clock_realtime_ns());
    run_kernel_at(ours, 12345678); /* by another clock */
    fake_cupti_copy(1, 64, clock_realtime_ns() + second_ns, clock_realtime_ns() + 2 * second_ns);
    fake_cupti_hand_back();
    pause_ms(200);
    run_kernel_at(ours + 5001, clock_realtime_ns());
    fake_cupti_hand_back();
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && kernel_of(&c, ours)->owner_id == 7 && c.copy_count == 0);
    CHECK(c.counters.copies_invalid == 0 && c.counters.records_unknown == 3 && c.counters.kernels_invalid == 1 &&
          c.counters.kernels_unjoined == 0);
}

/* CUPTI hangs: the other client waits a second at most, and we go as soon as we can. */
static void later_while_blocked(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    run_kernel(call_with(7, 1, &call));
    fake_cupti_block_flush(true);
    uint64_t before_ns = clock_monotonic_ns();
    other_clients_before("cuptiSubscribe", "/opt/other.so", false);
    CHECK(clock_monotonic_ns() - before_ns < 3 * second_ns && kernel_timing_state() == KERNEL_TIMING_ON);
    other_clients_after("cuptiSubscribe", false, 39);
    fake_cupti_block_flush(false);
    for (int i = 0; i < 2000 && kernel_timing_state() == KERNEL_TIMING_ON; i++)
        pause_ms(1);
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF && !fake_cupti_is_subscribed());
    finish_and_read(&c);
    CHECK(c.kernel_count == 1);
}

/* Calls go on in many threads meanwhile; each kernel that was recorded has its call. */
static _Atomic bool leave;

static void *call_on(void *unused)
{
    uint64_t call;
    while (!leave) {
        run_kernel(call_with(7, 2, &call));
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL); /* or entries are overwritten before they are read */
    }
    return unused;
}

static void later_under_load(void)
{
    enum { THREADS = 6 };
    struct trace_content c;
    pthread_t threads[THREADS];
    start_on();
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, call_on, NULL) == 0);
    pause_ms(100);
    other_starts();
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF);
    pause_ms(100);
    leave = true;
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    finish_and_read(&c);
    CHECK(c.kernel_count > 0);
    for (size_t i = 0; i < c.kernel_count; i++)
        CHECK(c.kernels[i].owner == TRACE_OWNER_CALL && c.kernels[i].owner_id == 7);
}

/* ---- before us ---- */

static void first(void)
{
    struct trace_content c;
    uint64_t call;
    trace_of_test_open();
    kernel_timing_configure(&(struct kernel_timing_settings){.off = false});
    fake_cuda_init();
    other_starts();
    unsigned subscribed = fake_cupti_calls("cuptiSubscribe"), enabled = fake_cupti_calls("cuptiActivityEnable");
    for (int i = 0; i < 1000; i++)
        kernel_timing_start_if_needed(NULL);
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF);
    run_kernel(call_with(7, 1, &call));
    finish_and_read(&c);
    CHECK(fake_cupti_calls("cuptiSubscribe") == subscribed && fake_cupti_calls("cuptiActivityEnable") == enabled);
    CHECK(fake_cupti_calls("cuptiActivityFlushAll") == 0 && fake_cupti_calls("cuptiUnsubscribe") == 0);
    CHECK(c.kernel_count == 0 && content_note(&c, TRACE_NOTE_TIMING_OFF) && !content_note(&c, TRACE_NOTE_TIMING_ON));
    check_note(&c, 0, "cuptiSubscribe called by /opt/other.so");
}

/* A profiler that was refused has no profile: ours goes on. */
static void refused_first(void)
{
    struct trace_content c;
    uint64_t call;
    other_clients_before("cuptiSubscribe", "/opt/other.so", false);
    other_clients_after("cuptiSubscribe", false, 15);
    start_on();
    run_kernel(call_with(7, 1, &call));
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && !content_note(&c, TRACE_NOTE_PROFILER));
}

/* ---- records of nobody's ---- */

/* C01: kernels with ids that no launch of ours had stand for themselves; those that have calls are as they were. */
static void foreign_ids(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    uint32_t ours = call_with(7, 1, &call);
    run_kernel(ours);
    for (uint32_t i = 0; i < 50; i++)
        run_kernel(ours + 1000000 + i);
    finish_and_read(&c);
    CHECK(c.kernel_count == 51 && c.counters.kernels_unjoined == 50 && kernel_of(&c, ours)->owner_id == 7);
    for (size_t i = 0; i < c.kernel_count; i++)
        if (c.kernels[i].correlation_id != ours)
            CHECK(c.kernels[i].owner == TRACE_OWNER_NONE && c.kernels[i].call_id == 0 &&
                  c.kernels[i].join == TRACE_JOIN_NONE);
}

/* What another client gave out, or what comes a second time, is not read. */
static void foreign_buffers(void)
{
    uint8_t buffer[4096] __attribute__((aligned(8))) = {10};
    size_t bytes = 0;
    struct trace_content c;
    uint64_t call;
    start_on();
    run_kernel(call_with(7, 1, &call));
    uint8_t *ours = activity_buffers_request(&bytes);
    activity_buffers_complete(buffer, sizeof buffer);
    activity_buffers_complete(NULL, 0);
    activity_buffers_complete(ours, 0);
    for (int i = 0; i < 10; i++) {
        activity_buffers_complete(ours, 216);
        pause_ms(20);
    }
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && c.counters.buffers_lost == 1 && c.counters.records_unknown == 0);
}

/* ---- beside us: a CUPTI with functions for several clients ---- */

static void check_shared(bool shared)
{
    CHECK((fake_cupti_calls("cuptiActivityEnable_v2") > 0) == shared);
    CHECK((fake_cupti_calls("cuptiActivityEnable") > 0) == !shared);
    CHECK((fake_cupti_calls("cuptiActivityRegisterCallbacks") > 0) == !shared);
}

/* Nobody there: the old form, so that clients of the old form find room. */
static void shared_alone(void)
{
    struct trace_content c;
    start_on();
    check_shared(false);
    finish_and_read(&c);
    CHECK(fake_cupti_calls("cuptiSubscribe_v2") == 0);
}

static void shared_run(struct trace_content *c)
{
    uint64_t call;
    uint32_t ours = call_with(7, 1, &call);
    run_kernel(ours);
    fake_cupti_drop(2);
    finish_and_read(c);
    check_shared(true);
    CHECK(c->kernel_count == 1 && kernel_of(c, ours)->owner_id == 7 && c->counters.cupti_records_dropped == 2);
    CHECK(c->cupti_anchors > 0);
    CHECK(strstr(content_note(c, TRACE_NOTE_TIMING_ON)->text, "as one client among others"));
    CHECK(!content_note(c, TRACE_NOTE_PROFILER));
}

static void shared_asked(void)
{
    struct trace_content c;
    start_with((struct kernel_timing_settings){.cupti_api = KERNEL_TIMING_CUPTI_V2});
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON && fake_cupti_calls("cuptiSubscribe") == 0);
    shared_run(&c);
}

static void shared_client_first(void)
{
    struct trace_content c;
    other_clients_before("cuptiSubscribe_v2", "/opt/other.so", true);
    other_clients_after("cuptiSubscribe_v2", true, 0);
    fake_cupti_set_stranger(FAKE_STRANGER_SHARING);
    start_on();
    CHECK(fake_cupti_calls("cuptiSubscribe") == 0);
    shared_run(&c);
}

/* One that we did not see come: the old form is refused, the new one is not. */
static void shared_stranger_first(void)
{
    struct trace_content c;
    fake_cupti_set_stranger(FAKE_STRANGER_SHARING);
    start_on();
    CHECK(fake_cupti_calls("cuptiSubscribe") == 1 && fake_cupti_calls("cuptiSubscribe_v2") == 1);
    shared_run(&c);
}

static void shared_refused(void)
{
    struct trace_content c;
    fake_cupti_set_stranger(FAKE_STRANGER_ALONE);
    start_with((struct kernel_timing_settings){.off = false});
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF);
    for (int i = 0; i < 1000; i++)
        kernel_timing_start_if_needed(NULL);
    CHECK(fake_cupti_calls("cuptiSubscribe") == 1 && fake_cupti_calls("cuptiSubscribe_v2") == 1);
    finish_and_read(&c);
    check_note(&c, 39, "CUPTI for stranger");
}

/* The driver is too old for it, which CUPTI tells by one of these. */
static void shared_not_supported(void)
{
    static const int results[] = {27, 999, 1, 15};
    struct trace_content c;
    const char *number = getenv("RESULT");
    fake_cupti_set_result("cuptiSubscribe_v2", results[number ? atoi(number) : 0]);
    start_with((struct kernel_timing_settings){.cupti_api = KERNEL_TIMING_CUPTI_V2});
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON);
    check_shared(false);
    CHECK(fake_cupti_calls("cuptiSubscribe_v2") == 1 && fake_cupti_calls("cuptiSubscribe") == 1);
    finish_and_read(&c);
    CHECK(content_note(&c, TRACE_NOTE_TIMING_ON) && !content_note(&c, TRACE_NOTE_PROFILER));
}

static void shared_v1_asked(void)
{
    struct trace_content c;
    fake_cupti_set_stranger(FAKE_STRANGER_SHARING);
    start_with((struct kernel_timing_settings){.cupti_api = KERNEL_TIMING_CUPTI_V1});
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF && fake_cupti_calls("cuptiSubscribe_v2") == 0);
    finish_and_read(&c);
    check_note(&c, 39, "cuptiSubscribe");
}

/* One more that shares changes nothing; one that does not gets CUPTI. */
static void shared_others_come(void)
{
    struct trace_content c;
    uint64_t call;
    start_with((struct kernel_timing_settings){.cupti_api = KERNEL_TIMING_CUPTI_V2});
    other_clients_before("cuptiSubscribe_v2", "/opt/sharing.so", true);
    other_clients_after("cuptiSubscribe_v2", true, 0);
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON);
    uint32_t ours = call_with(7, 1, &call);
    run_kernel(ours);
    other_clients_before("cuptiSubscribe", "/opt/other.so", false);
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF && !fake_cupti_is_subscribed() && !fake_cupti_kind_enabled(10));
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && kernel_of(&c, ours)->owner_id == 7);
    check_note(&c, 0, "handed over");
}

static const struct scenario scenarios[] = {
    {"later", later},
    {"later_without_subscribing", later_without_subscribing},
    {"late_buffers_come_back", late_buffers_come_back},
    {"later_while_blocked", later_while_blocked},
    {"later_under_load", later_under_load},
    {"first", first},
    {"refused_first", refused_first},
    {"foreign_ids", foreign_ids},
    {"foreign_buffers", foreign_buffers},
    {"shared_alone", shared_alone},
    {"shared_asked", shared_asked},
    {"shared_client_first", shared_client_first},
    {"shared_stranger_first", shared_stranger_first},
    {"shared_refused", shared_refused},
    {"shared_not_supported", shared_not_supported},
    {"shared_v1_asked", shared_v1_asked},
    {"shared_others_come", shared_others_come},
};

int main(int argc, char **argv)
{
    return host_run(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
}
