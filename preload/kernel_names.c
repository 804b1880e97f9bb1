/* SPDX-License-Identifier: Apache-2.0 */
/* One open-addressing table from host stubs and kernel handles to names. Entries are never removed: a library that was
 * closed leaves its stubs behind, and one that comes to lie there registers its own names over them. */
#include "preload/kernel_names.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/preload.h"

struct name_slot name_slots[NAME_SLOTS];
static _Atomic unsigned long lost_count;
_Atomic uint64_t kernel_names_changes;

static struct name_slot *find_or_take(const void *key)
{
    unsigned at = name_first_slot(key);
    for (unsigned i = 0; i < NAME_PROBES; i++) {
        struct name_slot *slot = &name_slots[(at + i) % NAME_SLOTS];
        const void *there = atomic_load_explicit(&slot->key, memory_order_acquire);
        if (!there && atomic_compare_exchange_strong(&slot->key, &there, key))
            return slot;
        if (there == key)
            return slot;
    }
    return NULL;
}

/* NAME: NULL: none. */
static void give_name(struct name_slot *slot, const char *name, const void *stub)
{
    atomic_store_explicit(&slot->written_in, 0, memory_order_release);
    atomic_store_explicit(&slot->stub, stub, memory_order_relaxed);
    atomic_store_explicit(&slot->name, name, memory_order_release);
    atomic_store_explicit(&slot->plan, 0, memory_order_release);
    uint64_t version = atomic_fetch_add_explicit(&kernel_names_changes, 1, memory_order_acq_rel) + 1;
    atomic_store_explicit(&slot->version, version, memory_order_release);
}

static void set_name(const void *key, const char *name, const void *stub)
{
    if (!key || !name)
        return;
    struct name_slot *slot = find_or_take(key);
    if (slot)
        give_name(slot, name, stub);
    else
        atomic_fetch_add_explicit(&lost_count, 1, memory_order_relaxed);
}

void kernel_names_register(const void *key, const char *name)
{
    set_name(key, name, key);
}

/* Host stubs may ask for their handle before each launch: what is known already changes nothing. */
static bool is_known(const void *handle, const struct name_slot *kernel)
{
    const struct name_slot *slot = name_slot_find(handle);
    if (!slot || slot == kernel)
        return slot != NULL;
    return atomic_load_explicit(&slot->name, memory_order_acquire) ==
               atomic_load_explicit(&kernel->name, memory_order_acquire) &&
           atomic_load_explicit(&slot->version, memory_order_acquire) >
               atomic_load_explicit(&kernel->version, memory_order_acquire);
}

void kernel_names_alias(const void *handle, const void *key)
{
    struct name_slot *slot = key ? name_slot_find(key) : NULL;
    if (slot && handle && !is_known(handle, slot))
        set_name(handle, atomic_load_explicit(&slot->name, memory_order_acquire), key);
}

void kernel_names_forget(const void *handle)
{
    struct name_slot *slot = handle ? name_slot_find(handle) : NULL;
    if (slot)
        give_name(slot, NULL, NULL);
}

uint64_t kernel_names_id(struct trace_thread *thread, const void *key)
{
    struct name_slot *slot = key ? name_slot_find(key) : NULL;
    if (!slot)
        return 0;
    unsigned now = atomic_load_explicit(&preload_incarnation, memory_order_relaxed);
    if (__builtin_expect(atomic_load_explicit(&slot->written_in, memory_order_acquire) == now, 1))
        return atomic_load_explicit(&slot->id, memory_order_relaxed);
    const char *name = atomic_load_explicit(&slot->name, memory_order_acquire);
    if (!name)
        return 0;
    uint64_t id = trace_name_intern(thread, name);
    atomic_store_explicit(&slot->id, id, memory_order_relaxed);
    atomic_store_explicit(&slot->written_in, now, memory_order_release);
    return id;
}

const char *kernel_names_text(const void *key)
{
    struct name_slot *slot = key ? name_slot_find(key) : NULL;
    return slot ? atomic_load_explicit(&slot->name, memory_order_acquire) : NULL;
}

void kernel_names_changed(void)
{
    atomic_fetch_add_explicit(&kernel_names_changes, 1, memory_order_acq_rel);
}

bool kernel_names_kernel(const void *key, struct kernel_names_kernel *kernel)
{
    struct name_slot *slot = key ? name_slot_find(key) : NULL;
    if (!slot)
        return false;
    kernel->name = atomic_load_explicit(&slot->name, memory_order_acquire);
    kernel->stub = atomic_load_explicit(&slot->stub, memory_order_relaxed);
    return kernel->name != NULL;
}

unsigned long kernel_names_lost(void)
{
    return atomic_load_explicit(&lost_count, memory_order_relaxed);
}
