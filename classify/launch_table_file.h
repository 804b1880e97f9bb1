/* SPDX-License-Identifier: Apache-2.0 */
/* A launch table's text, JSON lines: of the built-in files and of a user's own (LAUNCHES.md). */
#ifndef CLASSIFY_LAUNCH_TABLE_FILE_H
#define CLASSIFY_LAUNCH_TABLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/launch_row.h"

enum { LAUNCH_TABLE_ERROR_BYTES = 640 };

struct launch_table_file {
    struct launch_row **rows;
    size_t count, capacity;
    char *path; /* as rows tell it */
};

/* Of TEXT, BYTES of it, as lines of PATH. Where one of them is no row, a line in ERROR (else ""), and NULL for a user's file;
 * a built-in one goes without that row. */
struct launch_table_file *launch_table_file_parse(const char *path, const char *text, size_t bytes, bool users,
                                                  char error[LAUNCH_TABLE_ERROR_BYTES]);
/* The file at PATH, a user's. */
struct launch_table_file *launch_table_file_read(const char *path, char error[LAUNCH_TABLE_ERROR_BYTES]);
void launch_table_file_free(struct launch_table_file *file);

/* Where it is read without being named; NULL where no such folder is known. To be freed. */
char *launch_table_file_default_path(void);

#endif
