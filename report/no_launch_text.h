/* SPDX-License-Identifier: Apache-2.0 */
/* Why a session holds no launch, in words. */
#ifndef REPORT_NO_LAUNCH_TEXT_H
#define REPORT_NO_LAUNCH_TEXT_H

#include <stdio.h>

#include "classify/session.h"

/* "no CUDA launch seen in ...: ...", without a line's end. Nothing is made safe for a terminal here. */
void no_launch_text_print(const struct session *session, FILE *out);

#endif
