/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's libraries by their names: which of them a function is in, and which a loaded library is. Only comparisons of
 * text: the library that the loader itself asks (preload/audit/) uses this too, and has no C library. */
#ifndef PRELOAD_VENDOR_LIBRARIES_H
#define PRELOAD_VENDOR_LIBRARIES_H

#include <stdbool.h>

/* Which library FUNCTION belongs to by its name, or the one with the DT_SONAME SONAME is: a number from 0 that both agree
 * on; -1: none of those that we stand in front of. */
int vendor_library_of(const char *function);
int vendor_library_named(const char *soname);

/* One of those, or another of NVIDIA's that has functions of them to look up for itself, or watches them, as CUPTI does. */
bool vendor_library_is(const char *soname);

/* The SONAMEs, newest first, NULL at the end, of the library that FUNCTION belongs to; NULL: of none. */
const char *const *vendor_library_sonames(const char *function);

#endif
