/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the vendor's function behind one of ours, once per function, and never finds ourselves. */
#ifndef PRELOAD_REAL_SYMBOL_H
#define PRELOAD_REAL_SYMBOL_H

#include <stdatomic.h>
#include <stddef.h>

#include "preload/entries.h"

#pragma GCC visibility push(hidden) /* reached without the global offset table */
extern _Atomic(void *) real_symbol_table[SYMBOL_COUNT];
#pragma GCC visibility pop

/* Slow: walks the loader's lists. NEAR is an address in the caller's library (or, for a function that we ask, in the
 * library asked). NULL if there is no such function in the process; it is looked for again next time. errno is kept. */
void *real_symbol_find(unsigned id, const void *near);

/* NULL: not looked for yet, or not there. */
static inline void *real_symbol_known(unsigned id)
{
    return atomic_load_explicit(&real_symbol_table[id], memory_order_acquire);
}

static inline void *real_symbol_get(unsigned id, const void *near)
{
    void *real = real_symbol_known(id);
    if (__builtin_expect(!real, 0))
        real = real_symbol_find(id, near);
    return real;
}

/* Calls that found no real function. */
unsigned long real_symbol_missing(void);

#endif
