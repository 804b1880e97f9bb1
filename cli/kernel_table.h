/* SPDX-License-Identifier: Apache-2.0 */
/* --kernel-table: a user's own patterns of kernel names, the same in every command that has it. */
#ifndef CLI_KERNEL_TABLE_H
#define CLI_KERNEL_TABLE_H

#include <stdbool.h>

/* Reads the table file and puts its rows before the built-in ones, for the rest of the process. PATH NULL: that of the
 * user's configuration folder, if there is one. False: it can't be used, and one line said why. */
bool kernel_table_load(const char *path, const char *command);

#endif
