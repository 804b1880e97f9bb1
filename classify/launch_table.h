/* SPDX-License-Identifier: Apache-2.0 */
/* All rows by which launches are read: a user's own first, then the built-in ones, found by the kernel's base name. */
#ifndef CLASSIFY_LAUNCH_TABLE_H
#define CLASSIFY_LAUNCH_TABLE_H

#include <stddef.h>

#include "classify/launch_row.h"
#include "classify/launch_table_file.h"

/* The rows of a base name, *COUNT of them, in the order in which they are asked; NULL: there are none. */
const struct launch_row *const *launch_table_rows(const char *kernel, size_t *count);

/* All rows, by base name. */
const struct launch_row *const *launch_table_all(size_t *count);

/* FILE must outlive all look-ups and whatever they gave; NULL: none. */
void launch_table_set_user_file(const struct launch_table_file *file);

/* What is wrong with a built-in row, which the table then goes without; NULL: nothing. */
const char *launch_table_built_in_error(void);

#endif
