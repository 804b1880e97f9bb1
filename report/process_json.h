/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of the processes of a session. A new reference. */
#ifndef REPORT_PROCESS_JSON_H
#define REPORT_PROCESS_JSON_H

#include <jansson.h>

#include "classify/session.h"
#include "report/json_cut.h"

json_t *process_json(struct json_cut *cut, const struct session *session);

#endif
