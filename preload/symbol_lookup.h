/* SPDX-License-Identifier: Apache-2.0 */
/* What a host gets that looks functions up by name. Only exact names of our tables concern us, and only where the answer is
 * a function of one of NVIDIA's libraries: then it gets our wrapper, or a thunk that leads to it and says which copy of the
 * library the call is for. All else is the C library's answer, asked for in the caller's own name.
 *
 * The functions that hosts call are in lookup_entry.c. */
#ifndef PRELOAD_SYMBOL_LOOKUP_H
#define PRELOAD_SYMBOL_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Thunks: pieces of code that note what symbol_thunk_slots[i] says and go on to its wrapper. */
#define SYMBOL_THUNKS      2048
#define SYMBOL_THUNK_BYTES 16

struct symbol_thunk_slot {
    void *real;          /* NULL: free */
    const void *wrapper; /* NULL: being set */
};

/* Behind the name in a look-up that has to fail as if this library were not there; dlerror() takes it off again. */
#define SYMBOL_MISSING_MARK "\001"

#pragma GCC visibility push(hidden)
extern struct symbol_thunk_slot symbol_thunk_slots[SYMBOL_THUNKS];
extern const char symbol_thunks[];

/* ANSWER, or if NAME is not NULL: what the C library says to the caller of that name. In two registers. */
struct symbol_answer {
    void *answer;
    const char *name;
};
struct symbol_answer symbol_lookup(void *handle, const char *name, const void *caller);
struct symbol_answer symbol_lookup_version(void *handle, const char *name, const char *version, const void *caller);
char *symbol_lookup_error(char *text);
#pragma GCC visibility pop

/* What stands in front of REAL, the function of entry ID in one of NVIDIA's libraries, for CALLER: NULL if nothing may,
 * since that library itself asks, or no thunk is left, which is counted as escaped. */
void *symbol_lookup_wrapper(unsigned id, void *real, const void *caller);

/* A thunk for REAL, the function NAME of one of NVIDIA's libraries, whoever calls it; NULL: none of our names, or no thunk is
 * left, which is counted as escaped. No lock, no allocation and no call of the loader. */
void *symbol_lookup_thunk(const char *name, void *real);

/* Whether a thunk leads to a function between START and END. */
bool symbol_lookup_leads_into(uintptr_t start, uintptr_t end);

/* CALLER is in a library of NVIDIA's that looks up functions for itself: it gets what it asks for. */
bool symbol_lookup_is_vendor(const void *caller);

/* Whether look-ups by name are watched in this process: wanted, and possible. */
bool symbol_lookup_is_on(void);

/* They are wanted, but the C library's own functions were not found where they belong: each look-up is passed on. */
bool symbol_lookup_is_lost(void);

#endif
