/* SPDX-License-Identifier: Apache-2.0 */
/* The traces of a folder, one after another, into a session. */
#ifndef CLASSIFY_SESSION_FILES_H
#define CLASSIFY_SESSION_FILES_H

#include "classify/session_merge.h"

/* PATH is a folder or one trace file. False and *error filled if it is neither. */
bool session_files_read(struct session_merge *merge, const char *path, struct session_error *error);

#endif
