/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the kernels that a program registers. Registrations come from constructors of other libraries, possibly before
 * ours and from any thread: the tables are static, zero-initialised and lock-free. */
#ifndef PRELOAD_KERNEL_NAMES_H
#define PRELOAD_KERNEL_NAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_writer.h"

/* KEY: the host stub, as programs pass it to cudaLaunchKernel(). NAME must live as long as the library that registers it. */
void kernel_names_register(const void *key, const char *name);
/* After __cudaGetKernel(): *HANDLE, as programs pass it to __cudaLaunchKernel(), is another key of the same kernel. */
void kernel_names_alias(const void *handle, const void *key);

/* HANDLE is another kernel's from here on, whose name is not known. */
void kernel_names_forget(const void *handle);

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

/* Something else about a kernel became known. */
void kernel_names_changed(void);

enum {
    NAME_SLOTS = 1 << 18, /* PyTorch alone registers some ten thousand kernels; only touched pages cost */
    NAME_PROBES = 64,
};

struct name_slot {
    _Atomic(const void *) key;
    _Atomic(const char *) name;
    _Atomic uint64_t id;
    _Atomic unsigned written_in; /* preload_incarnation in which the name went to the trace */
    _Atomic uint64_t version;    /* of all names, when this one was set */
    _Atomic uint64_t plan;       /* see kernel_names_plan() */
    _Atomic(const void *) stub;  /* of which this is a key */
} __attribute__((aligned(64)));
#pragma GCC visibility push(hidden)
extern struct name_slot name_slots[NAME_SLOTS];
#pragma GCC visibility pop

static inline unsigned name_first_slot(const void *key)
{
    return (unsigned)((uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15ull >> (64 - 18));
}

/* NULL: KEY is not known. */
static inline struct name_slot *name_slot_find(const void *key)
{
    unsigned at = name_first_slot(key);
    for (unsigned i = 0; i < NAME_PROBES; i++) {
        struct name_slot *slot = &name_slots[(at + i) % NAME_SLOTS];
        const void *there = atomic_load_explicit(&slot->key, memory_order_acquire);
        if (__builtin_expect(there == key, 1))
            return slot;
        if (!there)
            return NULL;
    }
    return NULL;
}

/* Where the kernel's plan hangs (preload/parameter_plan.h), 0 as often as it is registered; NULL: the kernel is not known. */
static inline _Atomic uint64_t *kernel_names_plan(const void *key)
{
    struct name_slot *slot = key ? name_slot_find(key) : NULL;
    return slot ? &slot->plan : NULL;
}

struct kernel_names_kernel {
    const char *name;
    const void *stub; /* its host stub, whichever key it was asked by */
};
bool kernel_names_kernel(const void *key, struct kernel_names_kernel *kernel);

/* Kernels that found the table full: their names come from CUPTI alone. */
unsigned long kernel_names_lost(void);

#endif
