/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of what the order of calls tells: weights, siblings, naive attention, phases. New references. */
#ifndef REPORT_WEIGHTS_JSON_H
#define REPORT_WEIGHTS_JSON_H

#include <jansson.h>

#include "classify/session.h"

json_t *weights_json(const struct session *session, size_t rows);
json_t *weights_json_siblings(const struct session *session);
json_t *weights_json_attention(const struct session *session);
json_t *weights_json_phases(const struct session *session); /* an object, by phase */
json_t *weights_json_step(const struct session *session);
json_t *weights_json_phase_calls(const struct operator_row *op); /* null where calls are not known */

#endif
