/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as RFC 3629 has it: no overlong form, no surrogate, nothing above U+10FFFF. */
#include "report/safe_text.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"

static const char replacement[] = "\xef\xbf\xbd";

size_t safe_text_character(const char *text, uint32_t *character)
{
    const unsigned char *p = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;
    if (bytes < 2) {
        *character = *p;
        return bytes;
    }
    uint32_t c = *p & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if (p[i] >> 6 != 2) /* the terminating NUL too */
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least[bytes] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *character = c;
    return bytes;
}

bool safe_text_is_hostile(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

static char *make_safe(const char *text, bool terminal)
{
    enum { LONGEST = sizeof "\\u{10ffff}" }; /* of what one byte or character can become */
    char *safe = allocate(strlen(text) * LONGEST + 1, 1), *end = safe;
    for (const char *p = text; *p;) {
        uint32_t c;
        size_t bytes = safe_text_character(p, &c);
        if (!bytes) {
            end += sprintf(end, "%s", replacement);
            p++;
            continue;
        }
        if (terminal && safe_text_is_hostile(c))
            end += sprintf(end, c < 0x100 ? "\\x%02x" : "\\u{%04x}", (unsigned)c);
        else {
            memcpy(end, p, bytes);
            end += bytes;
        }
        p += bytes;
    }
    *end = '\0';
    return safe;
}

char *safe_text_utf8(const char *text)
{
    return make_safe(text, false);
}

char *safe_text_terminal(const char *text)
{
    return make_safe(text, true);
}

static bool starts_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t safe_text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += starts_character(*text);
    return width;
}

void safe_text_cut(char *text, size_t width)
{
    static const char dots[] = "...";
    if (safe_text_width(text) <= width)
        return;
    size_t keep = width > 3 ? width - 3 : 0, seen = 0;
    char *p = text;
    for (; *p; p++) {
        if (starts_character(*p) && seen++ == keep)
            break;
    }
    /* What is cut off is longer than three bytes at least where three columns are kept back. */
    memcpy(p, dots, width < 3 ? width + 1 : sizeof dots);
    p[width < 3 ? width : 3] = '\0';
}

/* The text behind its first COLUMNS characters. */
static char *behind_columns(char *text, size_t columns)
{
    for (; *text; text++)
        if (starts_character(*text) && columns-- == 0)
            break;
    return text;
}

void safe_text_cut_middle(char *text, size_t width)
{
    static const char dots[] = "...";
    size_t taken = safe_text_width(text), shown = width > 3 ? width - 3 : 0, head = shown * 2 / 3;
    if (taken <= width || shown < 6) {
        safe_text_cut(text, width);
        return;
    }
    char *cut = behind_columns(text, head), *tail = behind_columns(text, taken - (shown - head));
    /* More than the dots' three bytes is left out: at least four columns are. */
    memcpy(cut, dots, 3);
    memmove(cut + 3, tail, strlen(tail) + 1);
}

void safe_text_cut_around(char *text, size_t width, size_t skip)
{
    size_t head = width / 3;
    if (safe_text_width(text) > width && skip > head + 6 && width >= 24) {
        size_t last = safe_text_width(text) - (width - head - 3);
        char *cut = behind_columns(text, head), *tail = behind_columns(text, skip - 3 < last ? skip - 3 : last);
        memcpy(cut, "...", 3);
        memmove(cut + 3, tail, strlen(tail) + 1);
    }
    safe_text_cut(text, width);
}

void safe_text_print(FILE *out, const char *text, size_t width)
{
    char *safe = safe_text_terminal(text ? text : "(not known)");
    safe_text_cut(safe, width);
    fputs(safe, out);
    free(safe);
}

void safe_text_print_middle(FILE *out, const char *text, size_t width)
{
    char *safe = safe_text_terminal(text);
    safe_text_cut_middle(safe, width);
    fputs(safe, out);
    free(safe);
}
