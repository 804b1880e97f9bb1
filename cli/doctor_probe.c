/* SPDX-License-Identifier: Apache-2.0 */
/* The parent's side. A child that hangs in the driver can't always be killed; then it is left behind, and that is said. */
#include "cli/doctor_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILLED_MS = 1000, MOST_ARGUMENTS = 32 };

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void become(int output, pid_t parent, char *const argv[], char *const envp[])
{
    sigset_t none;
    int nothing = open("/dev/null", O_RDWR);
    setpgid(0, 0); /* what it starts is killed with it */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* a crash leaves no file in the user's folder */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    execve(argv[0], argv, envp);
    _exit(127);
}

/* False: the time is over. */
static bool read_all(struct doctor_probe *probe, int input, int64_t deadline_ms)
{
    size_t used = 0;
    char more[512];
    for (;;) {
        int64_t left_ms = deadline_ms - monotonic_ms();
        struct pollfd end = {.fd = input, .events = POLLIN};
        int ready = left_ms > 0 ? poll(&end, 1, (int)left_ms) : 0;
        if (ready == 0)
            return false;
        if (ready < 0)
            continue; /* a signal */
        bool room = used < sizeof probe->text - 1;
        ssize_t got = room ? read(input, probe->text + used, sizeof probe->text - 1 - used)
                           : read(input, more, sizeof more); /* the rest is not wanted, but its writer has to go on */
        if (got == 0 || (got < 0 && errno != EINTR))
            return true;
        if (got > 0 && room)
            used += (size_t)got;
        probe->text[used] = '\0';
    }
}

/* False: it has not ended in time. */
static bool reap(pid_t pid, int64_t deadline_ms, int *status)
{
    for (;;) {
        pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return true;
        if (monotonic_ms() >= deadline_ms)
            return false;
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
}

static void judge(struct doctor_probe *probe, int status)
{
    if (WIFSIGNALED(status)) {
        probe->end = DOCTOR_PROBE_CRASHED;
        probe->value = WTERMSIG(status);
    } else {
        probe->value = WEXITSTATUS(status);
        probe->end = probe->value ? DOCTOR_PROBE_FAILED : DOCTOR_PROBE_ANSWERED;
    }
}

void doctor_probe_run(struct doctor_probe *probe, char *const argv[], const struct environment *environment,
                      unsigned timeout_s)
{
    int ends[2], status = 0;
    probe->text[0] = '\0';
    probe->end = DOCTOR_PROBE_NO_CHILD;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        probe->value = errno;
        return;
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(ends[1], parent, argv, environment->entries);
    probe->value = errno;
    close(ends[1]);
    if (pid > 0) {
        int64_t deadline_ms = monotonic_ms() + (int64_t)timeout_s * 1000;
        setpgid(pid, pid);
        bool in_time = read_all(probe, ends[0], deadline_ms) && reap(pid, deadline_ms, &status);
        if (in_time) {
            judge(probe, status);
        } else {
            kill(-pid, SIGKILL);
            reap(pid, monotonic_ms() + KILLED_MS, &status);
            probe->end = DOCTOR_PROBE_HUNG;
        }
    }
    close(ends[0]);
}

void doctor_probe_ask(struct doctor_probe *probe, const char *what, const char *const *arguments,
                      const struct environment *environment, unsigned timeout_s)
{
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    char *argv[MOST_ARGUMENTS + 1] = {own, "doctor", "--probe", (char *)what};
    int count = 4;
    own[length > 0 ? length : 0] = '\0';
    for (; arguments && *arguments && count < MOST_ARGUMENTS; arguments++)
        argv[count++] = (char *)*arguments;
    doctor_probe_run(probe, argv, environment, timeout_s);
}

/* ---- what it said ---- */

static const char *next_of(const char *text, const char *key, const char **end)
{
    size_t length = strlen(key);
    for (const char *line = text; *line; line = *end + (**end == '\n')) {
        *end = line + strcspn(line, "\n");
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            return line + length + 1;
    }
    return NULL;
}

bool doctor_probe_value(const struct doctor_probe *probe, const char *key, int index, char *out, size_t size)
{
    const char *end = probe->text, *value = NULL;
    for (int i = 0; i <= index; i++)
        if (!(value = next_of(end + (*end == '\n'), key, &end)))
            break;
    out[0] = '\0';
    if (!value)
        return false;
    size_t length = (size_t)(end - value) < size - 1 ? (size_t)(end - value) : size - 1;
    memcpy(out, value, length);
    out[length] = '\0';
    return true;
}

bool doctor_probe_last(const struct doctor_probe *probe, const char *key, char *out, size_t size)
{
    int count = 0;
    while (doctor_probe_value(probe, key, count, out, size))
        count++;
    return count && doctor_probe_value(probe, key, count - 1, out, size);
}

long doctor_probe_number(const struct doctor_probe *probe, const char *key)
{
    char text[32], *end;
    if (!doctor_probe_value(probe, key, 0, text, sizeof text))
        return -1;
    long value = strtol(text, &end, 10);
    return end != text && !*end ? value : -1;
}

void doctor_probe_trouble(const struct doctor_probe *probe, unsigned timeout_s, char *out, size_t size)
{
    char stage[128], where[160] = "";
    if (doctor_probe_last(probe, "stage", stage, sizeof stage))
        snprintf(where, sizeof where, " in %s", stage);
    switch (probe->end) {
    case DOCTOR_PROBE_NOT_ASKED:
        snprintf(out, size, "was not tried");
        return;
    case DOCTOR_PROBE_NO_CHILD:
        snprintf(out, size, "could not be tried: no process could be made (%s)", strerror(probe->value));
        return;
    case DOCTOR_PROBE_CRASHED:
        snprintf(out, size, "crashed%s (%s)", where, strsignal(probe->value));
        return;
    case DOCTOR_PROBE_FAILED:
        snprintf(out, size, "ended%s with exit status %d", where, probe->value);
        return;
    case DOCTOR_PROBE_HUNG:
        snprintf(out, size, "did not answer within %u s%s", timeout_s, where);
        return;
    case DOCTOR_PROBE_ANSWERED:
        break;
    }
    snprintf(out, size, "answered");
}
