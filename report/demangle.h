/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names as people read them. A name comes from a stranger: a hundred bytes of it can stand for gigabytes of text, or
 * overflow the stack of what reads it. So the C++ library is used in a child process only, which may die of a name. */
#ifndef REPORT_DEMANGLE_H
#define REPORT_DEMANGLE_H

enum {
    DEMANGLE_LONGEST_NAME = 16 * 1024, /* a longer one stays as it is */
    DEMANGLE_LONGEST_TEXT = 64 * 1024, /* more is cut off, with "..." at the end */
    DEMANGLE_DEATHS = 8,               /* of children; then every further name stays as it is */
};

#define DEMANGLE_LIBRARY "libstdc++.so.6" /* at run time only; without it, names stay as they are */

struct demangler; /* holds the child; it starts with the first mangled name */

struct demangler *demangler_open(const char *library);

/* NAME as C++ spells it; a copy of NAME if it is none of C++, or can't be read. Any bytes in, any bytes out. The caller frees. */
char *demangler_name(struct demangler *demangler, const char *name);

void demangler_close(struct demangler *demangler);

#endif
