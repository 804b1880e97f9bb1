/* SPDX-License-Identifier: Apache-2.0 */
/* Finds each device's own calibration: the file that was named, or the one that `rooftap calibrate` kept. */
#ifndef CLASSIFY_SESSION_CALIBRATION_H
#define CLASSIFY_SESSION_CALIBRATION_H

#include "classify/session.h"

/* FILE NULL: the kept ones; one of them that can't be used is in bad_files. A FILE that can't be used or is of no device of
 * the session is an error: false, *error filled. */
bool session_calibrations_apply(struct session *session, const char *file, struct session_error *error);

void session_calibration_free(struct session_device *device);

#endif
