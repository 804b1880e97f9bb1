/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time went: by class, by phase, and in which kernels that have no class. */
#ifndef REPORT_TIME_TEXT_H
#define REPORT_TIME_TEXT_H

#include <stdio.h>

#include "classify/session.h"

void time_text_print(const struct session *session, FILE *out);

#endif
