/* SPDX-License-Identifier: Apache-2.0 */
/* Walks up the parents by /proc. The kernel shows the environment that a process began with, and only to those who might
 * trace it: so an ancestor of another user tells nothing. */
#include "preload/session_search.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/environment_block.h"
#include "trace/proc_file.h"

enum { ANCESTORS_MOST = 64 };

/* Field 4 of /proc/PID/stat. 0: none, or not told. */
static int parent_of(int pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    text[proc_file_read(path, text, sizeof text - 1)] = '\0';
    const char *parent = proc_file_stat_field(text, 4);
    return parent ? atoi(parent) : 0;
}

static bool keep(char *copy, const char **text)
{
    bool fits = *text && strlen(*text) < SESSION_FOLDER_BYTES;
    *text = fits ? strcpy(copy, *text) : NULL;
    return fits;
}

bool session_folders_keep(struct session_folders *folders, struct settings *settings)
{
    if (!keep(folders->dir, &settings->dir))
        return false;
    keep(folders->ring, &settings->ring);
    return true;
}

static bool take_settings_of(const struct environment_block *block, struct settings *settings,
                             struct session_folders *folders)
{
    struct settings found;
    settings_read_from(&found, environment_block_value, block);
    if (!session_folders_keep(folders, &found))
        return false;
    *settings = found;
    return true;
}

bool session_search(struct settings *settings, struct session_folders *folders)
{
    struct environment_block block;
    bool found = false;
    int pid = (int)getppid();
    if (!environment_block_open(&block))
        return false;
    for (int i = 0; i < ANCESTORS_MOST && pid > 0 && !found; i++) {
        environment_block_read(&block, pid);
        found = take_settings_of(&block, settings, folders);
        pid = parent_of(pid);
    }
    environment_block_close(&block);
    return found;
}
