/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader should make of the operator table. */
#ifndef REPORT_ADVICE_H
#define REPORT_ADVICE_H

#include <stdio.h>

#include "classify/session.h"

/* Of the classes and flags that occur in the first ROWS operators, a line each. */
void advice_print_meanings(const struct session *session, size_t rows, FILE *out);

/* What the most expensive memory-bound GEMMs would need. */
void advice_print(const struct session *session, FILE *out);

#endif
