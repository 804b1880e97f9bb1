/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the vendor's function behind one of ours, once per function, and never finds ourselves. */
#ifndef PRELOAD_REAL_SYMBOL_H
#define PRELOAD_REAL_SYMBOL_H

#include <stdatomic.h>
#include <stddef.h>

#include "preload/entries.h"

extern _Atomic(void *) real_symbol_table[SYMBOL_COUNT];

/* Slow: walks the loader's lists. NEAR is an address in the caller's library (or, for a function that we ask, in the
 * library asked). NULL if there is no such function in the process; it is looked for again next time. errno is kept. */
void *real_symbol_find(unsigned id, const void *near);

static inline void *real_symbol_get(unsigned id, const void *near)
{
    void *real = atomic_load_explicit(&real_symbol_table[id], memory_order_acquire);
    return __builtin_expect(real != NULL, 1) ? real : real_symbol_find(id, near);
}

/* Calls that found no real function. */
unsigned long real_symbol_missing(void);

#endif
