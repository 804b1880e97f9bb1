/* SPDX-License-Identifier: Apache-2.0 */
/* The page of `rooftap ctl` (trace/timing_control.h) from the outside: of a recording, of a process, of a session. */
#ifndef CLI_TIMING_PAGE_H
#define CLI_TIMING_PAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/timing_control.h"

/* ---- of a recording, which keeps it mapped at no time: a disk with it can be mounted read-only ---- */

bool timing_page_make(const char *folder);  /* false: the folder takes none; then ctl reaches nobody */
void timing_page_begin(const char *folder); /* the command starts now */
bool timing_page_is_used(const char *folder);

/* ---- of whom ctl talks to ---- */

struct timing_target {
    struct timing_control *page;
    uint64_t owner;            /* of one process; 0: all of a session */
    bool has_begun;            /* that process maps the page */
    char shown[PATH_MAX + 32]; /* "process 123", "session 'DIR'" */
};

/* TEXT: a process id, or a session folder. False: one line has been printed. */
bool timing_target_find(struct timing_target *target, const char *text, const char *command);
void timing_target_close(struct timing_target *target);

/* The process of that place lives, as far as can be told. */
bool timing_page_is_alive(const struct timing_control_process *process);

#endif
