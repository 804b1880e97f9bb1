/* SPDX-License-Identifier: Apache-2.0 */
/* Where the command's own files lie. The build tree and the install tree look the same from bin/
 * on: bin/rooftap   lib/rooftap/librooftap.so   lib/rooftap/sim/lib*.so.* */
#ifndef CLI_LAYOUT_H
#define CLI_LAYOUT_H

#include <limits.h>
#include <stdbool.h>

#define LAYOUT_LINK ".lib"

struct layout {
    char library_folder[PATH_MAX]; /* absolute, resolved, as a loader variable can name it */
    char shim[PATH_MAX];           /* librooftap.so in it */
    char audit[PATH_MAX];          /* librooftap-audit.so in it, which a sanitized build lacks */
    char simulator_folder[PATH_MAX];
    bool linked; /* LAYOUT_LINK was made in the link folder */
};

/* Loader variables are lists split at blanks and colons. If the real path has such a character, a
 * link to it is made in LINK_FOLDER, or where that has one too in a new folder of the temporary
 * folder; it stays, since children of the target may start at any time. False: one line has been
 * printed. */
bool layout_find(struct layout *layout, const char *link_folder, const char *command);
/* False: the audit library is not there, and one line has been printed. */
bool layout_has_audit(const struct layout *layout, const char *command);

#endif
