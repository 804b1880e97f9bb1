/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded, stands in for a disk quota where the kernel has none: no file below the folder that QUOTA_UNDER names grows beyond
 * QUOTA_BYTES, and who tries gets EDQUOT. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static bool is_below(const char *path)
{
    const char *folder = getenv("QUOTA_UNDER");
    size_t length = folder ? strlen(folder) : 0;
    return length && !strncmp(path, folder, length) && path[length] == '/';
}

static bool too_many(off_t bytes)
{
    const char *most = getenv("QUOTA_BYTES");
    if (!most || bytes <= (off_t)atoll(most))
        return false;
    errno = EDQUOT;
    return true;
}

static bool path_refused(const char *path, off_t bytes)
{
    return is_below(path) && too_many(bytes);
}

static bool file_refused(int fd, off_t bytes)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    return path_refused(path, bytes);
}

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

#pragma GCC visibility push(default)

int truncate(const char *path, off_t bytes)
{
    return path_refused(path, bytes) ? -1 : REAL(truncate)(path, bytes);
}

int ftruncate(int fd, off_t bytes)
{
    return file_refused(fd, bytes) ? -1 : REAL(ftruncate)(fd, bytes);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    return file_refused(fd, offset + bytes) ? -1 : REAL(fallocate)(fd, mode, offset, bytes);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    return file_refused(fd, offset + (off_t)bytes) ? -1 : REAL(pwrite)(fd, from, bytes, offset);
}

ssize_t write(int fd, const void *from, size_t bytes)
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    int saved = errno;
    if (at >= 0 && file_refused(fd, at + (off_t)bytes))
        return -1;
    errno = saved;
    return REAL(write)(fd, from, bytes);
}

#pragma GCC visibility pop
