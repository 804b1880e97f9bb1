/* SPDX-License-Identifier: Apache-2.0 */
/* Writing one line of JSON: kept to what the ledger needs and to what a launch can afford. */
#include "sim/core/json.h"

#include <stdlib.h>
#include <string.h>

static char *room(struct json_line *line, size_t size)
{
    if (line->length + size > line->capacity) {
        size_t capacity = 2 * (line->length + size) + 512;
        char *grown = realloc(line->text, capacity);
        if (!grown)
            abort(); /* a ledger with holes would be believed */
        line->text = grown;
        line->capacity = capacity;
    }
    char *place = line->text + line->length;
    line->length += size;
    return place;
}

void json_text(struct json_line *line, const char *text)
{
    size_t length = strlen(text);
    memcpy(room(line, length), text, length);
}

void json_number(struct json_line *line, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    memcpy(room(line, sizeof digits - at), digits + at, sizeof digits - at);
}

static const char hex[] = "0123456789abcdef";

void json_string(struct json_line *line, const char *string)
{
    *room(line, 1) = '"';
    for (const unsigned char *c = (const unsigned char *)string; *c; c++) {
        if (*c == '"' || *c == '\\') {
            char *place = room(line, 2);
            place[0] = '\\';
            place[1] = (char)*c;
        } else if (*c < 0x20) {
            char *place = room(line, 6);
            memcpy(place, "\\u00", 4);
            place[4] = hex[*c >> 4];
            place[5] = hex[*c & 15];
        } else {
            *room(line, 1) = (char)*c;
        }
    }
    *room(line, 1) = '"';
}

void json_bytes(struct json_line *line, const void *bytes, size_t size)
{
    char *place = room(line, 2 * size + 2);
    *place++ = '"';
    for (size_t i = 0; i < size; i++) {
        *place++ = hex[((const unsigned char *)bytes)[i] >> 4];
        *place++ = hex[((const unsigned char *)bytes)[i] & 15];
    }
    *place = '"';
}

void json_release(struct json_line *line)
{
    free(line->text);
    *line = (struct json_line){0};
}
