/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own rows of the launch table (classify/LAUNCHES.md). */
#ifndef CLI_LAUNCH_TABLE_H
#define CLI_LAUNCH_TABLE_H

#include <stdbool.h>

/* Rows of PATH, or of the default place if that has a file and PATH is NULL. False, with one line on standard error, where
 * the file can't be used. */
bool launch_table_load(const char *path, const char *command);

#endif
