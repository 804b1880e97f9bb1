/* SPDX-License-Identifier: Apache-2.0 */
/* Only where the stream is a terminal that understands it and the user has not asked for none. */
#include "report/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Select Graphic Rendition, ECMA-48 8.3.117: the colours that every scheme keeps legible. */
static const char *const codes[] = {
    [COLOUR_NONE] = "",    [COLOUR_BOLD] = "1",    [COLOUR_DIM] = "2",      [COLOUR_RED] = "31",
    [COLOUR_GREEN] = "32", [COLOUR_YELLOW] = "33", [COLOUR_MAGENTA] = "35",
};

bool colour_wanted(FILE *out)
{
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (refused && *refused)
        return false;
    return terminal && *terminal && strcmp(terminal, "dumb") && fileno(out) >= 0 && isatty(fileno(out));
}

void colour_begin(enum colour colour, bool wanted, FILE *out)
{
    if (wanted && colour != COLOUR_NONE)
        fprintf(out, "\033[%sm", codes[colour]);
}

void colour_end(enum colour colour, bool wanted, FILE *out)
{
    if (wanted && colour != COLOUR_NONE)
        fputs("\033[0m", out);
}

enum colour colour_of_bound(enum bound bound)
{
    static const enum colour colours[] = {
        [BOUND_UNKNOWN] = COLOUR_DIM,
        [BOUND_MEMORY] = COLOUR_YELLOW,
        [BOUND_COMPUTE] = COLOUR_GREEN,
        [BOUND_OVERHEAD] = COLOUR_MAGENTA,
    };
    return colours[bound];
}
