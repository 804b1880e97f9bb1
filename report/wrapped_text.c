/* SPDX-License-Identifier: Apache-2.0 */
/* Columns are counted in UTF-8 characters; a word that is longer than the line is cut. */
#include "report/wrapped_text.h"

#include <stdlib.h>
#include <string.h>

#include "report/text_stream.h"

/* Bytes of LINE that WIDTH columns take, up to a blank behind START if there is one. */
static size_t bytes_that_fit(const char *line, size_t bytes, size_t start, size_t width)
{
    size_t columns = 0, blank = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (line[i] == ' ' && i > start)
            blank = i;
        if (((unsigned char)line[i] & 0xc0) != 0x80 && columns++ == width)
            return blank ? blank : i;
    }
    return bytes;
}

void wrapped_text_print(const char *text, size_t width, size_t indent, FILE *out)
{
    for (size_t line; *text; text += line + (text[line] == '\n')) {
        line = strcspn(text, "\n");
        size_t shown = bytes_that_fit(text, line, indent, width);
        fprintf(out, "%.*s\n", (int)shown, text);
        while (shown < line) {
            shown += strspn(text + shown, " ");
            size_t more = bytes_that_fit(text + shown, line - shown, 0, width - indent);
            fprintf(out, "%*s%.*s\n", (int)indent, "", (int)more, text + shown);
            shown += more;
        }
    }
}

FILE *wrapped_text_begin(struct wrapped_text *wrapped, size_t width, size_t indent, FILE *out)
{
    *wrapped = (struct wrapped_text){.out = out, .width = width, .indent = indent};
    wrapped->stream = text_stream_open(&wrapped->text, &wrapped->bytes);
    return wrapped->stream ? wrapped->stream : out;
}

void wrapped_text_end(struct wrapped_text *wrapped)
{
    if (!wrapped->stream)
        return;
    if (!fclose(wrapped->stream))
        wrapped_text_print(wrapped->text, wrapped->width, wrapped->indent, wrapped->out);
    free(wrapped->text);
}
