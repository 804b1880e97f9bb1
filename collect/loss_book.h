/* SPDX-License-Identifier: Apache-2.0 */
/* What a sink could not keep, by process, on its way into the session's file of losses. */
#ifndef COLLECT_LOSS_BOOK_H
#define COLLECT_LOSS_BOOK_H

#include "trace/losses.h"

struct loss_book {
    const char *folder;
    struct loss lines[LOSS_SLOTS];
    bool changed[LOSS_SLOTS];
    unsigned count;
    uint64_t records; /* that were lost since it was opened */
    int first_errno;
};

/* Of the session in FOLDER, which stays the caller's: goes on with what an earlier collector lost. */
void loss_book_open(struct loss_book *book, const char *folder);
/* BLOCK of the process whose trace is NAME was lost. */
void loss_book_add(struct loss_book *book, const char *name, const unsigned char *block, int error);
/* Of that process: so many blocks and records that were taken before, and could not be kept after all. */
void loss_book_add_many(struct loss_book *book, const char *name, uint64_t blocks, uint64_t records, int error);
void loss_book_write(struct loss_book *book);

#endif
