/* SPDX-License-Identifier: Apache-2.0 */
/* The operator table: by shape, by weight, or by kernel. */
#ifndef REPORT_OPERATOR_TABLE_H
#define REPORT_OPERATOR_TABLE_H

#include <stdio.h>

#include "classify/session.h"
#include "report/operator_rows.h"
#include "report/view.h"

/* Prints the first rows->shown rows; what is left becomes one row with exact sums. */
void operator_table_print(const struct column_source *source, const struct view *view, const struct operator_rows *rows,
                          FILE *out);

/* Behind a name: why a kernel has no shape whose name the table of launches knows; NULL: nothing to say. */
const char *operator_table_note(const struct operator_row *op);

#endif
