/* SPDX-License-Identifier: Apache-2.0 */
/* Writes TRACE_CLOCKS_FILE. For a process of the command, not for a host: each record is a system call, and what was
 * written survives a kill at any time. */
#ifndef TRACE_CLOCKS_FILE_H
#define TRACE_CLOCKS_FILE_H

#include <stdbool.h>

#include "trace/trace.h"

struct clocks_file {
    int fd; /* -1: not open */
    uint64_t block_at;
    uint64_t process_id_hash, sequence;
    uint32_t used; /* of the block */
    union {
        struct trace_block_header header;
        _Alignas(64) unsigned char bytes[TRACE_BLOCK_BYTES];
    } block;
};

/* Makes FOLDER/gpu.clocks, which must not exist. False with errno set. */
bool clocks_file_open(struct clocks_file *file, const char *folder);
/* CLOCKS is filled behind the record header. False with errno set: nothing more is to be written. */
bool clocks_file_add(struct clocks_file *file, struct trace_clocks *clocks);
/* Adds the END record and closes. */
void clocks_file_close(struct clocks_file *file);

#endif
