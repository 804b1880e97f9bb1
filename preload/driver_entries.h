/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the driver that a host is given by name. A name stands for another function in each version of CUDA that
 * changed its arguments: only what is known to have the arguments of one of our wrappers is replaced by it. */
#ifndef PRELOAD_DRIVER_ENTRIES_H
#define PRELOAD_DRIVER_ENTRIES_H

#include <stddef.h>

/* REAL, asked by CALLER for NAME as of CUDA version VERSION (12020 is 12.2; 0: as of its own), for the per-thread default
 * stream or not, has put the answer into *FUNCTION, which is replaced if it launches kernels or gives out functions in
 * turn. NULLs are the host's to pass. */
void driver_entries_given(const char *name, void **function, int version, int per_thread, const void *real,
                          const void *caller);

/* The host has got a function that launches kernels and whose calls we won't see. */
void driver_entries_escaped(const char *name);

/* Which of our entries NAME as of VERSION is, where the answer is for the per-thread default stream or not; 0: none, or
 * not known. */
unsigned driver_entries_find(const char *name, int version, int per_thread);

/* How many functions escaped since the process started, and their names with commas between them, as many as there is room
 * for in TEXT. */
unsigned driver_entries_list_escaped(char *text, size_t bytes);

#endif
