/* SPDX-License-Identifier: Apache-2.0 */
/* C06: the end. CUPTI writes into buffers that it holds long after kinds were disabled, 64 threads launch while the process exits,
 * and another client takes over meanwhile. Nothing is finalised (the fake's cuptiFinalize ends the process), and nothing that
 * CUPTI holds is given back to the system: under AddressSanitizer or not, such a write would end the process. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cupti/other_clients.h"
#include "tests/cupti/fake_cupti.h"
#include "tests/cupti/host.h"
#include "trace/clock.h"

enum { THREADS = 64, STATUS = 7, ROUNDS = 3 };

static void pause_ms(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* Buffers that no flush gives back are held until the end. */
static void late_writes(void)
{
    struct trace_content c;
    uint64_t call;
    start_on();
    fake_cupti_write_late(100);
    uint32_t ours = call_with(7, 1, &call);
    fake_cupti_flush_delivers(false);
    run_kernel(ours);
    other_clients_before("cuptiSubscribe", "/opt/other.so", false);
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF);
    for (int i = 0; i < 500 && fake_cupti_late_writes() == 0; i++)
        pause_ms(10);
    CHECK(fake_cupti_late_writes() > 0);
    fake_cupti_hand_back(); /* what was valid is as it was */
    pause_ms(200);
    finish_and_read(&c);
    CHECK(c.counters.kernels_invalid == 1 || c.kernel_count == 1);
}

/* More threads hold a buffer than the pool and all scratch buffers are; all come back after the end. CUPTI got memory each time
 * (the fake ends the process otherwise), and what is not in the trace is counted. */
enum { HOLDERS = 90, BUFFERS = 4 };
static _Atomic unsigned holding;
static _Atomic bool let_go;

static void *hold_a_buffer(void *unused)
{
    uint64_t call;
    run_kernel(call_with(7, 1, &call));
    holding++;
    while (!let_go)
        pause_ms(1);
    fake_cupti_hand_back();
    return unused;
}

static void scratch_comes_back(void)
{
    struct trace_content c;
    pthread_t threads[HOLDERS];
    fake_cupti_flush_delivers(false);
    start_with((struct kernel_timing_settings){.buffer_count = BUFFERS, .buffer_bytes = 8192});
    fake_cupti_write_late(1);
    for (unsigned i = 0; i < HOLDERS; i++) {
        CHECK(pthread_create(&threads[i], NULL, hold_a_buffer, NULL) == 0);
        while (holding <= i)
            pause_ms(1);
    }
    other_clients_before("cuptiSubscribe", "/opt/other.so", false);
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF);
    for (int i = 0; i < 1000 && fake_cupti_late_writes() < HOLDERS; i++)
        pause_ms(10);
    CHECK(fake_cupti_late_writes() >= HOLDERS);
    let_go = true;
    for (unsigned i = 0; i < HOLDERS; i++)
        pthread_join(threads[i], NULL);
    finish_and_read(&c);
    CHECK(c.kernel_count + c.counters.kernels_invalid == BUFFERS && c.counters.buffers_lost == HOLDERS - BUFFERS);
}

static void *launch_on(void *unused)
{
    uint64_t call;
    for (;;) {
        run_kernel(call_with(7, 2, &call));
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return unused;
}

static void *take_over(void *unused)
{
    other_clients_before("cuptiSubscribe", "/opt/other.so", false);
    other_clients_after("cuptiSubscribe", false, 0);
    return unused;
}

static void nothing(void)
{
}

static void hand_over(void)
{
    take_over(NULL);
    for (int i = 0; i < 30000 && kernel_timing_state() == KERNEL_TIMING_ON; i++) /* it waits for a second at most */
        pause_ms(1);
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF);
    pause_ms(120); /* late writes fall into the exit */
}

static void hand_over_meanwhile(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, take_over, NULL) == 0 && pthread_detach(thread) == 0);
}

static void exit_in_child(void (*before_exit)(void))
{
    pthread_t thread;
    start_with((struct kernel_timing_settings){.exit_timeout_ms = 1000, .buffer_count = 8, .buffer_bytes = 65536});
    fake_cupti_write_late(100);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread, NULL, launch_on, NULL) == 0 && pthread_detach(thread) == 0);
    pause_ms(50);
    before_exit();
    exit(STATUS);
}

static void exit_under(void (*before_exit)(void))
{
    for (int round = 0; round < ROUNDS; round++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            exit_in_child(before_exit);
        uint64_t until_ns = clock_monotonic_ns() + 60 * second_ns;
        while (waitpid(child, &status, WNOHANG) == 0 && clock_monotonic_ns() < until_ns)
            pause_ms(10);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
    }
}

static void exit_under_load(void)
{
    exit_under(nothing);
}

static void exit_after_handing_over(void)
{
    exit_under(hand_over);
}

static void exit_while_handing_over(void)
{
    exit_under(hand_over_meanwhile);
}

static const struct scenario scenarios[] = {
    {"late_writes", late_writes},
    {"scratch_comes_back", scratch_comes_back},
    {"exit_under_load", exit_under_load},
    {"exit_after_handing_over", exit_after_handing_over},
    {"exit_while_handing_over", exit_while_handing_over},
};

int main(int argc, char **argv)
{
    return host_run(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
}
