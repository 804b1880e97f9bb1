/* SPDX-License-Identifier: Apache-2.0 */
/* A program that begets others: `tree MODE [ARGUMENT]...`, modes in the table at the end. Each process that makes calls adds
 * a line "PID RETURNED FAILED" to the file that TREE_TALLY names, in one appending write; the parent's exit status tells
 * whether its children ended as they were told to. */
#include "gemms.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { M = 64, N = 32, K = 16, BEFORE = 3, BY_CHILD = 5, AFTER = 4, CHILD_STATUS = 40 };

static char own_path[4096];

static void tally(int calls, int failed)
{
    char line[64];
    const char *path = getenv("TREE_TALLY");
    int length = snprintf(line, sizeof line, "%d %d %d\n", (int)getpid(), calls - failed, failed);
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file < 0 || write(file, line, (size_t)length) != length)
        abort();
    close(file);
}

static void calls(int count)
{
    tally(count, gemms_run(count, M, N, K));
}

static struct gemms of_parent;

static void calls_on_handle(int count)
{
    int failed = 0;
    for (int i = 0; i < count; i++)
        failed += gemms_ex(&of_parent, M, N, K) != CUBLAS_STATUS_SUCCESS;
    tally(count, failed);
}

/* Where the parent has used CUDA it is of no use to its children: these ask without a handle, and are refused. */
static void calls_refused(int count)
{
    struct gemms none = {0};
    int failed = 0;
    for (int i = 0; i < count; i++)
        failed += gemms_ex(&none, M, N, K) != CUBLAS_STATUS_SUCCESS;
    tally(count, failed);
}

static int ended_well(pid_t child)
{
    int status = 0;
    pid_t got;
    do
        got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    return child > 0 && got == child && WIFEXITED(status) && WEXITSTATUS(status) == CHILD_STATUS;
}

/* So that a busy machine has the time to keep blocks ready: what is asked here is not how many a burst may take. */
static void pause_a_little(void)
{
    usleep(2000);
}

static char *calls_arguments[] = {own_path, (char *)"calls", (char *)"5", (char *)"40", NULL};

/* ---- modes ---- */

static int run_calls(char **arguments)
{
    calls(atoi(arguments[0]));
    return atoi(arguments[1]);
}

static void leave(const char *how)
{
    if (!strcmp(how, "exit"))
        exit(CHILD_STATUS);
    if (!strcmp(how, "quick_exit"))
        quick_exit(CHILD_STATUS);
    if (!strcmp(how, "exit_group"))
        syscall(SYS_exit_group, CHILD_STATUS);
    _exit(CHILD_STATUS);
}

/* The parent has not used CUDA yet, as a server has not that will fork workers. */
static int run_fork_first(char **arguments)
{
    pid_t child[4];
    int good = 1;
    for (int i = 0; i < 4; i++)
        if (!(child[i] = fork())) {
            calls(BY_CHILD);
            leave(arguments[0]);
        }
    for (int i = 0; i < 4; i++)
        good &= ended_well(child[i]);
    calls(AFTER);
    return !good;
}

static int run_fork_later(char **arguments)
{
    pid_t child[4];
    int good = 1;
    calls_on_handle(BEFORE);
    for (int i = 0; i < 4; i++)
        if (!(child[i] = fork())) {
            calls_refused(BY_CHILD);
            leave(arguments[0]);
        }
    for (int i = 0; i < 4; i++)
        good &= ended_well(child[i]);
    calls_on_handle(AFTER);
    return !good;
}

static pid_t bare_clone(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static int run_exec(char **arguments)
{
    const char *how = arguments[0];
    pid_t child = -1;
    int good;
    calls(BEFORE);
    if (!strcmp(how, "fork"))
        child = fork();
    else if (!strcmp(how, "vfork"))
        child = vfork();
    else if (!strcmp(how, "clone"))
        child = bare_clone();
    else if (posix_spawn(&child, own_path, NULL, NULL, calls_arguments, environ) != 0)
        return 1;
    if (child == 0) {
        execv(own_path, calls_arguments);
        _exit(99);
    }
    good = ended_well(child);
    calls(AFTER);
    return !good;
}

static int run_system(char **arguments)
{
    char command[5000];
    (void)arguments;
    calls(BEFORE);
    snprintf(command, sizeof command, "%s calls 5 40", own_path);
    int status = system(command);
    calls(AFTER);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == CHILD_STATUS);
}

static int run_exec_self(char **arguments)
{
    (void)arguments;
    calls(BEFORE);
    execv(own_path, calls_arguments);
    return 99;
}

/* The child's calls run in this process's memory, and no trace may hold them. BEFORE calls first, or none. */
static int run_vfork_calls(char **arguments)
{
    if (!strcmp(arguments[0], "later"))
        calls(BEFORE);
    for (int i = 0; i < 3; i++) {
        pid_t child = vfork();
        if (child == 0) {
            int failed = gemms_run(BY_CHILD, M, N, K);
            _exit(failed ? 99 : CHILD_STATUS);
        }
        if (!ended_well(child))
            return 1;
    }
    calls(AFTER);
    return 0;
}

/* A child without fork handlers makes calls of its own, and leaves with those of exit. */
static int run_clone(char **arguments)
{
    if (!strcmp(arguments[0], "later"))
        calls(BEFORE);
    pid_t child = bare_clone();
    if (child == 0) {
        if (!strcmp(arguments[0], "later"))
            calls_refused(BY_CHILD);
        else
            calls(BY_CHILD);
        exit(CHILD_STATUS);
    }
    int good = ended_well(child);
    calls(AFTER);
    return !good;
}

static int run_daemon(char **arguments)
{
    (void)arguments;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() != 0)
            _exit(CHILD_STATUS);
        int failed = chdir("/") || syscall(SYS_close_range, 0, ~0U, 0);
        failed += gemms_run(BY_CHILD, M, N, K);
        failed += syscall(SYS_close_range, 0, ~0U, 0) != 0; /* also what a library may have opened since */
        for (int i = 0; i < 200; i++, pause_a_little())
            failed += gemms_run(200, M, N, K); /* enough for the trace to grow */
        tally(BY_CHILD + 200 * 200, failed);
        _exit(0);
    }
    return !ended_well(child);
}

/* Every descriptor is closed, and the numbers are used for others at once; a trace that grows must not miss its own. */
static int run_close_all(char **arguments)
{
    int pair[2], failed = 0;
    (void)arguments;
    calls_on_handle(BEFORE);
    for (int i = 0; i < 200; i++, pause_a_little()) {
        syscall(SYS_close_range, 3, ~0U, 0);
        if (pipe(pair) != 0 || pair[0] != 3 || pair[1] != 4)
            return 1;
        for (int call = 0; call < 200; call++)
            failed += gemms_ex(&of_parent, M, N, K) != CUBLAS_STATUS_SUCCESS;
    }
    tally(200 * 200, failed);
    return fcntl(3, F_GETFD) < 0 || fcntl(5, F_GETFD) >= 0;
}

static int stop;

static void *call_until_stopped(void *argument)
{
    struct gemms own;
    long *count = argument;
    if (!gemms_open(&own))
        return (void *)1;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        if (gemms_ex(&own, M, N, K) != CUBLAS_STATUS_SUCCESS)
            return (void *)1;
        ++*count;
        usleep(200); /* not faster than a busy machine lets blocks be prepared: a drop is not what is asked here */
    }
    return NULL;
}

/* THREADS call all the time while main begets COUNT children, each of which makes one call. */
static int run_load(char **arguments)
{
    enum { MOST = 64, AT_ONCE = 8 };
    const char *how = arguments[0];
    int threads = atoi(arguments[1]), count = atoi(arguments[2]), good = 1;
    pthread_t thread[MOST];
    static long made[MOST];
    pid_t child[AT_ONCE] = {0};
    long sum = BEFORE;
    if (threads < 1 || threads > MOST)
        return 2;
    for (int i = 0; i < BEFORE; i++)
        good &= gemms_ex(&of_parent, M, N, K) == CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < threads; i++)
        good &= pthread_create(&thread[i], NULL, call_until_stopped, &made[i]) == 0;
    for (int i = 0; i < count + AT_ONCE; i++) {
        pid_t *slot = &child[i % AT_ONCE];
        if (i >= AT_ONCE)
            good &= ended_well(*slot);
        if (i < count && !(*slot = !strcmp(how, "clone") ? bare_clone() : fork())) {
            calls_refused(1);
            _exit(CHILD_STATUS);
        }
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < threads; i++) {
        void *failed = NULL;
        pthread_join(thread[i], &failed);
        good &= !failed;
        sum += made[i];
    }
    tally((int)sum, 0);
    return !good;
}

/* clang-format off */
static const struct {
    const char *name;
    int arguments;
    int (*run)(char **arguments);
    bool opens; /* needs the handle of_parent */
    const char *help;
} modes[] = {
    {"calls",      2, run_calls,       false, "COUNT STATUS: so many calls, then leaves with STATUS"},
    {"fork_first", 1, run_fork_first,  false, "exit|_exit|quick_exit|exit_group: 4 children of 5 calls, which leave so, then 4 calls"},
    {"fork_later", 1, run_fork_later,  true,  "HOW: 3 calls before"},
    {"exec",       1, run_exec,        false, "fork|vfork|clone|spawn: 3 calls, a child that execs `calls 5 40`, 4 calls"},
    {"system",     0, run_system,      false, ": the same by system()"},
    {"exec_self",  0, run_exec_self,   false, ": 3 calls, then `calls 5 40` in the same process"},
    {"vfork_calls", 1, run_vfork_calls, false, "first|later: (3 calls,) three children of vfork() with 5 calls each, 4 calls"},
    {"clone",      1, run_clone,       false, "first|later: (3 calls,) a child of bare clone() with 5 calls, 4 calls"},
    {"daemon",     0, run_daemon,      false, ": a daemon without descriptors makes 40 005 calls"},
    {"close_all",  0, run_close_all,   true,  ": 3 calls, then 200 times all descriptors are closed, two opened, and 200 calls made"},
    {"load",       3, run_load,        true,  "fork|clone THREADS COUNT: 3 calls; then THREADS call on while COUNT children make a call each"},
};
/* clang-format on */

int main(int count, char **arguments)
{
    ssize_t length = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
    for (size_t i = 0; length > 0 && count > 1 && i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(modes[i].name, arguments[1]) != 0 || modes[i].arguments != count - 2)
            continue;
        if (modes[i].opens && !gemms_open(&of_parent)) {
            fprintf(stderr, "no GPU\n");
            return 3;
        }
        return modes[i].run(arguments + 2);
    }
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        fprintf(stderr, "tree %s %s\n", modes[i].name, modes[i].help);
    return 2;
}
