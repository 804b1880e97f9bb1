/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what --gpu-table and --peak name. */
#include "cli/gpu_options.h"

#include <stdlib.h>
#include <unistd.h>

#include "classify/gpu_table_file.h"
#include "cli/message.h"

bool gpu_options_load_table(const char *path, const char *command)
{
    char error[USER_TABLE_ERROR_BYTES];
    char *usual = path ? NULL : gpu_table_file_default_path();
    if (!path && (!usual || access(usual, F_OK) != 0)) {
        free(usual);
        return true;
    }
    /* Kept: rows are looked up until the process ends. Volatile, as a pointer that nothing reads would be dropped. */
    static struct gpu_table_file *volatile kept;
    struct gpu_table_file *file = kept = gpu_table_file_read(path ? path : usual, error);
    free(usual);
    if (!file) {
        message_error(command, "%s", error);
        return false;
    }
    gpu_specs_set_user_rows(file->rows, file->count);
    return true;
}

bool gpu_options_read_peaks(const struct option_list *values, struct peak_options *peaks, const char *command)
{
    char error[PEAK_OPTION_ERROR_BYTES];
    struct peak_option *options = calloc((size_t)values->count + 1, sizeof *options);
    if (!options) {
        message_error(command, "out of memory");
        return false;
    }
    for (int i = 0; i < values->count; i++) {
        if (peak_option_parse(values->values[i], &options[i], error))
            continue;
        message_error(command, "--peak: %s", error);
        free(options);
        return false;
    }
    *peaks = (struct peak_options){options, (size_t)values->count};
    return true;
}
