/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of a session as a text table. */
#ifndef REPORT_OPERATOR_TABLE_H
#define REPORT_OPERATOR_TABLE_H

#include <stdio.h>

#include "classify/session.h"

/* Prints at most ROWS rows, then one row that holds the exact rest. Names are cut to what WIDTH leaves them. Returns the
 * number of operators that have a row of their own. */
size_t operator_table_print(const struct session *session, size_t rows, size_t width, FILE *out);

#endif
