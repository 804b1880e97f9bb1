/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that were read, in words: what of the time they explain, what became of the others, and what a row of the table
 * has no column for. */
#ifndef REPORT_LAUNCH_TEXT_H
#define REPORT_LAUNCH_TEXT_H

#include <stdio.h>

#include "report/operator_rows.h"
#include "report/view.h"

/* Lines of the header; nothing where no kernel is in the table of launches. */
void launch_text_print_coverage(const struct session *session, FILE *out);
/* Below the table: of the rows shown, fused gates, experts and helpers. */
void launch_text_print_rows(const struct view *view, const struct operator_rows *rows, FILE *out);

#endif
