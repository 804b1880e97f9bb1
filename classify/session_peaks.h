/* SPDX-License-Identifier: Apache-2.0 */
/* Puts what a user gave with --peak in the place of the roofs of a session's devices. */
#ifndef CLASSIFY_SESSION_PEAKS_H
#define CLASSIFY_SESSION_PEAKS_H

#include <stdbool.h>

#include "classify/peak_option.h"
#include "classify/session.h"

/* To be called when all devices are known and before operators are classified. Figures without a device number are for
 * the devices without a row. False, and *error filled, where an option is for no device of the session. PEAKS may be NULL. */
bool session_peaks_apply(struct session *session, const struct peak_options *peaks, struct session_error *error);
void session_peaks_free(struct session *session);

#endif
