/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped, not allocated: it is asked for inside calls of the application, whose allocator may be in the middle of something. */
#include "cupti/reserved_memory.h"

#include <sys/mman.h>

void *reserved_memory_map(size_t bytes)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}
