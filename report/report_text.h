/* SPDX-License-Identifier: Apache-2.0 */
/* A session as text for people. */
#ifndef REPORT_REPORT_TEXT_H
#define REPORT_REPORT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "classify/session.h"

/* ROWS: of the operator table at most; SIZE_MAX for all. False if OUT could not take it. */
bool report_text(const struct session *session, size_t rows, FILE *out);

#endif
