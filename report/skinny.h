/* SPDX-License-Identifier: Apache-2.0 */
/* The skinny list: weights that are memory-bound for want of rows, or starved, and what would help each. */
#ifndef REPORT_SKINNY_H
#define REPORT_SKINNY_H

#include <stdio.h>

#include "classify/session.h"
#include "report/view.h"

bool skinny_any(const struct session *session);

/* struct weight_row of that list, most saved first; the caller frees. */
const void **skinny_list(const struct session *session, size_t *count);

/* A heading, a table with what could be saved at the roof, in % of busy time, and below it what caps a weight and which of
 * them read the same activation. AT_MOST: rows of each, SIZE_MAX for all. */
void skinny_print(const struct column_source *source, const struct view *view, size_t at_most, FILE *out);

void skinny_print_title(const struct column_source *source, FILE *out);
extern const char skinny_legend[];

/* What stands below the table alone: a line each, of the first SHOWN of LIST and of so many GROUPS. */
void skinny_print_notes(const struct column_source *source, const struct view *view, const void **list, size_t shown,
                        size_t groups, FILE *out);

#endif
