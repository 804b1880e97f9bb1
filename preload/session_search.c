/* SPDX-License-Identifier: Apache-2.0 */
/* Walks up the parents by /proc. The kernel shows the environment that a process began with, and only to those who might
 * trace it: so an ancestor of another user tells nothing. */
#include "preload/session_search.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/proc_file.h"

enum {
    ANCESTORS_MOST = 64,
    ENVIRONMENT_BYTES = 4 << 20, /* addresses; only what is read is touched */
};

struct environment_block {
    const char *text; /* NAME=VALUE, each ended by a zero byte, and one more at the end of all */
    size_t bytes;
};

/* Field 4 of /proc/PID/stat, behind the name in parentheses. 0: none, or not told. */
static int parent_of(int pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    text[proc_file_read(path, text, sizeof text - 1)] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && strlen(name_end) > 4 ? atoi(name_end + 4) : 0; /* ") S 123": state, parent */
}

static const char *value_in(const char *name, const void *context)
{
    const struct environment_block *block = context;
    size_t length = strlen(name);
    for (const char *entry = block->text; entry < block->text + block->bytes; entry += strlen(entry) + 1)
        if (!strncmp(entry, name, length) && entry[length] == '=')
            return entry + length + 1;
    return NULL;
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

static bool take_settings_of(int pid, char *memory, struct settings *settings, struct session_folders *folders)
{
    char path[64];
    struct settings found;
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    struct environment_block block = {memory, proc_file_read(path, memory, ENVIRONMENT_BYTES - 1)};
    memory[block.bytes] = '\0';
    settings_read_from(&found, value_in, &block);
    if (!session_folders_keep(folders, &found))
        return false;
    *settings = found;
    return true;
}

bool session_search(struct settings *settings, struct session_folders *folders)
{
    char *memory =
        mmap(NULL, ENVIRONMENT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    bool found = false;
    int pid = (int)getppid();
    for (int i = 0; i < ANCESTORS_MOST && pid > 0 && !found; i++) {
        found = take_settings_of(pid, memory, settings, folders);
        pid = parent_of(pid);
    }
    munmap(memory, ENVIRONMENT_BYTES);
    return found;
}
