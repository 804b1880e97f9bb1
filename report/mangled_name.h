/* SPDX-License-Identifier: Apache-2.0 */
/* What can be read off a mangled name that no demangler takes, since it is cut off or too long. */
#ifndef REPORT_MANGLED_NAME_H
#define REPORT_MANGLED_NAME_H

#include <stdbool.h>

bool mangled_name_is(const char *name);

/* "device_kernel<GemmUniversal, tuple, ...": the function, then the names and numbers in its template arguments as far as
 * they can be told, without namespaces. The name itself if not even the function can. The caller frees. */
char *mangled_name_outline(const char *name);

#endif
