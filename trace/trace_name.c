/* SPDX-License-Identifier: Apache-2.0 */
/* What only ends as a trace does is taken for one: its content tells. */
#include "trace/trace_name.h"

#include <string.h>

#include "trace/trace.h"

size_t trace_name_stem(const char *name, const char *suffix)
{
    size_t length = strlen(name), suffix_length = strlen(suffix);
    if (length <= suffix_length || strcmp(name + length - suffix_length, suffix) != 0)
        return 0;
    return length - suffix_length;
}

bool trace_name_is_trace(const char *name)
{
    return trace_name_stem(name, TRACE_FILE_SUFFIX) != 0;
}
