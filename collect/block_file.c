/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is followed, and nothing is written to what is no file of this user. */
#include "collect/block_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace.h"

int block_file_open(const char *path, int flags)
{
    struct stat found;
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0 || (!fstat(fd, &found) && S_ISREG(found.st_mode) && found.st_uid == geteuid()))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

bool block_file_write_at(int fd, uint64_t at, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    for (size_t written = 0; written < size;) {
        ssize_t wrote = pwrite(fd, from + written, size - written, (off_t)(at + written));
        if (wrote > 0) {
            written += (size_t)wrote;
        } else if (wrote == 0 || errno != EINTR) {
            errno = wrote ? errno : ENOSPC;
            return false;
        }
    }
    return true;
}

static bool done(int fd, int error)
{
    close(fd);
    errno = error;
    return !error;
}

bool block_file_make(const char *path)
{
    int fd = block_file_open(path, O_WRONLY | O_CREAT | O_EXCL);
    return fd >= 0 && done(fd, fchmod(fd, 0600) ? errno : 0); /* whatever the umask is */
}

bool block_file_read(const char *path, size_t place, unsigned char *block)
{
    int fd = block_file_open(path, O_RDONLY), error = 0;
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
    int fd = block_file_open(path, O_WRONLY);
    return fd >= 0 && done(fd, block_file_write_at(fd, place * TRACE_BLOCK_BYTES + offset, bytes, size) ? 0 : errno);
}

bool block_file_cut(const char *path, size_t places)
{
    int fd = block_file_open(path, O_WRONLY);
    return fd >= 0 && done(fd, ftruncate(fd, (off_t)(places * TRACE_BLOCK_BYTES)) ? errno : 0);
}
