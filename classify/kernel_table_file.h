/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own patterns of kernel names, in a JSON file: {"kernels": [{"function": "_fwd_kernel", "family": "attention",
 * "role": "prefill"}, ...]}. cli/KERNELS.md describes it. Its rows come before the built-in ones. */
#ifndef CLASSIFY_KERNEL_TABLE_FILE_H
#define CLASSIFY_KERNEL_TABLE_FILE_H

#include <stddef.h>

#include "classify/kernel_families.h"
#include "classify/user_table.h"

struct kernel_table_file {
    struct kernel_family_row *rows;
    size_t count;
    void *texts; /* what the rows' texts belong to */
};

/* NULL, with one line in ERROR (file, line number, what was expected), if PATH can't be used whole. */
struct kernel_table_file *kernel_table_file_read(const char *path, char error[USER_TABLE_ERROR_BYTES]);
void kernel_table_file_free(struct kernel_table_file *file);

/* ${XDG_CONFIG_HOME:-~/.config}/rooftap/kernels.json, whether it is there or not; NULL where no such folder is known. To be
 * freed. */
char *kernel_table_file_default_path(void);

#endif
