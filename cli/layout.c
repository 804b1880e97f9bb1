/* SPDX-License-Identifier: Apache-2.0 */
/* Finds librooftap.so and the stand-ins relative to this very executable, so that a tree can be
 * moved as a whole. */
#include "cli/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"

static bool loader_can_name(const char *path)
{
    return strpbrk(path, " \t\n:;$") == NULL; /* `;` splits LD_LIBRARY_PATH, `$` starts $ORIGIN */
}

static bool join(char *out, const char *folder, const char *name)
{
    return snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

static bool folder_beside_executable(char *out)
{
    char path[PATH_MAX], relative[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return join(relative, path, "../lib/rooftap") && realpath(relative, out);
}

static bool link_to(const char *folder, const char *target, char *out)
{
    if (!loader_can_name(folder) || !join(out, folder, LAYOUT_LINK))
        return false;
    return symlink(target, out) == 0;
}

static bool make_nameable(struct layout *layout, const char *link_folder)
{
    char temporary[] = "/tmp/rooftap-lib-XXXXXX";
    char link[PATH_MAX];
    layout->linked = link_to(link_folder, layout->library_folder, link);
    if (!layout->linked && !(mkdtemp(temporary) && link_to(temporary, layout->library_folder, link)))
        return false;
    memcpy(layout->library_folder, link, sizeof link);
    return true;
}

bool layout_find(struct layout *layout, const char *link_folder, const char *command)
{
    layout->linked = false;
    if (!folder_beside_executable(layout->library_folder) ||
        !join(layout->shim, layout->library_folder, "librooftap.so") || access(layout->shim, R_OK) != 0) {
        message_error(command, "no lib/rooftap/librooftap.so beside this executable's folder; "
                               "rooftap has to be built or installed as a whole");
        return false;
    }
    if (!loader_can_name(layout->library_folder)) {
        char real[PATH_MAX];
        memcpy(real, layout->library_folder, sizeof real);
        if (!make_nameable(layout, link_folder)) {
            message_error(command,
                          "'%s' holds a character that LD_PRELOAD can't carry, and no link "
                          "to it could be made (%m); install rooftap elsewhere",
                          real);
            return false;
        }
        message_error(command, "LD_PRELOAD can't carry the path '%s'; '%s' stands for it", real,
                      layout->library_folder);
    }
    if (!join(layout->shim, layout->library_folder, "librooftap.so") ||
        !join(layout->audit, layout->library_folder, "librooftap-audit.so") ||
        !join(layout->simulator_folder, layout->library_folder, "sim")) {
        message_error(command, "the path '%s' is too long", layout->library_folder);
        return false;
    }
    return true;
}

bool layout_has_audit(const struct layout *layout, const char *command)
{
    if (access(layout->audit, R_OK) == 0)
        return true;
    message_error(command, "--audit needs '%s' (%m); rooftap has to be built or installed as a whole", layout->audit);
    return false;
}
