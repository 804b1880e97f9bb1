/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes of interruptions: a timer's handler that makes calls wherever it finds the program, and one that jumps away from
 * there. The calls inside are refused ones: those the simulated library answers without a lock, so only what stands in
 * front of it is interrupted in the middle of its work and then entered anew. */
#include "subject.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

enum { PERIOD_US = 50, INTERRUPTIONS = 2000, JUMPS = 500, CALLS_MOST = 50000000 };

static volatile sig_atomic_t interruptions, wrong_in_handler;
static sigjmp_buf away;

static void timer(int period_us)
{
    struct itimerval every = {{0, period_us}, {0, period_us}};
    setitimer(ITIMER_REAL, &every, NULL);
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static void call_inside(int number)
{
    (void)number;
    int saved_errno = errno;
    fenv_t saved;
    fegetenv(&saved);
    errno = ERRNO_BEFORE + 1;
    if (refused() != CUBLAS_STATUS_NOT_INITIALIZED || errno != ERRNO_BEFORE + 1)
        wrong_in_handler++;
    interruptions++;
    fesetenv(&saved);
    errno = saved_errno;
}

int scene_handlers(const char *unused)
{
    (void)unused;
    int wrong = 0, errno_changed = 0, flags_changed = 0;
    if (!gemms_open(&gemms))
        return 3;
    call_all("before");
    handle(SIGALRM, call_inside, SA_RESTART);
    timer(PERIOD_US);
    for (int i = 0; i < CALLS_MOST && interruptions < INTERRUPTIONS; i++) {
        errno = ERRNO_BEFORE;
        feclearexcept(FE_ALL_EXCEPT);
        wrong += i % 3 ? refused() != CUBLAS_STATUS_NOT_INITIALIZED : gemms_ex(&gemms, 16, 1 + i % 64, 8) != 0;
        errno_changed += errno != ERRNO_BEFORE;
        flags_changed += fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT) != 0;
    }
    timer(0);
    tell("results interrupted enough %d\n", interruptions >= INTERRUPTIONS);
    tell("results wrong %d, in the handler %d\n", wrong, (int)wrong_in_handler);
    tell("errno changed %d\n", errno_changed);
    tell("fenv changed %d\n", flags_changed);
    call_all("after");
    look("end");
    return 8;
}

static void jump(int number)
{
    (void)number;
    siglongjmp(away, 1);
}

int scene_jumps(const char *unused)
{
    (void)unused;
    volatile int jumped = 0, wrong = 0;
    if (!gemms_open(&gemms))
        return 3;
    call_all("before");
    handle(SIGALRM, jump, 0);
    if (sigsetjmp(away, 1))
        jumped++;
    if (jumped < JUMPS) {
        struct itimerval once = {{0, 0}, {0, PERIOD_US}};
        setitimer(ITIMER_REAL, &once, NULL);
        for (;;)
            wrong += refused() != CUBLAS_STATUS_NOT_INITIALIZED;
    }
    tell("results jumped %d, wrong %d\n", jumped, wrong);
    call_all("after");
    look("end");
    return 8;
}
