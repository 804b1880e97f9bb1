/* SPDX-License-Identifier: Apache-2.0 */
/* A child that holds no descriptor, blocks every signal and sleeps. It dies with this process, however that ends. */
#include "cli/group_sentinel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals are also sent by name to every process that matches. The sentinel shows the target's command line: "pkill -f
 * server.py" reaches it as it reaches the target, while "pkill rooftap", which doesn't reach the target, passes it by. */
static void take_name(char **argv)
{
    char *start = program_invocation_name, *last = argv[0];
    for (char **argument = argv; *argument; argument++)
        last = *argument;
    char *end = last + strlen(last) + 1;
    prctl(PR_SET_NAME, "group-sentinel");
    if (start > argv[0] || argv[0] > last)
        return; /* not laid out as the kernel does it */
    memmove(start, argv[0], (size_t)(end - argv[0]));
    memset(start + (end - argv[0]), 0, (size_t)(argv[0] - start));
}

static void close_all(void)
{
    if (syscall(SYS_close_range, 0U, ~0U, 0U) == 0)
        return;
    long most = sysconf(_SC_OPEN_MAX);
    for (int fd = 0; fd < (most > 0 ? most : 1024); fd++)
        close(fd);
}

static void sit(pid_t parent, char **argv)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it ended before the line above */
        _exit(0);
    close_all();
    take_name(argv);
    for (;;)
        pause();
}

bool group_sentinel_start(struct group_sentinel *sentinel, char **argv)
{
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        sit(parent, argv);
    sentinel->pid = pid > 0 ? pid : 0;
    return pid > 0;
}

static void add_bits(const char *status, const char *field, sigset_t *set)
{
    const char *line = strstr(status, field);
    unsigned long long bits = line ? strtoull(line + strlen(field), NULL, 16) : 0;
    for (int signal_number = 1; signal_number < 32; signal_number++)
        if (bits >> (signal_number - 1) & 1)
            sigaddset(set, signal_number);
}

void group_sentinel_pending(const struct group_sentinel *sentinel, sigset_t *set)
{
    char name[64], status[8192];
    if (!sentinel->pid)
        return;
    snprintf(name, sizeof name, "/proc/%ld/status", (long)sentinel->pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, status, sizeof status - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return;
    status[length] = '\0';
    add_bits(status, "\nSigPnd:", set);
    add_bits(status, "\nShdPnd:", set);
}

void group_sentinel_stop(struct group_sentinel *sentinel)
{
    if (!sentinel->pid)
        return;
    kill(sentinel->pid, SIGKILL);
    while (waitpid(sentinel->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    sentinel->pid = 0;
}
