/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose main() left by pthread_exit() shows as a zombie thread leader beside the threads that still run. */
#include "preload/host_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The state letter of /proc/self/task/TID/stat, behind the name in parentheses; 0: not told. */
static char thread_state(int tid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' ? name_end[2] : 0;
}

static bool is_ended(char state)
{
    return state == 'Z' || state == 'X';
}

bool host_threads_are_gone(int own_tid, int timing_tid)
{
    if (!is_ended(thread_state((int)getpid())))
        return false;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return false;
    bool gone = true;
    for (const struct dirent *task; gone && (task = readdir(tasks));) {
        int tid = atoi(task->d_name);
        gone = tid <= 0 || tid == own_tid || tid == timing_tid || is_ended(thread_state(tid));
    }
    closedir(tasks);
    return gone;
}
