/* SPDX-License-Identifier: Apache-2.0 */
/* Files of /proc, whose size nothing tells before they are read. For the host: no allocation. */
#ifndef TRACE_PROC_FILE_H
#define TRACE_PROC_FILE_H

#include <stddef.h>

/* At most SIZE bytes of PATH, not terminated. Returns how many; 0 also where the file can't be opened. */
size_t proc_file_read(const char *path, char *buffer, size_t size);
/* Where field NUMBER, from 3 on, begins in TEXT, a /proc/PID/stat that ends in a zero. NULL: there is none. Counted behind the
 * last parenthesis, since the program's name, field 2, may hold blanks and parentheses. */
const char *proc_file_stat_field(const char *text, int number);

#endif
