/* SPDX-License-Identifier: Apache-2.0 */
/* Reads on until the end or until the buffer is full: the kernel may hand over less than was asked. */
#include "trace/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

size_t proc_file_read(const char *path, char *buffer, size_t size)
{
    size_t length = 0;
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while (length < size && (got = read(fd, buffer + length, size - length)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        if (got > 0)
            length += (size_t)got;
    }
    close(fd);
    return length;
}

const char *proc_file_stat_field(const char *text, int number)
{
    const char *at = strrchr(text, ')');
    for (int i = 2; at && i < number; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at;
}
