/* SPDX-License-Identifier: Apache-2.0 */
/* By the names of what the loader has: libcudart, and libcuda, which a program may also have without it. */
#include "preload/unused_libraries.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/unused_cuda.h"

static void keep(char path[UNUSED_CUDA_PATH_BYTES], const char *name)
{
    if (!*path && strlen(name) < UNUSED_CUDA_PATH_BYTES && !strchr(name, '\n'))
        strcpy(path, name);
}

static int look(struct dl_phdr_info *image, size_t bytes, void *context)
{
    struct unused_cuda *process = context;
    (void)bytes;
    if (!image->dlpi_name)
        return 0;
    const char *slash = strrchr(image->dlpi_name, '/'), *name = slash ? slash + 1 : image->dlpi_name;
    if (!strncmp(name, "libcudart.so", 12))
        keep(process->runtime, image->dlpi_name);
    else if (!strncmp(name, "libcuda.so", 10))
        keep(process->driver, image->dlpi_name);
    return 0;
}

void unused_libraries_note(const char *folder)
{
    struct unused_cuda process = {0};
    dl_iterate_phdr(look, &process);
    if (!*process.runtime && !*process.driver)
        return;
    process.pid = (int64_t)getpid();
    unused_cuda_add(folder, &process);
}
