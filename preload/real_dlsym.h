/* SPDX-License-Identifier: Apache-2.0 */
/* The C library's own dlsym(), dlvsym(), dlerror() and dlopen(), which this library stands in front of: found without any of them
 * and without private entry points, by walking the tables of the C library. */
#ifndef PRELOAD_REAL_DLSYM_H
#define PRELOAD_REAL_DLSYM_H

#include <stdbool.h>

struct real_dlsym {
    void *(*dlsym)(void *handle, const char *name);
    void *(*dlvsym)(void *handle, const char *name, const char *version);
    char *(*dlerror)(void);
    void *(*dlopen)(const char *file, int mode);
    bool is_known; /* all are of one library that we know as the C library */
};

#pragma GCC visibility push(hidden)
extern struct real_dlsym real_dlsym; /* glibc's: for what this library looks up itself */
extern struct real_dlsym
    real_dlsym_next; /* what a host's call would reach without us: another preload's, else glibc's */
#pragma GCC visibility pop

/* True if they are there. The first call looks; may come before any constructor, and from several threads at once. */
bool real_dlsym_prepare(void);

/* True if they are the C library's own. Else look-ups are passed on and not watched: no answer is changed by guesswork. */
bool real_dlsym_is_known(void);

/* The function NAME of libc.so.6 itself, by its tables; NULL if it has none. May come before real_dlsym_prepare(). */
void *real_dlsym_in_libc(const char *name);

#endif
