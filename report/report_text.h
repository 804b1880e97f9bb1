/* SPDX-License-Identifier: Apache-2.0 */
/* A session as text for people. */
#ifndef REPORT_REPORT_TEXT_H
#define REPORT_REPORT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "classify/session.h"

enum { REPORT_TEXT_WIDTH = 120 }; /* columns, where OUT is no terminal that has its own */

/* ROWS: of the operator table at most; SIZE_MAX for all. Lines are kept to WIDTH columns as far as figures allow. False if
 * OUT could not take it. */
bool report_text(const struct session *session, size_t rows, size_t width, FILE *out);

#endif
