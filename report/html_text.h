/* SPDX-License-Identifier: Apache-2.0 */
/* The one way by which a text gets into HTML or SVG, between tags and in a quoted attribute alike. */
#ifndef REPORT_HTML_TEXT_H
#define REPORT_HTML_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* What has a meaning in markup is escaped. What is no UTF-8, controls but tab and newline, and marks that can't be seen or
 * turn the writing direction, each become U+FFFD. NULL is nothing. */
void html_text_print(FILE *out, const char *text);

/* The same of at most BYTES bytes of TEXT, then an ellipsis if anything is cut off; never within a character. */
void html_text_print_cut(FILE *out, const char *text, size_t bytes);

#endif
