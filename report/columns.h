/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the operator table: one row a column, walked to print titles, widths and cells. */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/session.h"

enum { COLUMN_CELL_BYTES = 96 };

struct column {
    const char *title;
    bool left;            /* aligned to the left */
    bool shape;           /* a row without a shape has its name over these, the last */
    bool identity;        /* rows that differ in none of these look alike */
    bool several_devices; /* shown only where there are several devices */
    int spare;            /* left out where a narrow terminal lacks the room, 1 first; 0: never */
    void (*print)(const struct operator_row *op, char *cell); /* into COLUMN_CELL_BYTES */
};

const struct column *columns(size_t *count);

/* What TYPES shows, for texts elsewhere. */
void columns_types(const struct operator_row *op, char *cell);

#endif
