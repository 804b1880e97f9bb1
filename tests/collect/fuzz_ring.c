/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any bytes as a ring. */
#include <fcntl.h>
#include <unistd.h>

#include "hostile.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char folder[] = "/tmp/rooftap-fuzz-XXXXXX";
    static const char name[] = "1-2-0123456789abcdef.trace";
    static int at = -1;
    struct taken taken = {0};
    if (at < 0 && (!mkdtemp(folder) || (at = open(folder, O_RDONLY | O_DIRECTORY)) < 0))
        abort();
    int fd = openat(at, name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    close(fd);
    hostile_drain(at, folder, name, &taken);
    return 0;
}
