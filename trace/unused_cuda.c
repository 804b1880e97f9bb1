/* SPDX-License-Identifier: Apache-2.0 */
/* As refusals.c has it: two processes may take one slot at the same moment; then one line is lost. */
#include "trace/unused_cuda.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/side_file.h"

enum { FILE_BYTES = UNUSED_CUDA_BYTES * UNUSED_CUDA_SLOTS };

bool unused_cuda_make(const char *folder)
{
    return side_file_make(folder, TRACE_UNUSED_CUDA_FILE, FILE_BYTES);
}

/* A limit on file sizes would send a signal, and a file that is not as it was made is not ours. */
static bool may_write(int fd)
{
    struct stat status;
    struct rlimit limit;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == FILE_BYTES &&
           getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= FILE_BYTES;
}

static void add(int fd, const struct unused_cuda *process)
{
    char text[UNUSED_CUDA_BYTES] = "", first;
    if (!may_write(fd))
        return;
    snprintf(text, sizeof text, "%" PRId64 "\n%s\n%s\n", process->pid, process->runtime, process->driver);
    for (off_t at = 0; at < FILE_BYTES; at += UNUSED_CUDA_BYTES) {
        if (pread(fd, &first, 1, at) != 1)
            return;
        if (first)
            continue;
        if (pwrite(fd, text, sizeof text, at) < 0) {
            /* nobody is left to tell */
        }
        return;
    }
}

void unused_cuda_add(const char *folder, const struct unused_cuda *process)
{
    int saved = errno, fd = side_file_open(folder, TRACE_UNUSED_CUDA_FILE, O_RDWR);
    if (fd >= 0) {
        add(fd, process);
        close(fd);
    }
    errno = saved;
}

/* The line at *TEXT into LINE; *TEXT goes behind it. False: there is none, or it is too long. */
static bool take_line(const char **text, char line[UNUSED_CUDA_PATH_BYTES])
{
    size_t length = strcspn(*text, "\n");
    if ((*text)[length] != '\n' || length >= UNUSED_CUDA_PATH_BYTES)
        return false;
    memcpy(line, *text, length);
    line[length] = '\0';
    *text += length + 1;
    return true;
}

static bool understand(const char *slot, struct unused_cuda *process)
{
    char text[UNUSED_CUDA_BYTES + 1], pid[UNUSED_CUDA_PATH_BYTES], *end;
    const char *rest = text;
    memcpy(text, slot, UNUSED_CUDA_BYTES);
    text[UNUSED_CUDA_BYTES] = '\0';
    if (!take_line(&rest, pid) || !take_line(&rest, process->runtime) || !take_line(&rest, process->driver))
        return false;
    process->pid = strtoll(pid, &end, 10);
    return process->pid > 0 && !*end && (*process->runtime || *process->driver);
}

size_t unused_cuda_read(const char *folder, struct unused_cuda processes[UNUSED_CUDA_SLOTS])
{
    char slots[FILE_BYTES];
    size_t count = 0, bytes = side_file_read(folder, TRACE_UNUSED_CUDA_FILE, slots, sizeof slots);
    for (size_t at = 0; at + UNUSED_CUDA_BYTES <= bytes; at += UNUSED_CUDA_BYTES)
        count += understand(slots + at, &processes[count]);
    return count;
}
