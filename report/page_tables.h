/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a page as HTML: cells as the text report has them, values to sort by beside them. */
#ifndef REPORT_PAGE_TABLES_H
#define REPORT_PAGE_TABLES_H

#include <stddef.h>
#include <stdio.h>

#include "report/columns.h"

/* By shape, weight and kernel, the latter two hidden: the first ROWS of each, and what is left in one row with exact sums.
 * data-index is a row's place in operators[], weights[] or kernels[] of the JSON. */
void page_tables_print(const struct column_source *source, size_t rows, FILE *out);

/* Weights that are skinny or starved, most saved first; data-index is a place in weights[]. */
void page_skinny_print(const struct column_source *source, size_t rows, FILE *out);

#endif
