/* SPDX-License-Identifier: Apache-2.0 */
/* A session folder: session.json, written here, and one trace file a process, written by the
 * library in the host. */
#ifndef CLI_SESSION_FOLDER_H
#define CLI_SESSION_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include <jansson.h>

#define SESSION_FILE "session.json"

struct session_folder {
    char folder[PATH_MAX]; /* absolute */
    char shown[PATH_MAX];  /* as the user knows it */
    bool made;             /* the folder did not exist before */
    bool begun;            /* session.json is there */
    const char *added[8];  /* names of other files that belong to it; discard removes them */
    int lock;              /* of the folder, while this session uses it */
    const char *ring;      /* set before begin: folder of rings in shared memory; NULL: none */
    bool redact_args;      /* set before begin: session.json has the command's name alone */
    json_t *document;
};

/* FOLDER NULL: ./rooftap-<UTC time>-<pid>. False: one line has been printed; nothing is left
 * behind. */
bool session_folder_open(struct session_folder *session, const char *folder, const char *command);
/* Writes session.json; the target has PID and waits. SIMULATE and SETTINGS (borrowed) may be NULL.
 */
bool session_folder_begin(struct session_folder *session, char **argv, pid_t pid, const char *simulate,
                          json_t *settings, const char *command);
/* Some process was recorded. */
bool session_folder_has_trace(const struct session_folder *session);
/* Adds the end. False: one line has been printed. */
bool session_folder_end(struct session_folder *session, int wait_status, const char *command);
/* NAME is static text. */
void session_folder_add_file(struct session_folder *session, const char *name);
void session_folder_remove_file(const struct session_folder *session, const char *name);
/* Nothing ran: takes back what open and begin made, as far as it is this session's. */
void session_folder_discard(struct session_folder *session);
void session_folder_close(struct session_folder *session);

#endif
