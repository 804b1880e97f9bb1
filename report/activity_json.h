/* SPDX-License-Identifier: Apache-2.0 */
/* What one device did with its time, and what was copied, as JSON.md has it. */
#ifndef REPORT_ACTIVITY_JSON_H
#define REPORT_ACTIVITY_JSON_H

#include <jansson.h>

#include "classify/session.h"

json_t *activity_json_time(const struct session_device *device);   /* devices[].time */
json_t *activity_json_copies(const struct session_device *device); /* devices[].copies */

#endif
