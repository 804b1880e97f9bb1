/* SPDX-License-Identifier: Apache-2.0 */
/* Reads into addresses that are reserved; only what is read is touched. */
#include "preload/environment_block.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/proc_file.h"

enum { ENVIRONMENT_BYTES = 4 << 20 };

bool environment_block_open(struct environment_block *block)
{
    void *memory =
        mmap(NULL, ENVIRONMENT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *block = (struct environment_block){memory == MAP_FAILED ? NULL : memory, 0};
    return block->text;
}

void environment_block_read(struct environment_block *block, int pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    block->bytes = proc_file_read(path, block->text, ENVIRONMENT_BYTES - 1);
    block->text[block->bytes] = '\0';
}

const char *environment_block_value(const char *name, const void *block)
{
    const struct environment_block *all = block;
    size_t length = strlen(name);
    for (const char *entry = all->text; entry < all->text + all->bytes; entry += strlen(entry) + 1)
        if (!strncmp(entry, name, length) && entry[length] == '=')
            return entry + length + 1;
    return NULL;
}

void environment_block_close(struct environment_block *block)
{
    munmap(block->text, ENVIRONMENT_BYTES);
    block->text = NULL;
}
