/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose main() left by pthread_exit() shows as a zombie thread leader beside the threads that still run. */
#include "preload/host_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/proc_file.h"

struct thread_look {
    char state; /* 0: not told */
    bool ours;  /* has the name of one of our threads: also what CUPTI started from them, if it did not name it */
};

/* /proc/self/task/TID/stat: the name in parentheses, then the state. */
static struct thread_look look_at(int tid)
{
    struct thread_look look = {0, false};
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return look;
    ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    const char *name = strchr(text, '('), *name_end = strrchr(text, ')');
    if (!name || !name_end || name_end[1] != ' ')
        return look;
    look.state = name_end[2];
    look.ours = !strncmp(name, "(rooftap)", 9) || !strncmp(name, "(rooftap-timing)", 16);
    return look;
}

/* Ours block every signal, and so does what CUPTI starts from them, whatever it is called; a host's thread that does the
 * same keeps no process alive that could still be told to end. */
static bool blocks_all_signals(int tid)
{
    const uint64_t catchable = 0x7fffffffull & ~(1ull << (SIGKILL - 1)) & ~(1ull << (SIGSTOP - 1));
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
    size_t bytes = proc_file_read(path, text, sizeof text - 1);
    text[bytes] = '\0';
    const char *blocked = strstr(text, "\nSigBlk:");
    return blocked && (strtoull(blocked + sizeof "\nSigBlk:" - 1, NULL, 16) & catchable) == catchable;
}

static bool is_ended(struct thread_look look)
{
    return look.state == 'Z' || look.state == 'X';
}

bool host_threads_are_gone(int own_tid, int timing_tid)
{
    if (!is_ended(look_at((int)getpid())))
        return false;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return false;
    bool gone = true;
    for (const struct dirent *task; gone && (task = readdir(tasks));) {
        int tid = atoi(task->d_name);
        struct thread_look look = tid > 0 ? look_at(tid) : (struct thread_look){'Z', false};
        gone = tid == own_tid || tid == timing_tid || look.ours || is_ended(look) || blocks_all_signals(tid);
    }
    closedir(tasks);
    return gone;
}
