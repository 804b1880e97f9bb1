/* SPDX-License-Identifier: Apache-2.0 */
/* The session of a process that kept LD_PRELOAD and lost the ROOFTAP_ variables: launchers hand on lists of variables. */
#ifndef PRELOAD_SESSION_SEARCH_H
#define PRELOAD_SESSION_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/settings.h"

enum { SESSION_FOLDER_BYTES = 4096 };

struct session_folders { /* "": none */
    char dir[SESSION_FOLDER_BYTES], ring[SESSION_FOLDER_BYTES];
};

/* Copies what SETTINGS point to; they point to the copies then. False if the session's folder is none, or too long. */
bool session_folders_keep(struct session_folders *folders, struct settings *settings);

/* Takes the settings of the nearest ancestor whose environment names a session; names of folders go to FOLDERS. False, and
 * nothing changed, if there is none. System calls, some for each ancestor. */
bool session_search(struct settings *settings, struct session_folders *folders);

#endif
