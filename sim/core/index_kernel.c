/* SPDX-License-Identifier: Apache-2.0 */
/* Indices in place of those that a kernel would have sorted or chosen: each row of int32 holds all below a limit. */
#include "sim/core/index_kernel.h"
#include "sim/core/state.h"

#include <stdlib.h>
#include <string.h>

/* NAME itself, or mangled as the name of a function outside of namespaces, template or not. */
static bool is_named(const char *kernel, const char *name)
{
    if (!strcmp(kernel, name))
        return true;
    if (strncmp(kernel, "_Z", 2))
        return false;
    char *behind;
    unsigned long length = strtoul(kernel + 2, &behind, 10);
    return length == strlen(name) && !strncmp(behind, name, length);
}

static bool value_of(const struct simgpu_kernel_launch *launch, unsigned index, void *value, size_t size)
{
    const struct simgpu_kernel *kernel = launch->kernel;
    if (!launch->args || (int)index >= kernel->param_count || kernel->params[index].size != size)
        return false;
    memcpy(value, launch->args[index], size);
    return true;
}

static bool extent_of(const struct simgpu_kernel_launch *launch, const struct simgpu_index_kernel *row, int32_t **to,
                      int32_t *rows)
{
    return value_of(launch, row->pointer, to, sizeof *to) && value_of(launch, row->rows, rows, sizeof *rows) && *to &&
           *rows > 0;
}

const struct simgpu_index_kernel *index_kernel_of(const struct simgpu_kernel_launch *launch, void **to, size_t *bytes)
{
    const struct simgpu_device *device = simgpu_device();
    for (size_t i = 0; i < sizeof device->index_kernels / sizeof *device->index_kernels; i++) {
        const struct simgpu_index_kernel *row = &device->index_kernels[i];
        int32_t *place, rows;
        if (!row->name[0] || !is_named(launch->kernel->name, row->name) || !extent_of(launch, row, &place, &rows))
            continue;
        *to = place;
        *bytes = sizeof *place * (size_t)rows * row->limit;
        return row;
    }
    return NULL;
}

void index_kernel_write(const struct simgpu_kernel_launch *launch)
{
    const struct simgpu_index_kernel *row = launch->index;
    int32_t *to, rows;
    if (!row || !extent_of(launch, row, &to, &rows))
        return;
    for (unsigned y = 0; y < (unsigned)rows; y++)
        for (unsigned x = 0; x < row->limit; x++)
            *to++ = (int32_t)((y + x) % row->limit);
}
