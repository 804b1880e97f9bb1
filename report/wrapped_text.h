/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that are no longer than a terminal is wide. */
#ifndef REPORT_WRAPPED_TEXT_H
#define REPORT_WRAPPED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prints TEXT, any number of lines of valid UTF-8, none wider than WIDTH: what is too long goes on in the next line, behind
 * INDENT blanks. Breaks at blanks, inside a word only where it is too long itself. */
void wrapped_text_print(const char *text, size_t width, size_t indent, FILE *out);

/* The same for what is written to a stream: what wrapped_text_begin() returns takes the text, wrapped_text_end() prints it
 * to OUT. There is nothing to write to where memory ends: then OUT itself is returned, and the lines stay long. */
struct wrapped_text {
    FILE *stream, *out;
    char *text;
    size_t bytes, width, indent;
};

FILE *wrapped_text_begin(struct wrapped_text *wrapped, size_t width, size_t indent, FILE *out);
void wrapped_text_end(struct wrapped_text *wrapped);

#endif
