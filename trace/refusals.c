/* SPDX-License-Identifier: Apache-2.0 */
/* Slots are taken one after another from one that the pid gives. Two processes may take the same at the same moment: then
 * one line is lost, and the other still says what happened. */
#include "trace/refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/side_file.h"

enum { FILE_BYTES = REFUSAL_BYTES * REFUSAL_SLOTS };

bool refusals_make(const char *folder)
{
    return side_file_make(folder, TRACE_REFUSALS_FILE, FILE_BYTES);
}

/* A limit on file sizes would send a signal, and a file that is not as it was made is not ours. */
static bool may_write(int fd)
{
    struct stat status;
    struct rlimit limit;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == FILE_BYTES &&
           getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= FILE_BYTES;
}

static void add(int fd, int64_t pid, int error)
{
    char slots[FILE_BYTES], text[REFUSAL_BYTES] = "";
    unsigned first = (unsigned)pid % REFUSAL_SLOTS;
    if (!may_write(fd) || pread(fd, slots, sizeof slots, 0) != sizeof slots)
        return;
    for (unsigned i = 0; i < REFUSAL_SLOTS; i++) {
        unsigned at = (first + i) % REFUSAL_SLOTS * REFUSAL_BYTES;
        if (slots[at])
            continue;
        snprintf(text, sizeof text, "%" PRId64 " %d %" PRIu64 "\n", pid, error, clock_realtime_ns());
        if (pwrite(fd, text, sizeof text, (off_t)at) < 0) {
            /* nobody is left to tell */
        }
        return;
    }
}

void refusals_add_process(const char *folder, int64_t pid, int error)
{
    int saved = errno, fd = side_file_open(folder, TRACE_REFUSALS_FILE, O_RDWR);
    if (fd >= 0) {
        add(fd, pid, error);
        close(fd);
    }
    errno = saved;
}

void refusals_add(const char *folder, int error)
{
    refusals_add_process(folder, (int64_t)getpid(), error);
}

static bool understand(const char *slot, struct refusal *refusal)
{
    char text[REFUSAL_BYTES + 1], *end;
    memcpy(text, slot, REFUSAL_BYTES);
    text[REFUSAL_BYTES] = '\0';
    refusal->pid = strtoll(text, &end, 10);
    refusal->error = strtoll(end, &end, 10);
    refusal->realtime_ns = strtoll(end, &end, 10);
    return *end == '\n' && refusal->pid > 0 && refusal->error > 0 && refusal->error < 4096 && refusal->realtime_ns > 0;
}

size_t refusals_read(const char *folder, struct refusal refusals[REFUSAL_SLOTS])
{
    char slots[FILE_BYTES];
    size_t count = 0, bytes = side_file_read(folder, TRACE_REFUSALS_FILE, slots, sizeof slots);
    for (size_t at = 0; at + REFUSAL_BYTES <= bytes; at += REFUSAL_BYTES)
        count += understand(slots + at, &refusals[count]);
    return count;
}
