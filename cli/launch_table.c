/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what --launch-table names. */
#include "cli/launch_table.h"

#include <stdlib.h>
#include <unistd.h>

#include "classify/launch_table.h"
#include "cli/message.h"

bool launch_table_load(const char *path, const char *command)
{
    char error[LAUNCH_TABLE_ERROR_BYTES];
    char *usual = path ? NULL : launch_table_file_default_path();
    if (!path && (!usual || access(usual, F_OK) != 0)) {
        free(usual);
        return true;
    }
    /* Kept: rows are looked up until the process ends. Volatile, as a pointer that nothing reads would be dropped. */
    static struct launch_table_file *volatile kept;
    struct launch_table_file *file = kept = launch_table_file_read(path ? path : usual, error);
    free(usual);
    if (!file) {
        message_error(command, "%s", error);
        return false;
    }
    launch_table_set_user_file(file);
    return true;
}
