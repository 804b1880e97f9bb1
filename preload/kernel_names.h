/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the kernels that a program registers. Registrations come from constructors of other libraries, possibly before
 * ours and from any thread: the tables are static, zero-initialised and lock-free. */
#ifndef PRELOAD_KERNEL_NAMES_H
#define PRELOAD_KERNEL_NAMES_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/trace_writer.h"

/* KEY: the host stub, as programs pass it to cudaLaunchKernel(). NAME must live as long as the library that registers it. */
void kernel_names_register(const void *key, const char *name);
/* After __cudaGetKernel(): *HANDLE, as programs pass it to __cudaLaunchKernel(), is another key of the same kernel. */
void kernel_names_alias(const void *handle, const void *key);

/* Changes whenever a key came to mean a name, or another one. */
#pragma GCC visibility push(hidden)
extern _Atomic uint64_t kernel_names_changes;
#pragma GCC visibility pop
static inline uint64_t kernel_names_version(void)
{
    return atomic_load_explicit(&kernel_names_changes, memory_order_acquire);
}

/* Id of the kernel's name in this process's trace, 0: not known. Writes the name at its first use. */
uint64_t kernel_names_id(struct trace_thread *thread, const void *key);

/* The name itself; NULL: not known. */
const char *kernel_names_text(const void *key);

/* Kernels that found the table full: their names come from CUPTI alone. */
unsigned long kernel_names_lost(void);

#endif
