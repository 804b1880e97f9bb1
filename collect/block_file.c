/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is followed, and nothing is written to what is no file of this user. */
#include "collect/block_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace.h"

static int open_file(const char *path, int flags)
{
    struct stat found;
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0 || (!fstat(fd, &found) && S_ISREG(found.st_mode) && found.st_uid == geteuid()))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

static bool done(int fd, int error)
{
    close(fd);
    errno = error;
    return !error;
}

bool block_file_make(const char *path)
{
    int fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
    return fd >= 0 && done(fd, fchmod(fd, 0600) ? errno : 0); /* whatever the umask is */
}

bool block_file_read(const char *path, size_t place, unsigned char *block)
{
    int fd = open_file(path, O_RDONLY), error = 0;
    for (size_t have = 0; fd >= 0 && !error && have < TRACE_BLOCK_BYTES;) {
        ssize_t got = pread(fd, block + have, TRACE_BLOCK_BYTES - have, (off_t)(place * TRACE_BLOCK_BYTES + have));
        if (got > 0)
            have += (size_t)got;
        else if (got == 0 || errno != EINTR)
            error = got ? errno : ENODATA;
    }
    return fd >= 0 && done(fd, error);
}

bool block_file_write(const char *path, size_t place, size_t offset, const void *bytes, size_t size)
{
    int fd = open_file(path, O_WRONLY), error = 0;
    const unsigned char *from = bytes;
    off_t at = (off_t)(place * TRACE_BLOCK_BYTES + offset);
    for (size_t have = 0; fd >= 0 && !error && have < size;) {
        ssize_t wrote = pwrite(fd, from + have, size - have, at + (off_t)have);
        if (wrote > 0)
            have += (size_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            error = wrote ? errno : ENOSPC;
    }
    return fd >= 0 && done(fd, error);
}

bool block_file_cut(const char *path, size_t places)
{
    int fd = open_file(path, O_WRONLY);
    return fd >= 0 && done(fd, ftruncate(fd, (off_t)(places * TRACE_BLOCK_BYTES)) ? errno : 0);
}
