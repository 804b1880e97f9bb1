/* SPDX-License-Identifier: Apache-2.0 */
/* What of the run the session still holds, where that is not all of it: printed above every figure. */
#ifndef REPORT_KEPT_TEXT_H
#define REPORT_KEPT_TEXT_H

#include <stdio.h>

#include "classify/session.h"

void kept_text_print(const struct session *session, FILE *out);

#endif
