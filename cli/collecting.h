/* SPDX-License-Identifier: Apache-2.0 */
/* The rings of a recording, from the command's side: their folder, their collector, and what is said of both. */
#ifndef CLI_COLLECTING_H
#define CLI_COLLECTING_H

#include "cli/environment.h"
#include "cli/session_folder.h"
#include "collect/collector.h"
#include "collect/ring_folder.h"

struct collecting {
    char ring_folder[RING_FOLDER_BYTES]; /* "": traces are files */
    struct collector collector;
    struct collector_result result;
};

/* SIZE: what --ring says; NULL: the default. False: it is no size, one line has been printed. */
bool collecting_check(const char *size, const char *command);
/* Makes the folder of rings, unless SIZE is "off" or there is no memory for it; then traces are files, as is said once unless
 * QUIET. */
void collecting_prepare(struct collecting *collecting, struct session_folder *session, const char *size, bool quiet,
                        const char *command);
/* False: out of memory. */
bool collecting_set_environment(const struct collecting *collecting, struct environment *environment);
/* Before the target starts. SINK is taken. */
void collecting_start(struct collecting *collecting, const struct session_folder *session, struct sink *sink,
                      const char *command);
/* After the target's end: waits a little for what is left of it, and notes in session.json what could not be kept. */
void collecting_finish(struct collecting *collecting, struct session_folder *session);
/* Nothing ran. */
void collecting_cancel(struct collecting *collecting);
/* One line, if something was lost or is not in the folder yet. */
void collecting_tell(const struct collecting *collecting, const struct session_folder *session, const char *command);

#endif
