/* SPDX-License-Identifier: Apache-2.0 */
/* One scenario a process, named on the command line: what a host does, what CUPTI does to it, and what must then be in the
 * trace. Drives the code under test through kernel_timing.h alone, as the wrappers do. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cupti/kernel_timing.h"
#include "tests/cupti/fake_cupti.h"
#include "tests/cupti/host.h"
#include "tests/cupti/trace_of_test.h"
#include "trace/clock.h"
#include "trace/trace_writer.h"

/* ---- scenarios ---- */

static void joined(void)
{
    struct trace_content c;
    uint64_t one, two, launch;
    start_on();
    uint32_t single = call_with(1001, 1, &one);
    uint32_t split = call_with(1002, 3, &two);
    launch = next_call_id();
    kernel_timing_call_begin(call_context(), launch);
    uint32_t own = fake_cupti_launch(477);
    kernel_timing_call_end(call_context(), TRACE_OWNER_LAUNCH_VALUES, 2001);
    uint32_t nobody = fake_cupti_launch(LAUNCH);
    run_kernel(split), run_kernel(single), run_kernel(split - 2), run_kernel(split - 1), run_kernel(own),
        run_kernel(nobody);
    fake_cupti_copy(1, 4096, some_time_ns, some_time_ns + 10);
    fake_cupti_copy(2, 64, some_time_ns + 20, some_time_ns + 30);
    finish_and_read(&c);
    CHECK(c.kernel_count == 6 && c.name_count == 1);
    const struct trace_kernel *k = kernel_of(&c, single);
    CHECK(k->call_id == one && k->owner == TRACE_OWNER_CALL && k->owner_id == 1001 &&
          k->join == TRACE_JOIN_CORRELATION);
    CHECK(k->start_ns == some_time_ns + single * 1000ull && k->end_ns == k->start_ns + 500 && k->name_id != 0);
    CHECK(k->registers == 96 && k->stream == 7 && k->context == 1 && k->device == 0 && k->graph_id == 0);
    CHECK(k->grid[0] == 8 && k->grid[2] == 2 && k->block[0] == 128 && k->static_shared_bytes == 512 &&
          k->dynamic_shared_bytes == 4096);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(kernel_of(&c, split - i)->call_id == two && kernel_of(&c, split - i)->owner_id == 1002);
    k = kernel_of(&c, own);
    CHECK(k->call_id == launch && k->owner == TRACE_OWNER_LAUNCH_VALUES && k->owner_id == 2001);
    k = kernel_of(&c, nobody);
    CHECK(k->call_id == 0 && k->owner == TRACE_OWNER_NONE && k->join == TRACE_JOIN_NONE);
    CHECK(c.counters.kernels_unjoined == 1 && c.counters.kernels_invalid == 0 && c.slot_drops == 0);
    CHECK(c.copy_count == 2 && c.cupti_anchors >= 1 && c.device_count == 1);
    CHECK(c.copies[0].bytes == 4096 && c.copies[0].kind == TRACE_COPY_MEMCPY && c.copies[0].direction == 1);
    CHECK(c.copies[1].bytes == 64 && c.copies[1].kind == TRACE_COPY_MEMSET && c.copies[1].direction == 0);
    const struct text_note *note = content_note(&c, TRACE_NOTE_TIMING_ON);
    CHECK(note && note->value == 130001 && strstr(note->text, "CUDA 13.0") && strstr(note->text, "mapped already"));
    CHECK(!content_note(&c, TRACE_NOTE_TIMING_OFF) && c.note_count == 1);
}

static void refused_everywhere(void)
{
    static const struct {
        const char *function;
        int result;
    } refusals[] = {{"cuptiSubscribe", 39},      {"cuptiSubscribe", 12},  {"cuptiSubscribe", 35},
                    {"cuptiSubscribe", 15},      {"cuptiSubscribe", 999}, {"cuptiActivityRegisterCallbacks", 999},
                    {"cuptiActivityEnable", 27}, {"cuptiGetVersion", 999}};
    for (unsigned i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        pid_t child = fork();
        if (child == 0) {
            struct trace_content c;
            uint64_t call;
            fake_cupti_set_result(refusals[i].function, refusals[i].result);
            start_with((struct kernel_timing_settings){.off = false});
            CHECK(kernel_timing_state() == KERNEL_TIMING_OFF);
            for (int again = 0; again < 2000; again++) /* one try only */
                kernel_timing_start_if_needed(NULL);
            call_with(1, 1, &call);
            finish_and_read(&c);
            const struct text_note *note = content_note(&c, TRACE_NOTE_TIMING_OFF);
            CHECK(note && note->value == refusals[i].result && strstr(note->text, refusals[i].function));
            bool taken = refusals[i].result == 39 || refusals[i].result == 12;
            const struct text_note *other = content_note(&c, TRACE_NOTE_PROFILER);
            CHECK(taken ? other && other->value == refusals[i].result : !other);
            CHECK(c.note_count == (taken ? 2 : 1) &&
                  c.device_count == 1); /* facts about the device do not need CUPTI */
            CHECK(fake_cupti_calls(refusals[i].function) == 1);
            CHECK(fake_cupti_calls("cuptiUnsubscribe") == (strstr(refusals[i].function, "Activity") ? 1 : 0));
            exit(0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void switched_off(void)
{
    struct trace_content c;
    start_with((struct kernel_timing_settings){.off = true});
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF && fake_cupti_calls("cuptiGetVersion") == 0);
    finish_and_read(&c);
    CHECK(content_note(&c, TRACE_NOTE_TIMING_OFF) && c.device_count == 1);
}

static void too_old(void)
{
    struct trace_content c;
    fake_cupti_set_version(14, 144);
    start_with((struct kernel_timing_settings){.off = false});
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF && fake_cupti_calls("cuptiSubscribe") == 0);
    finish_and_read(&c);
    CHECK(strstr(content_note(&c, TRACE_NOTE_TIMING_OFF)->text, "older than CUDA 11.7"));
}

/* One prefix reads every version's records, and those of versions to come. */
static void every_version(void)
{
    static const struct {
        uint32_t version;
        size_t bytes;
        const char *text;
    } versions[] = {{17, 176, "CUDA 11.7"},     {18, 208, "CUDA 11.8 to 12.1"}, {28, 208, "CUDA 12.9"},
                    {130202, 224, "CUDA 13.2"}, {130500, 248, "CUDA 13.5"},     {140000, 256, "CUDA 13.5 or newer"}};
    for (unsigned i = 0; i < sizeof versions / sizeof *versions; i++) {
        pid_t child = fork();
        if (child == 0) {
            struct trace_content c;
            uint64_t call;
            fake_cupti_set_version(versions[i].version, versions[i].bytes);
            start_on();
            uint32_t first = call_with(5, 1, &call), second = call_with(6, 1, &call);
            run_kernel(first), run_kernel(second);
            finish_and_read(&c);
            CHECK(c.kernel_count == 2 && kernel_of(&c, second)->owner_id == 6);
            CHECK(strstr(content_note(&c, TRACE_NOTE_TIMING_ON)->text, versions[i].text));
            exit(0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void bad_times(void)
{
    struct trace_content c;
    uint64_t call;
    static const uint64_t times[][2] = {
        {0, 0}, {0, 5}, {some_time_ns, 0}, {20, 10}, {0x8000000000000000, 0x8000000000000001}};
    start_on();
    uint32_t good = call_with(1, 1, &call);
    run_kernel(good);
    for (unsigned i = 0; i < 5; i++)
        fake_cupti_kernel(&(struct fake_kernel){
            .correlation_id = call_with(1, 1, &call), .name = "bad", .start_ns = times[i][0], .end_ns = times[i][1]});
    fake_cupti_copy(1, 64, 0, 0);
    fake_cupti_copy(2, 64, 20, 10);
    finish_and_read(&c);
    CHECK(c.copy_count == 0 && c.counters.copies_invalid == 2);
    CHECK(c.kernel_count == 1 && c.counters.kernels_invalid == 5 && c.counters.kernels_unjoined == 0);
}

/* The file can't grow: kernels that found no room are no part of those without a call. */
static void no_room_in_trace(void)
{
    struct trace_content c;
    signal(SIGXFSZ, SIG_IGN);
    start_on();
    CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1, 1}) == 0);
    for (uint32_t i = 0; i < 30000; i++)
        run_kernel(1000000 + i); /* nobody's */
    finish_and_read(&c);
    CHECK(c.kernel_count > 0 && c.slot_drops > 0);
    CHECK(c.counters.kernels_unjoined == c.kernel_count);
}

static void dropped_and_unknown(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    uint32_t first = call_with(1, 1, &call);
    fake_cupti_unknown(60);
    run_kernel(first);
    fake_cupti_unknown(60);
    fake_cupti_drop(41);
    fake_cupti_hand_back();
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    fake_cupti_drop(2);
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && c.counters.records_unknown == 2 && c.counters.cupti_records_dropped == 43);
}

/* The call has not ended when its kernel's record is read: it waits, and gets its owner. */
static void record_before_end_of_call(void)
{
    struct trace_content c;
    start_on();
    uint64_t call = next_call_id();
    kernel_timing_call_begin(call_context(), call);
    uint32_t early = fake_cupti_launch(LAUNCH);
    run_kernel(early);
    fake_cupti_hand_back();
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    kernel_timing_call_end(call_context(), TRACE_OWNER_CALL, 77);
    uint64_t never = next_call_id();
    kernel_timing_call_begin(call_context(), never);
    uint32_t open_ended = fake_cupti_launch(LAUNCH);
    run_kernel(open_ended); /* and this one's never ends: its thread left by longjmp, say */
    finish_and_read(&c);
    CHECK(c.kernel_count == 2 && kernel_of(&c, early)->owner_id == 77);
    const struct trace_kernel *k = kernel_of(&c, open_ended);
    CHECK(k->owner == TRACE_OWNER_NONE && k->owner_id == 0 && k->call_id == never);
    CHECK(c.counters.kernels_unjoined == 1);
}

static void failed_call(void)
{
    struct trace_content c;
    start_on();
    uint64_t call = next_call_id();
    kernel_timing_call_begin(call_context(), call);
    uint32_t launched = fake_cupti_launch(LAUNCH);
    kernel_timing_call_end(call_context(), TRACE_OWNER_NONE, 0);
    run_kernel(launched);
    finish_and_read(&c);
    const struct trace_kernel *k = kernel_of(&c, launched);
    CHECK(k->owner == TRACE_OWNER_NONE && k->owner_id == 0 && c.counters.kernels_unjoined == 1);
}

/* Ids run through the whole table and around the end of 32 bits: an overwritten or reused id is nobody's. */
static void correlation_reuse(void)
{
    struct trace_content c;
    uint64_t call, other;
    start_on();
    fake_cupti_set_next_correlation(100);
    call_with(11, 1, &call);
    fake_cupti_set_next_correlation(100 + (1 << 18));
    call_with(12, 1, &other);
    run_kernel(100); /* overwritten: nobody's, not the other call's */
    run_kernel(100 + (1 << 18));
    fake_cupti_set_next_correlation(500);
    call_with(13, 1, &call);
    fake_cupti_set_next_correlation(500); /* 2^32 later, under no call */
    fake_cupti_launch(LAUNCH);
    run_kernel(500);
    finish_and_read(&c);
    CHECK(kernel_of(&c, 100)->owner == TRACE_OWNER_NONE && kernel_of(&c, 100)->call_id == 0);
    CHECK(kernel_of(&c, 100 + (1 << 18))->owner_id == 12);
    CHECK(kernel_of(&c, 500)->owner == TRACE_OWNER_NONE && kernel_of(&c, 500)->call_id == 0);
    CHECK(c.counters.kernels_unjoined == 2);
}

/* More launches in one call than the table holds: the newest keep their owner, those overwritten are nobody's. */
static void huge_call(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    uint32_t last = call_with(9, (1 << 18) + 10, &call);
    run_kernel(last), run_kernel(last - 100), run_kernel(last - (1 << 18));
    finish_and_read(&c);
    CHECK(kernel_of(&c, last)->owner_id == 9 && kernel_of(&c, last - 100)->owner_id == 9);
    CHECK(kernel_of(&c, last - (1 << 18))->owner == TRACE_OWNER_NONE && c.counters.kernels_unjoined == 1);
}

static void graph_kernels(void)
{
    struct trace_content c;
    start_on();
    uint64_t call = next_call_id();
    kernel_timing_call_begin(call_context(), call);
    uint32_t launch = fake_cupti_launch(GRAPH_LAUNCH);
    kernel_timing_call_end(call_context(), TRACE_OWNER_LAUNCH, 3001);
    fake_cupti_kernel(&(struct fake_kernel){
        .correlation_id = launch, .name = "node", .start_ns = some_time_ns, .end_ns = some_time_ns + 1, .graph_id = 4});
    finish_and_read(&c);
    const struct trace_kernel *k = kernel_of(&c, launch);
    CHECK(k->graph_id == 4 && k->graph_node_id == (4ull << 32 | 7) && k->call_id == call &&
          k->owner == TRACE_OWNER_NONE);
    CHECK(c.counters.kernels_unjoined == 1);
}

/* Nothing is flushed at all until the periodic flush does it, without an exit. */
static void periodic_flush(void)
{
    struct trace_content c;
    uint64_t call;
    start_with((struct kernel_timing_settings){.flush_period_ms = 20});
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    CHECK(fake_cupti_calls("cuptiActivityFlushAll") == 0); /* the GPU was not used */
    run_kernel(call_with(1, 1, &call));
    for (int i = 0; i < 200 && fake_cupti_calls("cuptiActivityFlushAll") < 3; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    CHECK(fake_cupti_calls("cuptiActivityFlushAll") >= 3);
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 500000000}, NULL);
    CHECK(fake_cupti_calls("cuptiActivityFlushAll") < 12); /* asked less and less while nothing arrives */
    finish_and_read(&c);
    CHECK(c.kernel_count == 1);
}

/* All buffers are out: CUPTI still gets memory, what it writes there is counted, and afterwards all goes on. */
static _Atomic unsigned holding;
static _Atomic bool let_go;

static void *hold_a_buffer(void *unused)
{
    run_kernel(fake_cupti_launch(LAUNCH));
    holding++;
    while (!let_go)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    fake_cupti_hand_back();
    return unused;
}

static void buffers_exhausted(void)
{
    enum { HOLDERS = 6, BUFFERS = 4 };
    struct trace_content c;
    pthread_t threads[HOLDERS];
    start_with(
        (struct kernel_timing_settings){.buffer_count = BUFFERS, .buffer_bytes = 8192, .flush_period_ms = 100000});
    for (unsigned i = 0; i < HOLDERS; i++) {
        CHECK(pthread_create(&threads[i], NULL, hold_a_buffer, NULL) == 0);
        while (holding <= i)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    let_go = true;
    for (unsigned i = 0; i < HOLDERS; i++)
        pthread_join(threads[i], NULL);
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL); /* for the buffers to be read and free again */
    run_kernel(fake_cupti_launch(LAUNCH));
    finish_and_read(&c);
    CHECK(c.kernel_count == BUFFERS + 1 && c.counters.buffers_lost == HOLDERS - BUFFERS);
}

/* Many threads call, launch and finish at once; every kernel comes back to the call that launched it. */
enum { LOAD_THREADS = 6, LOAD_CALLS = 3000 };

static void *load(void *argument)
{
    uint64_t tag = (uint64_t)(uintptr_t)argument << 32;
    for (uint64_t i = 1; i <= LOAD_CALLS; i++) {
        uint64_t call = next_call_id();
        kernel_timing_call_begin(call_context(), call);
        uint32_t one = fake_cupti_launch(LAUNCH), two = fake_cupti_launch(LAUNCH_EX);
        if (i % 3 == 0)
            run_kernel(one);
        kernel_timing_call_end(call_context(), TRACE_OWNER_CALL, tag | call);
        if (i % 3 != 0)
            run_kernel(one);
        run_kernel(two);
    }
    return NULL;
}

static void many_threads(void)
{
    struct trace_content c;
    pthread_t threads[LOAD_THREADS];
    start_with((struct kernel_timing_settings){.buffer_bytes = 16384, .flush_period_ms = 5});
    for (uintptr_t i = 0; i < LOAD_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, load, (void *)(i + 1)) == 0);
    for (unsigned i = 0; i < LOAD_THREADS; i++)
        pthread_join(threads[i], NULL);
    finish_and_read(&c);
    /* Buffers may run out under such a load, which is counted by buffer; what is there is right. */
    CHECK(c.slot_drops == 0 && c.counters.records_dropped == 0);
    CHECK(c.counters.buffers_lost || c.kernel_count == 2ull * LOAD_THREADS * LOAD_CALLS);
    for (size_t i = 0; i < c.kernel_count; i++)
        CHECK(c.kernels[i].owner == TRACE_OWNER_CALL &&
              (c.kernels[i].owner_id & 0xffffffff) == (c.kernels[i].call_id & 0xffffffff));
    CHECK(c.counters.kernels_unjoined == 0);
}

/* Flushing hangs: the exit goes on in time, and says so. */
static void blocked_flush(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    uint32_t first = call_with(1, 1, &call);
    run_kernel(first);
    fake_cupti_hand_back();
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    fake_cupti_block_flush(true);
    run_kernel(call_with(2, 1, &call));
    uint64_t before = clock_monotonic_ns();
    CHECK(!kernel_timing_finish(300000000));
    CHECK(clock_monotonic_ns() - before < 2 * second_ns);
    CHECK(kernel_timing_finish(5 * second_ns)); /* again: nothing more to wait for */
    trace_of_test_read(&c);
    CHECK(c.kernel_count == 1 && content_note(&c, TRACE_NOTE_TIMING_CUT));
    fake_cupti_block_flush(false);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

/* Records come back late, after the exit flush: no crash, nothing touched any more. */
static void late_buffers(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    run_kernel(call_with(1, 1, &call));
    fake_cupti_flush_delivers(false);
    finish_and_read(&c);
    CHECK(c.kernel_count == 0);
    fake_cupti_hand_back();
    run_kernel(call_with(2, 1, &call));
    fake_cupti_hand_back();
}

/* V04: before the application's own cuInit() nothing of CUDA or CUPTI is called, and a forked child starts clean. */
static void nothing_before_init(void)
{
    struct trace_content c;
    uint64_t call;
    kernel_timing_configure(&(struct kernel_timing_settings){.off = false});
    trace_of_test_open();
    for (int i = 0; i < 5000; i++)
        kernel_timing_start_if_needed(NULL);
    CHECK(kernel_timing_state() == KERNEL_TIMING_IDLE);
    CHECK(fake_cuda_calls_before_init() == 0 && fake_cuda_init_calls() == 0 && fake_cupti_calls_before_init() == 0);
    pid_t child = fork();
    if (child == 0) {
        fake_cuda_init();
        CHECK(!trace_writer_is_open());
        kernel_timing_start_slowly(NULL); /* no trace in this process: stays idle, calls nothing */
        _exit(kernel_timing_state() == KERNEL_TIMING_IDLE && fake_cupti_calls("cuptiGetVersion") == 0 ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    fake_cuda_init();
    kernel_timing_start_if_needed(NULL);
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON);
    run_kernel(call_with(1, 1, &call));
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && fake_cuda_calls_before_init() == 0 && fake_cuda_init_calls() == 0);
    CHECK(fake_cupti_calls_before_init() == 0);
}

static void forked_child(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    run_kernel(call_with(1, 1, &call));
    pid_t child = fork();
    if (child == 0) {
        unsigned calls = fake_cupti_calls("cuptiActivityFlushAll");
        CHECK(kernel_timing_state() == KERNEL_TIMING_FINISHED);
        kernel_timing_tend();
        CHECK(kernel_timing_finish(second_ns) && fake_cupti_calls("cuptiActivityFlushAll") == calls);
        exit(7); /* with the exit handlers */
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    finish_and_read(&c);
    CHECK(c.kernel_count == 1);
}

static void not_while_capturing(void)
{
    static char stream;
    struct trace_content c;
    trace_of_test_open();
    kernel_timing_configure(&(struct kernel_timing_settings){.off = false});
    fake_cuda_init();
    fake_cuda_set_capturing(&stream, 1);
    kernel_timing_start_slowly(&stream);
    CHECK(kernel_timing_state() == KERNEL_TIMING_IDLE);
    fake_cuda_set_capturing(NULL, 1); /* a blocking stream captures: the legacy one may not be used */
    kernel_timing_start_slowly(NULL);
    CHECK(kernel_timing_state() == KERNEL_TIMING_IDLE && fake_cupti_calls("cuptiSubscribe") == 0);
    fake_cuda_set_capturing(NULL, 0);
    for (int i = 0; i < 8; i++)
        kernel_timing_start_slowly(&stream);
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON && fake_cuda_capture_mode() == 0);
    finish_and_read(&c);
}

static void from_injection(void)
{
    struct trace_content c;
    uint64_t call;
    trace_of_test_open();
    kernel_timing_configure(&(struct kernel_timing_settings){.off = false});
    kernel_timing_start_from_injection(); /* the driver is not ready yet, but says so by calling us */
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON && fake_cuda_calls_before_init() == 0);
    fake_cuda_init();
    run_kernel(call_with(1, 1, &call));
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && c.device_count == 1 && fake_cuda_init_calls() == 0);
}

/* CUDA 13.2's copies may be called only once cuInit() has returned: the injection does nothing, the first call starts. */
static void later_with_13_2(void)
{
    struct trace_content c;
    uint64_t call;
    trace_of_test_open();
    kernel_timing_configure(&(struct kernel_timing_settings){.off = false});
    kernel_timing_start_from_injection();
    CHECK(kernel_timing_state() == KERNEL_TIMING_IDLE && fake_cupti_calls_before_init() == 0);
    kernel_timing_start_if_needed(NULL);
    CHECK(kernel_timing_state() == KERNEL_TIMING_IDLE && fake_cupti_calls_before_init() == 0);
    fake_cuda_init();
    kernel_timing_start_if_needed(NULL);
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON);
    run_kernel(call_with(1, 1, &call));
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && fake_cupti_calls_before_init() == 0);
}

static void device_is_told(void)
{
    struct trace_content c;
    fake_cuda_set_name("Simulated Test GPU");
    start_on();
    finish_and_read(&c);
    const struct trace_device *d = &c.devices[0];
    CHECK(c.device_count == 1 && d->ordinal == 0 && d->sm_count == 132 && d->compute_major == 9 &&
          d->compute_minor == 0);
    CHECK(d->pci_bus == 0x41 && d->l2_bytes == 52428800 && d->memory_bytes == 85899345920 &&
          d->driver_version == 13010);
    CHECK(d->simulated == 1 && d->uuid[15] == 16 && strcmp(d->name, "Simulated Test GPU") == 0);
    /* What nobody tells is unknown. The PCI id of a simulated device is never read from this machine's devices. */
    CHECK(d->memory_clock_khz == TRACE_UNKNOWN && d->memory_bus_bits == TRACE_UNKNOWN && d->pci_device_id == 0);
}

static void callbacks_refused(void)
{
    struct trace_content c;
    uint64_t call;
    fake_cupti_set_result("cuptiEnableCallback", 1);
    start_with((struct kernel_timing_settings){.flush_period_ms = 20, .join = KERNEL_TIMING_JOIN_CORRELATION});
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON);
    uint32_t correlation = call_with(1, 1, &call);
    run_kernel(correlation);
    finish_and_read(&c);
    CHECK(kernel_of(&c, correlation)->owner == TRACE_OWNER_NONE && c.counters.kernels_unjoined == 1);
    CHECK(strstr(content_note(&c, TRACE_NOTE_TIMING_ON)->text, "can't be joined"));
}

static void external_correlation(void)
{
    struct trace_content c;
    start_with((struct kernel_timing_settings){.join = KERNEL_TIMING_JOIN_EXTERNAL});
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON && fake_cupti_kind_enabled(39) && fake_cupti_kind_enabled(4));
    uint64_t one = next_call_id(), two = one + 1000000, failed = one + 2000000;
    kernel_timing_call_begin(call_context(), one);
    CHECK(fake_cupti_top_external() == one);
    fake_cupti_external(10, one);
    kernel_timing_call_end(call_context(), TRACE_OWNER_CALL, 501);
    CHECK(fake_cupti_top_external() == 0);
    kernel_timing_call_begin(call_context(), two);
    kernel_timing_call_end(call_context(), TRACE_OWNER_LAUNCH, 502);
    run_kernel(11); /* its correlation comes after it */
    fake_cupti_hand_back();
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    run_kernel(10);
    fake_cupti_external(11, two);
    kernel_timing_call_begin(call_context(), failed);
    fake_cupti_external(12, failed);
    kernel_timing_call_end(call_context(), TRACE_OWNER_NONE, 0);
    run_kernel(12);
    run_kernel(13); /* under no call */
    finish_and_read(&c);
    CHECK(kernel_of(&c, 10)->owner_id == 501 && kernel_of(&c, 10)->join == TRACE_JOIN_EXTERNAL);
    CHECK(kernel_of(&c, 11)->owner_id == 502 && kernel_of(&c, 11)->owner == TRACE_OWNER_LAUNCH);
    CHECK(kernel_of(&c, 12)->owner == TRACE_OWNER_NONE && kernel_of(&c, 13)->call_id == 0);
    CHECK(c.counters.kernels_unjoined == 2 && c.counters.records_unknown == 0);
}

/* The host just exits: our own handler, which runs before those registered earlier, asks CUPTI for what it holds. */
static int exit_report;

static void report_at_exit(void) /* registered before ours, so it runs after it */
{
    unsigned flushes = fake_cupti_calls("cuptiActivityFlushAll");
    if (write(exit_report, &flushes, sizeof flushes) != sizeof flushes)
        _exit(1);
}

static void exit_with_status_7(bool blocked)
{
    int fds[2];
    unsigned flushes = 0;
    int status = 0;
    uint64_t before = clock_monotonic_ns();
    CHECK(pipe(fds) == 0);
    pid_t child = fork();
    if (child == 0) {
        uint64_t call;
        exit_report = fds[1];
        atexit(report_at_exit);
        start_with((struct kernel_timing_settings){.exit_timeout_ms = 300, .flush_period_ms = 100000});
        run_kernel(call_with(1, 1, &call));
        fake_cupti_block_flush(blocked);
        exit(7);
    }
    CHECK(read(fds[0], &flushes, sizeof flushes) == sizeof flushes && flushes == 1);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK(clock_monotonic_ns() - before < 2 * second_ns);
}

static void at_exit(void)
{
    exit_with_status_7(false);
    exit_with_status_7(true);
}

static const struct scenario scenarios[] = {
    {"joined", joined},
    {"refused_everywhere", refused_everywhere},
    {"switched_off", switched_off},
    {"too_old", too_old},
    {"every_version", every_version},
    {"bad_times", bad_times},
    {"no_room_in_trace", no_room_in_trace},
    {"dropped_and_unknown", dropped_and_unknown},
    {"record_before_end_of_call", record_before_end_of_call},
    {"failed_call", failed_call},
    {"correlation_reuse", correlation_reuse},
    {"huge_call", huge_call},
    {"graph_kernels", graph_kernels},
    {"periodic_flush", periodic_flush},
    {"buffers_exhausted", buffers_exhausted},
    {"many_threads", many_threads},
    {"blocked_flush", blocked_flush},
    {"late_buffers", late_buffers},
    {"nothing_before_init", nothing_before_init},
    {"forked_child", forked_child},
    {"not_while_capturing", not_while_capturing},
    {"from_injection", from_injection},
    {"later_with_13_2", later_with_13_2},
    {"device_is_told", device_is_told},
    {"callbacks_refused", callbacks_refused},
    {"external_correlation", external_correlation},
    {"at_exit", at_exit},
};

int main(int argc, char **argv)
{
    return host_run(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
}
