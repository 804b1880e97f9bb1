/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of the session's folder that lie beside the traces. */
#ifndef TRACE_SIDE_FILE_H
#define TRACE_SIDE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* FOLDER/NAME, with FLAGS of open(). Links are not followed, a pipe is not waited for. -1 with errno set. */
int side_file_open(const char *folder, const char *name, int flags);
/* At most SIZE bytes from its start. How many; 0 too where it can't be opened or read. */
size_t side_file_read(const char *folder, const char *name, void *bytes, size_t size);
/* Makes it, BYTES zeros long, so that the room is there when it is needed. False with errno set; it must not exist. */
bool side_file_make(const char *folder, const char *name, size_t bytes);

#endif
