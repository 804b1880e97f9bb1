/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of a session as a text table. */
#ifndef REPORT_OPERATOR_TABLE_H
#define REPORT_OPERATOR_TABLE_H

#include <stdio.h>

#include "classify/session.h"

/* Prints at most ROWS rows, then one row that holds the exact rest. */
void operator_table_print(const struct session *session, size_t rows, FILE *out);

#endif
