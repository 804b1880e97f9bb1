/* SPDX-License-Identifier: Apache-2.0 */
/* The names in a table: one for each row, such that different names look different as far as
 * their place allows. */
#ifndef REPORT_ROW_NAMES_H
#define REPORT_ROW_NAMES_H

#include <stddef.h>

/* NAMES[COUNT] as recorded, NULL where none is known. Returns as many texts of at most WIDTH columns, safe on a terminal.
 * Equal names give equal texts. */
char **row_names(const char *const *names, size_t count, size_t width);

void row_names_free(char **texts, size_t count);

#endif
