/* SPDX-License-Identifier: Apache-2.0 */
/* The environment that a process began with, as the kernel shows it: that of this one can be read while other threads edit
 * theirs, and that of another one only by who might trace it. */
#ifndef PRELOAD_ENVIRONMENT_BLOCK_H
#define PRELOAD_ENVIRONMENT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

struct environment_block {
    char *text; /* NAME=VALUE, each ended by a zero byte, and one more at the end of all */
    size_t bytes;
};

/* System calls, no allocation by the host's means. False: no memory. What may not be read is empty. */
bool environment_block_open(struct environment_block *block);
void environment_block_read(struct environment_block *block, int pid);    /* again and again */
const char *environment_block_value(const char *name, const void *block); /* NULL: not in it */
void environment_block_close(struct environment_block *block);

#endif
