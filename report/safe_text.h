/* SPDX-License-Identifier: Apache-2.0 */
/* Names come from strangers' processes: made harmless here, for JSON and for terminals, and nowhere else. */
#ifndef REPORT_SAFE_TEXT_H
#define REPORT_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the character of UTF-8 at TEXT, which goes to *CHARACTER; 0: there is none. */
size_t safe_text_character(const char *text, uint32_t *character);

/* A control, or a mark that turns the writing direction, breaks a line or can't be seen. */
bool safe_text_is_hostile(uint32_t character);

/* Valid UTF-8: every byte that is not part of a valid sequence becomes U+FFFD. The caller frees. */
char *safe_text_utf8(const char *text);

/* The same, and control characters and marks that turn the writing direction become \xNN or \u{NNNN}. The caller frees. */
char *safe_text_terminal(const char *text);

/* Columns that valid UTF-8 takes: one a character. */
size_t safe_text_width(const char *text);

/* Cuts TEXT in place to WIDTH columns, the last three of them dots if anything is cut off. */
void safe_text_cut(char *text, size_t width);

/* The same, with the dots after two thirds: a name's end often tells it apart. */
void safe_text_cut_middle(char *text, size_t width);

/* The WIDTH columns that begin after SKIP columns, with dots in place of what is left out between the text's head and
 * them, and behind them. Shows a difference at SKIP that a cut in the middle would hide. */
void safe_text_cut_around(char *text, size_t width, size_t skip);

/* Prints a stranger's text, of at most WIDTH columns; NULL is "(not known)". */
void safe_text_print(FILE *out, const char *text, size_t width);

/* The same for what must be known, with the dots in the middle: a command's end tells as much as its beginning. */
void safe_text_print_middle(FILE *out, const char *text, size_t width);

#endif
