/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own GPU rows, in a JSON file: {"gpus": [{"key": "my-gpu", "bytes_per_second": 1.008e12, "flops_per_second":
 * {"bf16": 1.652e14, ...}, ...}]}. cli/GPUS.md describes it; a row as `rooftap gpus --json` prints it is one,
 * too. Its rows come before the built-in ones. */
#ifndef CLASSIFY_GPU_TABLE_FILE_H
#define CLASSIFY_GPU_TABLE_FILE_H

#include <stddef.h>

#include "classify/gpu_specs.h"
#include "classify/user_table.h"

struct gpu_table_file {
    struct gpu_spec *rows;
    size_t count;
    void *texts; /* what the rows' texts belong to */
};

/* NULL, with one line in ERROR (file, line number, what was expected), if PATH can't be used whole. */
struct gpu_table_file *gpu_table_file_read(const char *path, char error[USER_TABLE_ERROR_BYTES]);
void gpu_table_file_free(struct gpu_table_file *file);

/* ${XDG_CONFIG_HOME:-~/.config}/rooftap/gpus.json, whether it is there or not; NULL where no such folder is known. To be
 * freed. */
char *gpu_table_file_default_path(void);

#endif
