/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: anything as a ring, laid out as tests/trace/fuzz_blocks.h says. */
#include <fcntl.h>
#include <unistd.h>

#include "../trace/fuzz_blocks.h"
#include "hostile.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char folder[] = "/tmp/rooftap-fuzz-XXXXXX";
    static const char name[] = "1-2-0123456789abcdef.trace";
    static int at = -1;
    static unsigned char ring[BLOCKS_MAX * TRACE_BLOCK_BYTES];
    struct taken taken = {0};
    memset(ring, 0, sizeof ring);
    size_t ring_bytes = size ? lay_out(bytes + 1, size - 1, bytes[0], ring) : 0;
    if (at < 0 && (!mkdtemp(folder) || (at = open(folder, O_RDONLY | O_DIRECTORY)) < 0))
        abort();
    int fd = openat(at, name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, ring, ring_bytes) != (ssize_t)ring_bytes)
        abort();
    close(fd);
    hostile_drain(at, folder, name, &taken);
    return 0;
}
