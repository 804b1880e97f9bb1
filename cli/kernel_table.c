/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what --kernel-table names. */
#include "cli/kernel_table.h"

#include <stdlib.h>
#include <unistd.h>

#include "classify/kernel_table_file.h"
#include "cli/message.h"

bool kernel_table_load(const char *path, const char *command)
{
    char error[USER_TABLE_ERROR_BYTES];
    char *usual = path ? NULL : kernel_table_file_default_path();
    if (!path && (!usual || access(usual, F_OK) != 0)) {
        free(usual);
        return true;
    }
    /* Kept: rows are looked up until the process ends. Volatile, as a pointer that nothing reads would be dropped. */
    static struct kernel_table_file *volatile kept;
    struct kernel_table_file *file = kept = kernel_table_file_read(path ? path : usual, error);
    free(usual);
    if (!file) {
        message_error(command, "%s", error);
        return false;
    }
    kernel_families_set_user_rows(file->rows, file->count);
    return true;
}
