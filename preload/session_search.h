/* SPDX-License-Identifier: Apache-2.0 */
/* The session of a process that kept LD_PRELOAD and lost the ROOFTAP_ variables: launchers hand on lists of variables. */
#ifndef PRELOAD_SESSION_SEARCH_H
#define PRELOAD_SESSION_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/settings.h"

/* Takes the settings of the nearest ancestor whose environment names a session; the folder's name goes to DIR, of SIZE
 * bytes. False, and nothing changed, if there is none. System calls, some for each ancestor. */
bool session_search(struct settings *settings, char *dir, size_t size);

#endif
