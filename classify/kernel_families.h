/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel's name alone says: its kind, and whether its grid says nothing about its work. */
#ifndef CLASSIFY_KERNEL_PATTERNS_H
#define CLASSIFY_KERNEL_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

enum kernel_kind { KERNEL_OTHER, KERNEL_GEMM, KERNEL_GEMV, KERNEL_ATTENTION };

struct kernel_pattern {
    const char *part; /* of the name, mangled or not; the first row that matches wins */
    enum kernel_kind kind;
    const char *example; /* a real name, for the test that walks the table */
};

const struct kernel_pattern *kernel_patterns(size_t *count);

/* KERNEL_OTHER for every name that no row matches; NULL is such a name. */
enum kernel_kind kernel_kind_of_name(const char *name);

/* Persistent and stream-K kernels launch about one block an SM whatever the shape. */
bool kernel_is_persistent(const char *name);

#endif
