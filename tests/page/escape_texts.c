/* SPDX-License-Identifier: Apache-2.0 */
/* Texts through the page's escaping, for test_escapes.py: stdin holds texts, each {u32 bytes, the bytes}, stdout what each
 * became, in the same form.
 *
 *   escape_texts html        as between tags and in attributes
 *   escape_texts cut BYTES   the same, of at most BYTES bytes */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_text.h"

static void escape(FILE *out, int count, char **argument, const char *text)
{
    if (count == 3 && !strcmp(argument[1], "cut"))
        html_text_print_cut(out, text, strtoul(argument[2], NULL, 10));
    else if (count == 2 && !strcmp(argument[1], "html"))
        html_text_print(out, text);
    else
        exit(2);
}

int main(int count, char **argument)
{
    for (uint32_t bytes; fread(&bytes, sizeof bytes, 1, stdin) == 1;) {
        char *text = malloc((size_t)bytes + 1), *escaped = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&escaped, &size);
        if (!text || !out || fread(text, 1, bytes, stdin) != bytes)
            return 1;
        text[bytes] = '\0';
        escape(out, count, argument, text);
        fclose(out);
        const uint32_t escaped_bytes = (uint32_t)size;
        fwrite(&escaped_bytes, sizeof escaped_bytes, 1, stdout);
        fwrite(escaped, 1, size, stdout);
        free(text);
        free(escaped);
    }
    return 0;
}
