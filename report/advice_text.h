/* SPDX-License-Identifier: Apache-2.0 */
/* Advice in words: what to do, what that saves, and for which subjects. */
#ifndef REPORT_ADVICE_TEXT_H
#define REPORT_ADVICE_TEXT_H

#include <stdio.h>

#include "classify/advice.h"
#include "classify/session.h"

/* A heading and one paragraph for each piece of advice, with its first subjects; nothing where there is none. */
void advice_text_print(const struct session *session, const struct advice_list *list, FILE *out);

/* "N 512  K 3584  bf16: 32 blocks on 128 SMs". The caller frees. */
char *advice_text_subject(const struct session *session, const struct advice_row *row, size_t index);

/* What its saved_share is a share of: "busy time", … */
const char *advice_text_base(const struct session *session, const struct advice_list *list,
                             const struct advice_row *row);

/* Every {word} of its detail is known: for the test that walks the table. */
bool advice_text_knows(const struct advice_row *row);

#endif
