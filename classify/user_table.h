/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own table in a JSON file, {"LIST": [ROW, ...]}: where it lies by default, reading it whole, and saying in one line
 * what is wrong where. What a row holds is for gpu_table_file.c and kernel_table_file.c. */
#ifndef CLASSIFY_USER_TABLE_H
#define CLASSIFY_USER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

enum { USER_TABLE_ERROR_BYTES = 512 };
#define USER_TABLE_WHOLE SIZE_MAX /* no row yet: what is wrong is told of line 1 */

struct user_table {
    const char *kind; /* "GPU table", as messages call it */
    const char *path;
    const char *list; /* the member of the file that is the list of rows */
    char *text;       /* of the file */
    size_t index;     /* of the row that is read, or USER_TABLE_WHOLE */
    char *error;      /* of USER_TABLE_ERROR_BYTES */
};

/* The file at PATH whole, *BYTES of it and a NUL behind; to be freed. NULL, with one line in ERROR, if it can't be read. */
char *user_table_text(const char *kind, const char *path, size_t *bytes, char *error, size_t error_bytes);

/* A file may hold any character: a message shows none that would end its line or command a terminal. */
void user_table_keep_on_line(char *message);

/* Sets TEXT, and INDEX to USER_TABLE_WHOLE. NULL, with one line in ERROR, if the file can't be read whole, is no JSON or
 * names a member twice; to be given up by json_decref(). TEXT is to be freed in either case, once nothing more is said of
 * the file. */
json_t *user_table_read(struct user_table *table);

/* Always false. Writes file, line and what is wrong to ERROR, on one line. MEMBER NULL: the row as a whole. */
bool user_table_complain(const struct user_table *table, const char *member, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ${XDG_CONFIG_HOME:-~/.config}/rooftap/NAME, whether it is there or not; NULL where no such folder is known. To be freed. */
char *user_table_default_path(const char *name);

#endif
