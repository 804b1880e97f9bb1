/* SPDX-License-Identifier: Apache-2.0 */
/* The files of launch_rows/ as the build puts them into the binary (embed_rows.cmake). */
#ifndef CLASSIFY_LAUNCH_ROWS_H
#define CLASSIFY_LAUNCH_ROWS_H

#include <stddef.h>

struct launch_rows_file {
    const char *path; /* "launch_rows/llamacpp.jsonl"; NULL: no more files */
    const char *text;
    size_t bytes;
};

extern const struct launch_rows_file launch_rows_files[];

#endif
