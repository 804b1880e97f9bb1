/* SPDX-License-Identifier: Apache-2.0 */
/* fork, exec, wait. The shape is that of time(1): what the terminal sends reaches the whole process
 * group, so the target has it already and this process only has to survive it; what another process
 * sends to this one is handed on. */
#include "cli/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int handed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

static volatile sig_atomic_t target_pid; /* 0: there is none */

static void hand_on(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    int saved_errno = errno;
    if (target_pid && info->si_code <= 0 && info->si_pid != target_pid) /* from a process, not the kernel */
        kill(target_pid, signal_number);
    errno = saved_errno;
}

static void all_handed_on(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof handed_on / sizeof handed_on[0]; i++)
        sigaddset(set, handed_on[i]);
}

/* A signal that was ignored stays so, for both: nohup and background jobs rely on it. */
static void install_handlers(void)
{
    struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof handed_on / sizeof handed_on[0]; i++) {
        struct sigaction old;
        if (sigaction(handed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(handed_on[i], &action, NULL);
    }
}

static void run_child(int gate, int exec_result, char **argv, char **envp, const sigset_t *mask)
{
    char byte;
    ssize_t got;
    while ((got = read(gate, &byte, 1)) < 0 && errno == EINTR)
        continue;
    if (got != 1) /* cancelled, or the parent died */
        _exit(0);
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
    /* Blocked across fork: a signal in between must neither be lost nor end this process alone. */
    sigset_t block, before;
    all_handed_on(&block);
    sigprocmask(SIG_BLOCK, &block, &before);
    pid_t pid = fork();
    if (pid == 0) {
        close(gate[1]);
        run_child(gate[0], result[1], argv, envp, &before);
    }
    int error = errno;
    close(result[1]);
    if (pid < 0) {
        close(gate[0]);
        close(gate[1]);
        close(result[0]);
    } else {
        *target = (struct target){pid, {gate[0], gate[1]}, result[0]};
        target_pid = pid;
        install_handlers();
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid > 0;
}

static int reap(pid_t pid)
{
    /* First wait without reaping: until then the pid can't be another process's, and handing
     * signals on is safe. */
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    target_pid = 0;
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

void target_cancel(struct target *target)
{
    close(target->gate[0]);
    close(target->gate[1]);
    close(target->exec_result);
    reap(target->pid);
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
    reap(target->pid);
    return error;
}

static void watch_until_exit(pid_t pid, target_watch *watch, void *data)
{
    enum { FIRST_MS = 20, LONGEST_MS = 60000 }; /* what has ended shows nothing any more, so early */
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return; /* an old kernel: no watching */
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    int wait_ms = FIRST_MS;
    for (;;) {
        int ready = poll(&ended, 1, wait_ms);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            break;
        if (ready == 0) {
            watch(pid, data);
            wait_ms = wait_ms < LONGEST_MS / 2 ? wait_ms * 2 : LONGEST_MS;
        }
    }
    close(fd);
}

int target_wait(struct target *target, target_watch *watch, void *data)
{
    if (watch)
        watch_until_exit(target->pid, watch, data);
    return reap(target->pid);
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
