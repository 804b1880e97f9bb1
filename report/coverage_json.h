/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of what of a session could be seen and read. New references. */
#ifndef REPORT_COVERAGE_JSON_H
#define REPORT_COVERAGE_JSON_H

#include <jansson.h>

#include "classify/session.h"

json_t *coverage_json(const struct session *session);
json_t *coverage_json_rotated(const struct joined_rotation *rotated); /* null: nothing was written over */

#endif
