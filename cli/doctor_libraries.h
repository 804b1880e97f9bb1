/* SPDX-License-Identifier: Apache-2.0 */
/* Which libraries the loader would give a program, without running it. */
#ifndef CLI_DOCTOR_LIBRARIES_H
#define CLI_DOCTOR_LIBRARIES_H

#include <limits.h>
#include <stdbool.h>

#include "cli/environment.h"

enum { DOCTOR_LIBRARIES_MOST = 256 };

struct doctor_library {
    char name[128];      /* as the program asks for it */
    char path[PATH_MAX]; /* "": not found */
};

struct doctor_libraries {
    bool known; /* else WHY */
    char why[256];
    int count, left_out;
    struct doctor_library *rows;
};

/* PROGRAM is an ELF file. ENVIRONMENT: what the loader gets; one variable is added. */
void doctor_libraries_find(struct doctor_libraries *libraries, const char *program, struct environment *environment,
                           unsigned timeout_s);
/* The first whose name starts so; NULL. */
const struct doctor_library *doctor_libraries_named(const struct doctor_libraries *libraries, const char *start);
void doctor_libraries_free(struct doctor_libraries *libraries);

#endif
