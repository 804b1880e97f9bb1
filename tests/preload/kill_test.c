/* SPDX-License-Identifier: Apache-2.0 */
/* SIGKILL at random instants: `kill_test TIMES US SHIM HOST FOLDER`. The host raises a count in a shared file after each
 * call that returned. With calls of US microseconds every such call has to be in the trace; with calls that take no time
 * at all (0) it has to be there or be counted as dropped. A call that was never made may not be there. Launches count as calls,
 * and what has values has its kernel's plan. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/launch_values.h"
#include "trace/trace_reader.h"

enum { THREADS = 2 };

static char folder[1024], witness_path[1100];
static uint64_t *witness;
static const char *call_us;

static pid_t start(const char *shim, const char *host)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    setenv("LD_PRELOAD", shim, 1);
    setenv("ROOFTAP_DIR", folder, 1);
    execl(host, host, "loop", witness_path, "2", call_us, (char *)NULL);
    _exit(127);
}

static uint64_t calls_in(const char *path, uint64_t *dropped, bool *sound)
{
    struct trace_error error;
    struct trace_item item;
    uint64_t calls = 0;
    bool has_values = false, has_plan = false;
    struct trace_reader *reader = trace_reader_open(path, &error);
    if (!reader) {
        fprintf(stderr, "%s\n", error.text);
        *sound = false;
        return 0;
    }
    while (trace_reader_next(reader, &item)) {
        calls += item.record->type == TRACE_RECORD_CALL || item.record->type == TRACE_RECORD_LAUNCH;
        has_plan |= item.record->type == TRACE_RECORD_PARAMETER_PLAN;
        has_values |= item.record->type == TRACE_RECORD_LAUNCH && launch_shape_values(item.shape);
    }
    for (size_t i = 0; i < trace_reader_slot_count(reader); i++)
        *dropped += trace_reader_slot(reader, i)->records_dropped;
    *sound = trace_reader_stats(reader)->records_damaged == 0 && trace_reader_stats(reader)->blocks_damaged == 0 &&
             (has_plan || !has_values);
    trace_reader_close(reader);
    return calls;
}

/* Counts and removes the only trace there may be. */
static int harvest(uint64_t *calls, uint64_t *dropped, bool *sound)
{
    char path[2100];
    struct dirent *entry;
    int files = 0;
    DIR *directory = opendir(folder);
    *calls = *dropped = 0;
    *sound = true;
    while (directory && (entry = readdir(directory)))
        if (strstr(entry->d_name, TRACE_FILE_SUFFIX)) {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            *calls += calls_in(path, dropped, sound);
            unlink(path);
            files++;
        }
    if (directory)
        closedir(directory);
    return files;
}

static bool once(const char *shim, const char *host, int index)
{
    memset(witness, 0, 4096);
    pid_t pid = start(shim, host);
    long delay_us = random() % 25000;
    if (index % 4) /* the others may hit the start itself */
        for (int i = 0; i < 5000 && !__atomic_load_n(&witness[0], __ATOMIC_ACQUIRE); i++)
            usleep(200);
    usleep((useconds_t)delay_us);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    uint64_t returned = witness[0] + witness[1], recorded, dropped;
    bool sound;
    int files = harvest(&recorded, &dropped, &sound);
    uint64_t known = recorded + (atoi(call_us) ? 0 : dropped);
    if (returned && (files != 1 || !sound || known < returned || recorded > returned + THREADS)) {
        fprintf(stderr,
                "kill %d after %ld us: %" PRIu64 " calls returned, %" PRIu64 " in the trace, %" PRIu64
                " dropped (%d files%s)\n",
                index, delay_us, returned, recorded, dropped, files, sound ? "" : ", damaged");
        return false;
    }
    return true;
}

int main(int count, char **arguments)
{
    int failed = 0, with_calls = 0, times = count == 6 ? atoi(arguments[1]) : 0;
    if (times < 1) {
        fprintf(stderr, "usage: kill_test TIMES US SHIM HOST FOLDER\n");
        return 2;
    }
    snprintf(folder, sizeof folder, "%s", arguments[5]);
    call_us = arguments[2];
    snprintf(witness_path, sizeof witness_path, "%s/witness", folder);
    mkdir(folder, 0700);
    int fd = open(witness_path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096)) {
        fprintf(stderr, "%s: %s\n", witness_path, strerror(errno));
        return 2;
    }
    witness = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    srandom((unsigned)time(NULL));
    for (int i = 0; i < times; i++) {
        failed += !once(arguments[3], arguments[4], i);
        with_calls += witness[0] != 0;
    }
    printf("%d of %d kills lost a call that had returned; %d hit a process that was calling\n", failed, times,
           with_calls);
    return failed || with_calls < times / 2;
}
