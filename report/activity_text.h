/* SPDX-License-Identifier: Apache-2.0 */
/* What one device did with its time, and what was copied: lines of the text report's header. */
#ifndef REPORT_ACTIVITY_TEXT_H
#define REPORT_ACTIVITY_TEXT_H

#include <stdio.h>

#include "classify/session.h"

void activity_text_print(const struct session *session, int index, FILE *out);

#endif
