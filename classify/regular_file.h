/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files of a session for reading. Anybody may have put a pipe or a device under such a name: those are refused, and
 * never waited for. */
#ifndef CLASSIFY_REGULAR_FILE_H
#define CLASSIFY_REGULAR_FILE_H

#include <stdint.h>
#include <stdio.h>

/* Sets *BYTES to the file's size. NULL: errno tells why, 0 stands for something that is no regular file. */
FILE *regular_file_open(const char *path, uint64_t *bytes);

#endif
