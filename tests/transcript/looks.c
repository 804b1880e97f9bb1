/* SPDX-License-Identifier: Apache-2.0 */
/* What a process can see of itself that a library in it could change. */
#include "subject.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A thread that was just made has its maker's name for a moment, and may have a file of /proc open. */
enum { SETTLE_US = 20000 };

static int by_number(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static void tell_descriptors(const char *where)
{
    int open_now[256], count = 0;
    DIR *folder = opendir("/proc/thread-self/fd");
    for (const struct dirent *entry; folder && count < 256 && (entry = readdir(folder));)
        if (*entry->d_name != '.' && atoi(entry->d_name) != dirfd(folder))
            open_now[count++] = atoi(entry->d_name);
    closedir(folder);
    qsort(open_now, (size_t)count, sizeof *open_now, by_number);
    for (int i = 0; i < count; i++) {
        char path[64], target[512] = "";
        snprintf(path, sizeof path, "/proc/thread-self/fd/%d", open_now[i]);
        ssize_t length = readlink(path, target, sizeof target - 1);
        bool is_file = length > 0 && *target == '/'; /* numbers of pipes are the run's */
        tell("descriptors %s %d %s\n", where, open_now[i], is_file ? target : "no file");
    }
}

static void tell_signals(const char *where)
{
    sigset_t mask, pending;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            tell("dispositions %s %d %s %#x\n", where, number, action.sa_handler == SIG_IGN ? "ignored" : "handled",
                 (unsigned)action.sa_flags);
        if (sigismember(&mask, number) == 1)
            tell("mask %s %d\n", where, number);
        if (sigismember(&pending, number) == 1)
            tell("pending %s %d\n", where, number);
    }
}

/* The threads of the process by name, with the signals that each has blocked. */
static void tell_threads(const char *where)
{
    DIR *folder = opendir("/proc/self/task");
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[300], line[256], name[64] = "gone", blocked[64] = "gone";
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *status = *entry->d_name == '.' ? NULL : fopen(path, "re");
        if (!status)
            continue;
        while (fgets(line, sizeof line, status)) {
            sscanf(line, "Name: %63s", name);
            sscanf(line, "SigBlk: %63s", blocked);
        }
        fclose(status);
        tell("threads %s %s blocks %s\n", where, name, blocked);
    }
    closedir(folder);
}

/* `env` says what a child gets; the harness leaves out what is documented. */
static void tell_children(const char *where)
{
    char line[8192];
    FILE *child = popen("env", "r");
    while (child && fgets(line, sizeof line, child))
        tell("children %s %s", where, line);
    tell("children %s ended %d\n", where, child ? pclose(child) : -1);
}

static void tell_rest(const char *where)
{
    char folder[4096];
    mode_t mask = umask(0);
    umask(mask);
    tell("umask %s %#o\n", where, (unsigned)mask);
    tell("folder %s %s\n", where, getcwd(folder, sizeof folder) ? folder : "none");
    tell("process %s group %d session %d nice %d\n", where, getpgrp() == getpid(), getsid(0) == getpid(), nice(0));
}

void look(const char *where)
{
    usleep(SETTLE_US);
    tell_descriptors(where);
    tell_signals(where);
    tell_threads(where);
    tell_rest(where);
    tell_children(where);
}
