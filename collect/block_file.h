/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks at places of a file of the session's folder, which functions that take a path open for each: there may be more files
 * than a process can have open. False from any: errno tells why. */
#ifndef COLLECT_BLOCK_FILE_H
#define COLLECT_BLOCK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With FLAGS of open(). A descriptor of a regular file of this user's, and -1 for anything else: links are not followed. */
int block_file_open(const char *path, int flags);
/* All SIZE bytes, from AT on. */
bool block_file_write_at(int fd, uint64_t at, const void *bytes, size_t size);

/* PATH must not exist. */
bool block_file_make(const char *path);
bool block_file_read(const char *path, size_t place, unsigned char *block);
/* SIZE bytes from OFFSET in the block on. */
bool block_file_write(const char *path, size_t place, size_t offset, const void *bytes, size_t size);
bool block_file_cut(const char *path, size_t places);

#endif
