/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the session the report's figures cover, and what was lost. */
#ifndef REPORT_COVERAGE_TEXT_H
#define REPORT_COVERAGE_TEXT_H

#include <stdio.h>

#include "classify/session.h"

void coverage_text_print(const struct session *session, FILE *out);

#endif
