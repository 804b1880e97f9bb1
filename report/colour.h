/* SPDX-License-Identifier: Apache-2.0 */
/* Colours of a terminal. They say nothing that the text doesn't say. */
#ifndef REPORT_COLOUR_H
#define REPORT_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

#include "classify/roofline.h"

enum colour { COLOUR_NONE, COLOUR_BOLD, COLOUR_DIM, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_MAGENTA };

/* Only where OUT is a terminal that is not "dumb", and NO_COLOR (https://no-color.org) is unset or empty. */
bool colour_wanted(FILE *out);

void colour_begin(enum colour colour, bool wanted, FILE *out);
void colour_end(enum colour colour, bool wanted, FILE *out);

enum colour colour_of_bound(enum bound bound);

#endif
