/* SPDX-License-Identifier: Apache-2.0 */
/* Library calls that the table shows alike although they are different ones: what they differ in. */
#ifndef REPORT_LOOKALIKES_H
#define REPORT_LOOKALIKES_H

#include <stdio.h>

#include "classify/session.h"
#include "report/operator_rows.h"

/* Of the rows that are shown; a blank line and a heading first, nothing if no two look alike. */
void lookalikes_print(const struct column_source *source, const struct operator_rows *rows, FILE *out);

#endif
