/* SPDX-License-Identifier: Apache-2.0 */
/* Below the operator table: its words explained, as far as they occur. */
#ifndef REPORT_MEANINGS_H
#define REPORT_MEANINGS_H

#include <stdio.h>

#include "report/operator_rows.h"

void meanings_print(const struct session *session, const struct operator_rows *rows, FILE *out);

#endif
