/* SPDX-License-Identifier: Apache-2.0 */
/* Writing one line of JSON into a buffer that grows. */
#ifndef SIM_CORE_JSON_H
#define SIM_CORE_JSON_H

#include <stddef.h>
#include <stdint.h>

struct json_line {
    char *text;
    size_t length, capacity;
};

void json_text(struct json_line *line, const char *text); /* as it is */
void json_number(struct json_line *line, uint64_t number);
void json_string(struct json_line *line, const char *string);            /* quoted and escaped */
void json_bytes(struct json_line *line, const void *bytes, size_t size); /* a string of hex digits */
void json_release(struct json_line *line);

#endif
