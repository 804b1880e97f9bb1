/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a device file's index_kernel lines: those that choose, and whose choice a program reads back. */
#ifndef SIM_CORE_INDEX_KERNEL_H
#define SIM_CORE_INDEX_KERNEL_H

#include "sim/core/work.h"

/* The row for LAUNCH; NULL: none, or its parameters aren't such. Bytes that it would write: *BYTES from *TO on. */
const struct simgpu_index_kernel *index_kernel_of(const struct simgpu_kernel_launch *launch, void **to, size_t *bytes);
/* Writes rows of all numbers below the limit, beginning with another one in each. */
void index_kernel_write(const struct simgpu_kernel_launch *launch);

#endif
