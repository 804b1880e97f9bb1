/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of what a report makes of a session: verdict, advice, caveats. */
#ifndef REPORT_ADVICE_JSON_H
#define REPORT_ADVICE_JSON_H

#include <jansson.h>

#include "classify/session.h"

/* Sets the keys `verdict`, `advice`, and `caveats` of ROOT. */
void advice_json_set(json_t *root, const struct session *session);

#endif
