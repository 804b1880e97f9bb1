/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace file whole, under another name until it is done: who reads it sees the one before or this one. */
#ifndef COLLECT_SUMS_FILE_H
#define COLLECT_SUMS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

struct sums_file {
    int folder, fd; /* -1: something failed, error tells what */
    int error;
    const char *name;
    char part[300];
    uint64_t bytes; /* written so far */
    uint32_t used;  /* of the block */
    uint64_t sequence;
    struct trace_block_header like;
    union {
        struct trace_block_header header;
        _Alignas(64) unsigned char bytes[TRACE_BLOCK_BYTES];
    } block;
};

/* In FOLDER, beside what NAME is now; NAME stays the caller's. LIKE: a block of the process. */
void sums_file_open(struct sums_file *file, const char *folder, const char *name,
                    const struct trace_block_header *like);
/* A join_sums_put; CONTEXT is a sums_file. */
void sums_file_put(void *context, const struct trace_signature *signature, struct trace_record *record);
/* A block as it is. */
void sums_file_put_block(struct sums_file *file, const unsigned char *block);
/* Puts it in the place of NAME. False with errno set: NAME is as it was, and nothing else is left behind. */
bool sums_file_close(struct sums_file *file);

#endif
