/* SPDX-License-Identifier: Apache-2.0 */
/* By close_range() where the kernel has it (Linux 5.9), else one by one. */
#include "collect/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

void descriptors_close_others(int kept)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
        if (fd != kept)
            dup2(null, fd);
    long most = sysconf(_SC_OPEN_MAX);
    if (kept > STDERR_FILENO + 1 && close_range(STDERR_FILENO + 1, (unsigned)kept - 1, 0) == 0 &&
        close_range((unsigned)kept + 1, ~0U, 0) == 0)
        return;
    for (int fd = STDERR_FILENO + 1; fd < (most > 0 && most < 65536 ? most : 65536); fd++)
        if (fd != kept)
            close(fd);
}
