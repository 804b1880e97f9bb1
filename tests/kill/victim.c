/* SPDX-License-Identifier: Apache-2.0 */
/* Calls until it is killed, kills itself, or is told to leave, and counts in a file that outlives it which calls returned:
 *     victim tree WITNESS THREADS PACE_US [CALLS]   place 0, with a worker at place 1 that was forked before CUDA was used;
 *                                           after CALLS calls its threads rest
 *     victim herd WITNESS THREADS PACE_US COUNT   that calls nothing itself, with COUNT workers at places 1 and on
 *     victim after WITNESS PLACE            what a victim execs: AFTER_CALLS calls
 * Thread t of place p multiplies m = 16 (t + 1) by n = 4 (p + 1), so that a report tells them apart. One thread more calls
 * cublasSgemm once, which the simulator is asked to block. */
#include "victim.h"

#include "gemms.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { AFTER_CALLS = 5, AFTER_STATUS = 43, PARENT_STATUS = 30, WORKER_STATUS = 40, HERD_MOST = PLACES - 1 };

static struct place *places, *own;
static char own_path[4096], *witness_path;
static int thread_count;
static long pace_us;
static uint64_t calls_most = UINT64_MAX;
static volatile sig_atomic_t interrupted;
static pid_t children[HERD_MOST];

static uint64_t look(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void say(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static int own_n(void)
{
    return 4 * (int)(own - places + 1);
}

/* ---- threads that call ---- */

static void pace(const struct timespec *start)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start->tv_sec) * 1000000 + (now.tv_nsec - start->tv_nsec) / 1000 < pace_us);
}

static void *call_on(void *argument)
{
    intptr_t index = (intptr_t)argument;
    struct gemms gemms;
    if (!gemms_open(&gemms))
        _exit(97);
    while (own->returned[index] < calls_most) {
        struct timespec start;
        clock_gettime(CLOCK_MONOTONIC, &start);
        if (gemms_ex(&gemms, 16 * ((int)index + 1), own_n(), K) != CUBLAS_STATUS_SUCCESS)
            _exit(98);
        say(&own->returned[index], own->returned[index] + 1);
        if (own->phase == PHASE_MAIN)
            say(&own->phase, PHASE_CALLING);
        pace(&start);
    }
    return NULL;
}

static void *call_for_ever(void *argument)
{
    struct gemms gemms;
    if (!gemms_open(&gemms))
        _exit(97);
    say(&own->blocked_tid, (uint64_t)syscall(SYS_gettid));
    gemms_sgemm(&gemms, 16 * (thread_count + 1), own_n(), K);
    return argument;
}

static void start_threads(void)
{
    pthread_t thread;
    for (intptr_t i = 0; i < thread_count; i++)
        pthread_create(&thread, NULL, call_on, (void *)i);
    pthread_create(&thread, NULL, call_for_ever, NULL);
}

/* ---- ways to end ---- */

static void become_another(void)
{
    char place[16];
    snprintf(place, sizeof place, "%d", (int)(own - places) + PLACES / 2);
    execl(own_path, own_path, "after", witness_path, place, (char *)NULL);
    _exit(96);
}

/* Until the kernel ends it. */
static void take_all_memory(void)
{
    enum { STEP = 4 << 20 };
    for (;;) {
        char *memory = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED)
            memset(memory, 1, STEP);
    }
}

static void obey(uint64_t order)
{
    switch (order) {
    case ORDER_SEGV:
        *(volatile int *)(uintptr_t)own->unused[0] = 1; /* 0: nowhere */
        break;
    case ORDER_ABRT:
        abort();
    case ORDER_EXIT_NOW:
        _exit(41);
    case ORDER_QUICK_EXIT:
        quick_exit(42);
    case ORDER_EXEC:
        become_another();
        break;
    case ORDER_HOG:
        take_all_memory();
        break;
    default:
        break;
    }
}

static void reap(int flags)
{
    int status;
    for (size_t i = 0; i < HERD_MOST; i++)
        if (children[i] > 0 && waitpid(children[i], &status, flags) == children[i]) {
            say(&places[i + 1].child_status, (uint64_t)status + 1);
            children[i] = 0;
        }
}

/* Holds on within exit(), while the other threads still call, for whatever is to hit it there. */
static void linger(void)
{
    enum { LONGEST_MS = 400 };
    for (int i = 0; i < LONGEST_MS; i++) {
        uint64_t order = look(&own->order);
        if (order == ORDER_LEAVE_AT_ONCE)
            break;
        if (order != ORDER_LEAVE)
            obey(order);
        usleep(1000);
    }
}

static int leave_with(int status)
{
    say(&own->phase, PHASE_LEAVING);
    return status;
}

/* The first SIGINT asks to leave, the second one ends it: as servers do. */
static void on_interrupt(int number)
{
    interrupted = number;
}

static bool told_to_leave(void)
{
    uint64_t order = look(&own->order);
    if (order == ORDER_LEAVE || order == ORDER_LEAVE_AT_ONCE || interrupted)
        return true;
    obey(order);
    return false;
}

static void run_until_told(int place)
{
    own = &places[place];
    say(&own->pid, (uint64_t)getpid());
    say(&own->phase, PHASE_MAIN);
    atexit(linger);
    signal(SIGINT, SIG_DFL);
    sigaction(SIGINT, &(struct sigaction){.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND}, NULL);
    if (place == 0 && children[1])
        return; /* a herd's parent only waits */
    start_threads();
}

static pid_t beget(int place)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    memset(children, 0, sizeof children);
    run_until_told(place);
    while (!told_to_leave())
        usleep(200);
    exit(leave_with(WORKER_STATUS));
}

static int run_parent(int workers)
{
    for (int i = 0; i < workers; i++)
        if ((children[i] = beget(i + 1)) < 0)
            return 95;
    run_until_told(0);
    while (!told_to_leave()) {
        reap(WNOHANG);
        usleep(200);
    }
    reap(workers > 1 ? 0 : WNOHANG);
    return leave_with(PARENT_STATUS);
}

static int run_after(int place)
{
    own = &places[place];
    say(&own->pid, (uint64_t)getpid());
    int failed = gemms_run(AFTER_CALLS, 16, own_n(), K);
    say(&own->returned[0], (uint64_t)(AFTER_CALLS - failed));
    return failed ? 94 : AFTER_STATUS;
}

static bool open_witness(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, WITNESS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    places = memory == MAP_FAILED ? NULL : memory;
    return places != NULL;
}

int main(int count, char **arguments)
{
    if (count < 4 || readlink("/proc/self/exe", own_path, sizeof own_path - 1) < 0 || !open_witness(arguments[2])) {
        fprintf(stderr, "usage: victim tree|herd|after WITNESS ...\n");
        return 2;
    }
    witness_path = arguments[2];
    if (!strcmp(arguments[1], "after"))
        return run_after(atoi(arguments[3]));
    thread_count = atoi(arguments[3]);
    pace_us = count > 4 ? atol(arguments[4]) : 50;
    if (!strcmp(arguments[1], "tree") && count > 5)
        calls_most = strtoull(arguments[5], NULL, 10);
    int workers = !strcmp(arguments[1], "herd") && count > 5 ? atoi(arguments[5]) : 1;
    if (thread_count < 1 || thread_count > RETURNED_MOST || workers < 1 || workers > HERD_MOST / 2)
        return 2;
    return run_parent(workers);
}
