/* SPDX-License-Identifier: Apache-2.0 */
/* The processes in the report's header: how each ended, whether it was timed, what it lost. */
#ifndef REPORT_PROCESS_TEXT_H
#define REPORT_PROCESS_TEXT_H

#include <stdio.h>

#include "classify/session.h"

void process_text_print(const struct session *session, size_t width, FILE *out);

#endif
