/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of attention: by geometry with the lengths it ran at, and as products whose scores go through memory. New
 * references. */
#ifndef REPORT_ATTENTION_JSON_H
#define REPORT_ATTENTION_JSON_H

#include <jansson.h>

#include "classify/attention_rows.h"
#include "classify/session.h"
#include "report/json_cut.h"

json_t *attention_json(struct json_cut *cut, const struct session *session, const struct attention_rows *rows);
json_t *attention_json_naive(struct json_cut *cut, const struct session *session);

#endif
