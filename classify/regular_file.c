/* SPDX-License-Identifier: Apache-2.0 */
/* O_NONBLOCK keeps open() from waiting for a pipe's other end; for regular files it means nothing. */
#include "classify/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *refuse(int fd, int error)
{
    close(fd);
    errno = error;
    return NULL;
}

FILE *regular_file_open(const char *path, uint64_t *bytes)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status))
        return refuse(fd, errno);
    if (!S_ISREG(status.st_mode))
        return refuse(fd, 0);
    *bytes = (uint64_t)status.st_size;
    FILE *file = fdopen(fd, "r");
    return file ? file : refuse(fd, errno);
}
