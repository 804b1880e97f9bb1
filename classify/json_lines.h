/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a JSON text that was parsed: jansson tells them for errors of syntax only. */
#ifndef CLASSIFY_JSON_LINES_H
#define CLASSIFY_JSON_LINES_H

#include <stddef.h>

/* The line, from 1, on which element INDEX of the array that the root object has under LIST begins; with MEMBER, the line
 * of that member of the element. 1 where there is no such thing. TEXT must be valid JSON, names without escapes. */
int json_lines_of(const char *text, const char *list, size_t index, const char *member);

#endif
