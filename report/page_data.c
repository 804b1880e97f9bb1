/* SPDX-License-Identifier: Apache-2.0 */
/* What has a meaning in HTML stands only in strings of JSON, where an escape means the same. */
#include "report/page_data.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *bytes, *escape;
} escapes[] = {
    {"<", "\\u003c"},
    {">", "\\u003e"},
    {"&", "\\u0026"},
    {"\xe2\x80\xa8", "\\u2028"}, /* ends of lines in scripts of before 2019 */
    {"\xe2\x80\xa9", "\\u2029"},
};

enum { ESCAPES = sizeof escapes / sizeof escapes[0] };

static size_t escape_at(const char *text)
{
    size_t i = 0;
    while (i < ESCAPES && strncmp(text, escapes[i].bytes, strlen(escapes[i].bytes)))
        i++;
    return i;
}

static void print_escaped(const char *text, FILE *out)
{
    while (*text) {
        size_t plain = strcspn(text, "<>&\xe2");
        fwrite(text, 1, plain, out);
        text += plain;
        if (!*text)
            return;
        size_t escape = escape_at(text);
        if (escape < ESCAPES)
            fputs(escapes[escape].escape, out);
        else
            fputc(*text, out);
        text += escape < ESCAPES ? strlen(escapes[escape].bytes) : 1;
    }
}

bool page_data_print(const json_t *root, FILE *out)
{
    char *text = json_dumps(root, JSON_COMPACT);
    if (!text)
        return false;
    fputs("<script type=\"application/json\" id=\"data\">", out);
    print_escaped(text, out);
    fputs("</script>", out);
    free(text);
    return true;
}
