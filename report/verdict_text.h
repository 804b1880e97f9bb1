/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict, as one sentence. */
#ifndef REPORT_VERDICT_TEXT_H
#define REPORT_VERDICT_TEXT_H

#include <stdio.h>

#include "classify/session.h"
#include "classify/verdict.h"

void verdict_text_print(const struct session *session, const struct advice_list *list, const struct verdict *verdict,
                        FILE *out);

#endif
