/* SPDX-License-Identifier: Apache-2.0 */
/* The skinny list: weights that are memory-bound for want of rows, or starved, and what would help each. */
#ifndef REPORT_SKINNY_H
#define REPORT_SKINNY_H

#include <stdio.h>

#include "classify/session.h"
#include "report/view.h"

bool skinny_any(const struct session *session);

/* A heading, a table with what could be saved at the roof, in % of busy time, and below it what caps a weight and which of
 * them read the same activation. AT_MOST: rows of each, SIZE_MAX for all. */
void skinny_print(const struct column_source *source, const struct view *view, size_t at_most, FILE *out);

#endif
