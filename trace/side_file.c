/* SPDX-License-Identifier: Apache-2.0 */
/* For the host, too: no allocation. */
#include "trace/side_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int side_file_open(const char *folder, const char *name, int flags)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
}

bool side_file_make(const char *folder, const char *name, size_t bytes)
{
    static const char zeros[4096];
    int fd = side_file_open(folder, name, O_WRONLY | O_CREAT | O_EXCL), error = 0;
    if (fd < 0)
        return false;
    for (size_t at = 0; at < bytes && !error;) {
        size_t step = bytes - at < sizeof zeros ? bytes - at : sizeof zeros;
        ssize_t wrote = pwrite(fd, zeros, step, (off_t)at);
        if (wrote <= 0)
            error = wrote ? errno : ENOSPC;
        else
            at += (size_t)wrote;
    }
    close(fd);
    errno = error;
    return !error;
}

size_t side_file_read(const char *folder, const char *name, void *bytes, size_t size)
{
    int fd = side_file_open(folder, name, O_RDONLY);
    if (fd < 0)
        return 0;
    ssize_t got = pread(fd, bytes, size, 0);
    close(fd);
    return got > 0 ? (size_t)got : 0;
}
