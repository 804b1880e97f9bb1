/* SPDX-License-Identifier: Apache-2.0 */
/* How processes were timed, what that leaves open, and what rooftap itself cost: lines of the header. Of traces that say
 * nothing of it, none. */
#ifndef REPORT_TIMING_TEXT_H
#define REPORT_TIMING_TEXT_H

#include <stdio.h>

#include "classify/session.h"

/* Behind the verdict: graph replays whose shapes are not known. */
void timing_text_print_unknown_graphs(const struct session *session, FILE *out);
/* Below a process: its mode, windows, marks, graphs, lengths, overhead. */
void timing_text_print_process(const struct session_process *process, FILE *out);
/* Behind the time in kernels: of what it is an estimate, and how far it is to be trusted. */
void timing_text_print_evidence(const struct session *session, FILE *out);
/* A mark behind the time of a row: "~" stands for more than was timed, "^" is shared out; "" it is as it was timed. */
const char *timing_text_mark(const struct operator_row *op);

#endif
