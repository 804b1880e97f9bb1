/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the vendor's function behind one of ours, once per function, and never finds ourselves. A process may hold several
 * copies of a library; then each caller gets the function that it would get without us. */
#ifndef PRELOAD_REAL_SYMBOL_H
#define PRELOAD_REAL_SYMBOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/entries.h"

#pragma GCC visibility push(hidden) /* reached without the global offset table */
extern _Atomic(void *) real_symbol_table[SYMBOL_COUNT];

/* The real function of a call that is on its way from a thunk (preload/symbol_lookup.h) to its wrapper, and the end of the
 * caller's frame: it is meant for the wrapper that finds itself there, and for no other. */
struct real_symbol_pending {
    uintptr_t stack; /* 0: none */
    void *real;
};
extern _Thread_local struct real_symbol_pending real_symbol_pending __attribute__((tls_model("initial-exec")));

/* Whether one library answers for all handles: once there are two copies of cuBLAS, each has to be asked for its own. */
enum real_symbol_getters { GETTERS_UNKNOWN, GETTERS_BEING_SET, GETTERS_KNOWN, GETTERS_PER_LIBRARY };
extern _Atomic int real_symbol_getters;
#pragma GCC visibility pop

/* Slow: walks the loader's lists. NEAR is an address in the caller's library (or, for a function that we ask, in the
 * library asked). NULL if there is no such function in the process; it is looked for again next time. errno is kept. */
void *real_symbol_find(unsigned id, const void *near);

/* NULL: not looked for yet, or not there. */
static inline void *real_symbol_known(unsigned id)
{
    return atomic_load_explicit(&real_symbol_table[id], memory_order_acquire);
}

/* Slow: REAL, or the pending one if that is of the call whose caller's frame ends at FRAME. */
void *real_symbol_take(void *real, uintptr_t frame);

/* For a wrapper: what to call, as far as it is known. */
static inline __attribute__((always_inline)) void *real_symbol_called(unsigned id)
{
    void *real = real_symbol_known(id);
    if (__builtin_expect(real_symbol_pending.stack != 0, 0))
        real = real_symbol_take(real, (uintptr_t)__builtin_dwarf_cfa());
    return real;
}

/* The same, whole. */
static inline __attribute__((always_inline)) void *real_symbol_get(unsigned id, const void *near)
{
    void *real = real_symbol_called(id);
    if (__builtin_expect(!real, 0))
        real = real_symbol_find(id, near);
    return real;
}

/* A function that we only ask, of the library that NEAR is in. */
void *real_symbol_ask_slowly(unsigned id, const void *near);
static inline void *real_symbol_ask(unsigned id, const void *near)
{
    void *real = real_symbol_known(id);
    if (__builtin_expect(
            !real || atomic_load_explicit(&real_symbol_getters, memory_order_acquire) == GETTERS_PER_LIBRARY, 0))
        real = real_symbol_ask_slowly(id, near);
    return real;
}

/* Whether a library has come that there is another copy of. Slow if something was loaded since the last time. */
void real_symbol_look_for_copies(void);

/* REAL is what every caller of entry ID gets from here on; false if another is, or if callers may differ. */
bool real_symbol_claim(unsigned id, void *real);

/* Libraries are about to be loaded: what is known of callers may not hold for new ones. No lock, no allocation. */
void real_symbol_before_load(void);

/* One of NVIDIA's libraries has been mapped, by whichever way; the same promise. What it means for callers is found out when
 * one of its functions is called through a thunk. */
void real_symbol_after_load(void);

/* NAME in the libraries that have NVIDIA's names for it, however they were opened. */
void *real_symbol_in_named(const char *name);

/* Whether a function of the library that begins between START and END was found for a caller, ever. */
bool real_symbol_is_reached(uintptr_t start, uintptr_t end);

/* Calls that found no real function. */
unsigned long real_symbol_missing(void);

#endif
