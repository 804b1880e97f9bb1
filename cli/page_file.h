/* SPDX-License-Identifier: Apache-2.0 */
/* The file of `report --html`: it is there whole or as it was before. */
#ifndef CLI_PAGE_FILE_H
#define CLI_PAGE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct page_file {
    const char *shown;   /* as the user named it */
    char path[PATH_MAX]; /* where it goes; a link is followed */
    int descriptor; /* of what is written to as it is: standard output, a pipe, a device; -1: a file, replaced at once */
    bool standard_output;
    off_t old_bytes; /* of a file that would be replaced; 0: nothing would be lost */
};

/* NAME "-": standard output. False: it can't be written, or holds something else than a page, one line of COMMAND has been
 * printed; nothing was made or changed. */
bool page_file_open(struct page_file *file, const char *name, const char *command);

/* By a file beside it that takes its place, with its rights, when all is on disk. False: one line has been printed, and what
 * was there before is still there. Closes FILE in any case. */
bool page_file_write(struct page_file *file, const char *text, size_t bytes, const char *command);

/* Nothing is to be written. */
void page_file_close(struct page_file *file);

#endif
