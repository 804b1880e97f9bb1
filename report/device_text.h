/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU in the report's header: what it is, its roofs, and how busy it was. */
#ifndef REPORT_DEVICE_TEXT_H
#define REPORT_DEVICE_TEXT_H

#include <stdio.h>

#include "classify/session.h"

void device_text_print(const struct session *session, int index, FILE *out);

#endif
