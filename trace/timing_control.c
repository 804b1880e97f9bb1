/* SPDX-License-Identifier: Apache-2.0 */
/* For the host, too: no allocation, and the file's blocks are there before it can be seen, so that a full disk is no SIGBUS. */
#include "trace/timing_control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/proc_file.h"
#include "trace/side_file.h"

_Static_assert(sizeof(struct timing_control_process) == 64, "one cache line");
_Static_assert(sizeof(struct timing_control) <= TIMING_CONTROL_BYTES, "fits its pages");
_Static_assert(TIMING_CONTROL_BYTES % 4096 == 0, "whole pages");

/* ---- the file ---- */

static bool put_head(const char *folder, const char *name)
{
    struct timing_control head = {.magic = TIMING_CONTROL_MAGIC, .version = TIMING_CONTROL_VERSION};
    int fd = side_file_open(folder, name, O_WRONLY);
    if (fd < 0)
        return false;
    ssize_t wrote = pwrite(fd, &head, offsetof(struct timing_control, start_ns), 0);
    int why = wrote < 0 ? errno : ENOSPC;
    bool done = wrote == (ssize_t)offsetof(struct timing_control, start_ns);
    close(fd);
    errno = why;
    return done;
}

bool timing_control_make(const char *folder)
{
    char draft[64], from[4096], to[4096];
    if (snprintf(to, sizeof to, "%s/" TIMING_CONTROL_FILE, folder) >= (int)sizeof to) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (access(to, F_OK) == 0)
        return true;
    snprintf(draft, sizeof draft, TIMING_CONTROL_FILE ".%d.%llx.part", (int)getpid(),
             (unsigned long long)clock_monotonic_ns());
    if (snprintf(from, sizeof from, "%s/%s", folder, draft) >= (int)sizeof from) {
        errno = ENAMETOOLONG;
        return false;
    }
    bool made = side_file_make(folder, draft, TIMING_CONTROL_BYTES) && put_head(folder, draft);
    if (made) /* some file systems have no links */
        made = link(from, to) == 0 || errno == EEXIST || rename(from, to) == 0;
    int why = errno;
    unlink(from);
    errno = why;
    return made;
}

static struct timing_control *map(int fd)
{
    struct stat found;
    if (fstat(fd, &found) != 0)
        return NULL;
    errno = EPERM;
    if (!S_ISREG(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & (S_IRWXG | S_IRWXO)))
        return NULL;
    errno = EPROTO;
    if (found.st_size != TIMING_CONTROL_BYTES)
        return NULL;
    struct timing_control *control = mmap(NULL, TIMING_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (control == MAP_FAILED)
        return NULL;
    if (control->magic == TIMING_CONTROL_MAGIC && control->version == TIMING_CONTROL_VERSION)
        return control;
    timing_control_unmap(control);
    errno = EPROTO;
    return NULL;
}

static struct timing_control *map_and_close(int fd)
{
    if (fd < 0)
        return NULL;
    struct timing_control *control = map(fd);
    int why = errno;
    close(fd);
    errno = why;
    return control;
}

struct timing_control *timing_control_map(const char *folder)
{
    return map_and_close(side_file_open(folder, TIMING_CONTROL_FILE, O_RDWR));
}

struct timing_control *timing_control_map_file(const char *path)
{
    return map_and_close(open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
}

void timing_control_unmap(struct timing_control *control)
{
    if (control)
        munmap(control, TIMING_CONTROL_BYTES);
}

/* ---- processes ---- */

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

uint64_t timing_control_owner(int pid, uint64_t start)
{
    return (uint32_t)pid | start << 32;
}

uint64_t timing_control_own(uint32_t *pid_namespace)
{
    char text[1024];
    struct stat found;
    text[proc_file_read("/proc/self/stat", text, sizeof text - 1)] = '\0';
    const char *start = proc_file_stat_field(text, 22);
    *pid_namespace = stat("/proc/self/ns/pid", &found) == 0 ? (uint32_t)found.st_ino : 0;
    return timing_control_owner((int)getpid(), start ? strtoull(start, NULL, 10) : 0);
}

const struct timing_control_process *timing_control_find(const struct timing_control *control, uint64_t owner)
{
    for (unsigned i = 0; i < TIMING_CONTROL_PROCESSES; i++)
        if (load(&control->processes[i].owner) == owner)
            return &control->processes[i];
    return NULL;
}

static bool take_place(struct timing_control_process *process, uint64_t before, uint64_t owner, uint32_t pid_namespace)
{
    if (!__atomic_compare_exchange_n(&process->owner, &before, owner, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&process->word, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&process->seen, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&process->marks, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&process->state, TIMING_CONTROL_WAITING, __ATOMIC_RELAXED);
    __atomic_store_n(&process->windows, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&process->pid_namespace, pid_namespace, __ATOMIC_RELEASE);
    return true;
}

/* Killed, so that it could not leave. Of another namespace's numbers nothing can be said. */
static bool is_gone(const struct timing_control_process *process, uint32_t pid_namespace)
{
    int pid = (int)(uint32_t)load(&process->owner);
    return process->pid_namespace == pid_namespace && kill(pid, 0) != 0 && errno == ESRCH;
}

struct timing_control_process *timing_control_join(struct timing_control *control, uint64_t owner,
                                                   uint32_t pid_namespace)
{
    struct timing_control_process *processes = control->processes;
    for (unsigned i = 0; i < TIMING_CONTROL_PROCESSES; i++)
        if (load(&processes[i].owner) == owner)
            return &processes[i];
    for (unsigned i = 0; i < TIMING_CONTROL_PROCESSES; i++)
        if (!load(&processes[i].owner) && take_place(&processes[i], 0, owner, pid_namespace))
            return &processes[i];
    for (unsigned i = 0; i < TIMING_CONTROL_PROCESSES; i++) {
        uint64_t before = load(&processes[i].owner);
        if (is_gone(&processes[i], pid_namespace) && take_place(&processes[i], before, owner, pid_namespace))
            return &processes[i];
    }
    return NULL;
}

void timing_control_leave(struct timing_control_process *process, uint64_t owner)
{
    __atomic_compare_exchange_n(&process->owner, &owner, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

uint64_t timing_control_word(const struct timing_control *control, const struct timing_control_process *process)
{
    uint64_t all = load(&control->word), own = process ? load(&process->word) : 0;
    return own > all ? own : all;
}

uint64_t timing_control_give(uint64_t *word, enum timing_command command)
{
    uint64_t before = load(word), next;
    do {
        next = (clock_monotonic_ns() / 1000) << 2 | command;
        if (next <= before)
            next = ((before >> 2) + 1) << 2 | command;
    } while (!__atomic_compare_exchange_n(word, &before, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return next;
}

/* ---- marks ---- */

/* False: a newer mark stands there already. Whoever does not finish in a second is taken for dead. */
static bool take_mark_place(struct timing_control_mark *mark, uint64_t sequence)
{
    uint64_t found = load(&mark->sequence), until_ns = clock_monotonic_ns() + 1000000000;
    for (;;) {
        bool busy = found == UINT64_MAX;
        if (!busy && found > sequence)
            return false;
        if (busy && clock_monotonic_ns() < until_ns) {
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
            found = load(&mark->sequence);
        } else if (__atomic_compare_exchange_n(&mark->sequence, &found, UINT64_MAX, false, __ATOMIC_ACQ_REL,
                                               __ATOMIC_ACQUIRE)) {
            return true;
        }
    }
}

uint64_t timing_control_mark(struct timing_control *control, uint64_t owner, const char *text, size_t bytes)
{
    uint64_t sequence = __atomic_add_fetch(&control->marks_given, 1, __ATOMIC_ACQ_REL);
    struct timing_control_mark *mark = &control->marks[sequence % TIMING_CONTROL_MARKS];
    if (!take_mark_place(mark, sequence))
        return sequence;
    mark->realtime_ns = clock_realtime_ns();
    mark->owner = owner;
    mark->bytes = (uint32_t)(bytes < sizeof mark->text ? bytes : sizeof mark->text);
    memcpy(mark->text, text, mark->bytes);
    __atomic_store_n(&mark->sequence, sequence, __ATOMIC_RELEASE);
    return sequence;
}

/* The seqlock of one mark: whole only if it had the same sequence before and after. */
static bool copy_mark(const struct timing_control_mark *shared, uint64_t sequence, struct timing_control_mark *mark)
{
    if (load(&shared->sequence) != sequence)
        return false;
    memcpy(mark, shared, sizeof *mark);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (mark->bytes > sizeof mark->text)
        mark->bytes = sizeof mark->text;
    return __atomic_load_n(&shared->sequence, __ATOMIC_RELAXED) == sequence;
}

enum timing_control_look timing_control_next_mark(const struct timing_control *control, uint64_t *cursor,
                                                  struct timing_control_mark *mark, uint64_t *lost)
{
    uint64_t given = load(&control->marks_given);
    if (given <= *cursor)
        return TIMING_CONTROL_NOTHING;
    if (given - *cursor > TIMING_CONTROL_MARKS) {
        *lost += given - *cursor - TIMING_CONTROL_MARKS;
        *cursor = given - TIMING_CONTROL_MARKS;
    }
    uint64_t next = *cursor + 1;
    if (!copy_mark(&control->marks[next % TIMING_CONTROL_MARKS], next, mark))
        return TIMING_CONTROL_UNFINISHED;
    *cursor = next;
    return TIMING_CONTROL_TAKEN;
}

void timing_control_skip_mark(uint64_t *cursor, uint64_t *lost)
{
    ++*cursor;
    ++*lost;
}
