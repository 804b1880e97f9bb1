/* SPDX-License-Identifier: Apache-2.0 */
/* fork, exec, wait. What the terminal or another process sends to the whole group reaches the target by itself, and this
 * process only has to survive it; what was sent to this process alone is handed on. */
#include "cli/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int handed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

/* A signal that is ignored stays so, for both: nohup and background jobs rely on it. */
static void all_handed_on(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof handed_on / sizeof handed_on[0]; i++) {
        struct sigaction action;
        if (sigaction(handed_on[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, handed_on[i]);
    }
}

static void run_child(int gate, int exec_result, char **argv, char **envp, const sigset_t *mask,
                      const struct sigaction *child_ended)
{
    char byte;
    ssize_t got;
    while ((got = read(gate, &byte, 1)) < 0 && errno == EINTR)
        continue;
    if (got != 1) /* cancelled, or the parent died */
        _exit(0);
    sigaction(SIGCHLD, child_ended, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvpe(argv[0], argv, envp);
    int error = errno;
    if (write(exec_result, &error, sizeof error) < 0)
        _exit(127);
    _exit(target_exec_status(error));
}

bool target_prepare(struct target *target, char **argv, char **envp)
{
    int gate[2], result[2];
    if (pipe2(gate, O_CLOEXEC) != 0)
        return false;
    if (pipe2(result, O_CLOEXEC) != 0) {
        close(gate[0]);
        close(gate[1]);
        return false;
    }
    /* Blocked from here to this process's end: a signal must neither be lost nor end this process alone. Where SIGCHLD is
     * ignored there would be no status to wait for. */
    sigset_t block, before;
    struct sigaction child_default = {.sa_handler = SIG_DFL}, child_before;
    all_handed_on(&block);
    sigaddset(&block, SIGCHLD);
    sigprocmask(SIG_BLOCK, &block, &before);
    sigaction(SIGCHLD, &child_default, &child_before);
    pid_t pid = fork();
    if (pid == 0) {
        close(gate[1]);
        run_child(gate[0], result[1], argv, envp, &before, &child_before);
    }
    int error = errno;
    close(result[1]);
    if (pid < 0) {
        close(gate[0]);
        close(gate[1]);
        close(result[0]);
    } else {
        *target = (struct target){pid, {gate[0], gate[1]}, result[0], argv, {0}};
        /* After the target: what the group gets in between waits, blocked, in the target, and handing it on merges. */
        group_sentinel_start(&target->sentinel, argv);
    }
    errno = error;
    return pid > 0;
}

static int reap(struct target *target)
{
    int status = 0;
    group_sentinel_stop(&target->sentinel);
    while (waitpid(target->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

void target_cancel(struct target *target)
{
    close(target->gate[0]);
    close(target->gate[1]);
    close(target->exec_result);
    reap(target);
}

int target_start(struct target *target)
{
    int error = 0;
    ssize_t got;
    if (write(target->gate[1], "", 1) != 1)
        error = errno;
    close(target->gate[0]);
    close(target->gate[1]);
    while ((got = read(target->exec_result, &error, sizeof error)) < 0 && errno == EINTR)
        continue;
    close(target->exec_result);
    if (got != sizeof error && error == 0)
        return 0;
    reap(target);
    return error;
}

/* Without reaping: until then the pid can't be another process's, and handing signals on is safe. */
static bool has_ended(const struct target *target)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)target->pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid == target->pid;
}

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The next signal out of SET, 0 if none comes in time. WAIT_MS < 0: as long as it takes. */
static int next_signal(const sigset_t *set, int64_t wait_ms, siginfo_t *info)
{
    struct timespec timeout = {wait_ms / 1000, wait_ms % 1000 * 1000000};
    int found = sigtimedwait(set, info, wait_ms < 0 ? NULL : &timeout);
    return found > 0 ? found : 0;
}

/* timeout(1) signals its child and then the group; here both have to count as one. */
static bool settle(const struct target *target)
{
    enum { SETTLE_MS = 20 };
    int64_t deadline = monotonic_ms() + SETTLE_MS;
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    for (int64_t left; (left = deadline - monotonic_ms()) > 0;) {
        siginfo_t info;
        if (has_ended(target))
            return false;
        next_signal(&ended, left, &info);
    }
    return true;
}

/* From a process, not the kernel: that sends to the group. What the target itself sent is not for it. */
static void note(const struct target *target, int signal_number, const siginfo_t *info, sigset_t *sent)
{
    if (info->si_code <= 0 && info->si_pid != target->pid)
        sigaddset(sent, signal_number);
}

static bool share_a_signal(const sigset_t *one, const sigset_t *other)
{
    for (size_t i = 0; i < sizeof handed_on / sizeof handed_on[0]; i++)
        if (sigismember(one, handed_on[i]) == 1 && sigismember(other, handed_on[i]) == 1)
            return true;
    return false;
}

/* What came to this process up to now, and what came to the group. Signals to a group and fork exclude each other in the
 * kernel: one sent before the fork is pending in the old sentinel and seen here; one sent after it is pending in the new.
 * If it is seen here as well, the new one is stale too and the round is repeated. */
static void collect(struct target *target, const sigset_t *signals, sigset_t *sent, sigset_t *group)
{
    enum { MOST_ROUNDS = 8 };
    sigset_t fresh, seen = *sent;
    int round = 0;
    do {
        struct group_sentinel old = target->sentinel;
        siginfo_t info;
        group_sentinel_start(&target->sentinel, target->argv);
        for (int found; (found = next_signal(signals, 0, &info)) > 0;) {
            note(target, found, &info, sent);
            sigaddset(&seen, found);
        }
        group_sentinel_pending(&old, group);
        group_sentinel_stop(&old);
        sigemptyset(&fresh);
        group_sentinel_pending(&target->sentinel, &fresh);
    } while (share_a_signal(&fresh, &seen) && ++round < MOST_ROUNDS);
}

static void hand_on(struct target *target, const sigset_t *signals, int first, const siginfo_t *info)
{
    sigset_t sent, group;
    sigemptyset(&sent);
    sigemptyset(&group);
    note(target, first, info, &sent);
    if (!settle(target))
        return;
    collect(target, signals, &sent, &group);
    bool in_group = getpgid(target->pid) == getpgrp();
    for (size_t i = 0; i < sizeof handed_on / sizeof handed_on[0]; i++)
        if (sigismember(&sent, handed_on[i]) == 1 && !(in_group && sigismember(&group, handed_on[i]) == 1))
            kill(target->pid, handed_on[i]);
}

int target_wait(struct target *target, target_watch *watch, void *data)
{
    enum { FIRST_MS = 20, LONGEST_MS = 60000 }; /* what has ended shows nothing any more, so early */
    sigset_t signals, all;
    all_handed_on(&signals);
    all = signals;
    sigaddset(&all, SIGCHLD);
    int64_t wait_ms = FIRST_MS, due_ms = monotonic_ms() + wait_ms;
    while (!has_ended(target)) {
        siginfo_t info;
        int64_t left_ms = due_ms - monotonic_ms();
        int found = next_signal(&all, !watch ? -1 : left_ms > 0 ? left_ms : 0, &info);
        if (found && found != SIGCHLD)
            hand_on(target, &signals, found, &info);
        if (watch && monotonic_ms() >= due_ms && !has_ended(target)) {
            watch(target->pid, data);
            wait_ms = wait_ms < LONGEST_MS / 2 ? wait_ms * 2 : LONGEST_MS;
            due_ms = monotonic_ms() + wait_ms;
        }
    }
    return reap(target);
}

int target_exec_status(int exec_errno)
{
    return exec_errno == ENOENT ? 127 : 126;
}

int target_pass_on(int wait_status)
{
    if (WIFEXITED(wait_status))
        return WEXITSTATUS(wait_status);
    int signal_number = WTERMSIG(wait_status);
    /* The core file, if any, is the target's; ours would replace it. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(signal_number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal_number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(signal_number);
    return 128 + signal_number; /* not reached unless the signal can't end us */
}
