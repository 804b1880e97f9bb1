/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that are no longer than a terminal is wide. */
#ifndef REPORT_WRAPPED_TEXT_H
#define REPORT_WRAPPED_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Prints TEXT, any number of lines of valid UTF-8, none wider than WIDTH: what is too long goes on in the next line, behind
 * INDENT blanks. Breaks at blanks, inside a word only where it is too long itself. */
void wrapped_text_print(const char *text, size_t width, size_t indent, FILE *out);

#endif
