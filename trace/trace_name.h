/* SPDX-License-Identifier: Apache-2.0 */
/* Names of trace files, <pid>-<start>-<random>.trace: which files are traces. */
#ifndef TRACE_TRACE_NAME_H
#define TRACE_TRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* TRACE_FILE_SUFFIX ends NAME, and something stands before it. */
bool trace_name_is_trace(const char *name);
/* Length of what stands before SUFFIX; 0: NAME does not end so, or is nothing else. */
size_t trace_name_stem(const char *name, const char *suffix);

#endif
