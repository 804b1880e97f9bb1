/* SPDX-License-Identifier: Apache-2.0 */
/* A session as text for people. */
#ifndef REPORT_REPORT_TEXT_H
#define REPORT_REPORT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "classify/session.h"
#include "report/view.h"

#define REPORT_TEXT_SIMULATED                                                                                          \
    "SIMULATED GPU: kernel times are the simulator's arithmetic, idle time is this host's; no GPU was measured."

enum { REPORT_TEXT_WIDTH = 120 }; /* columns, where OUT is no terminal that has its own */

/* Lines are kept to the view's width as far as figures allow. False if OUT could not take it. */
bool report_text(const struct session *session, const struct view *view, FILE *out);

#endif
