/* SPDX-License-Identifier: Apache-2.0 */
/* The first column of the text report's header: a word, or nothing on a line that goes on with the one above. */
#ifndef REPORT_LABEL_H
#define REPORT_LABEL_H

#include <stdio.h>

enum { LABEL_WIDTH = 10 };

static inline void label_print(FILE *out, const char *label)
{
    fprintf(out, "%-*s", LABEL_WIDTH, label);
}

#endif
