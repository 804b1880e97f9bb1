/* SPDX-License-Identifier: Apache-2.0 */
/* A pid alone proves nothing, since it is used again; with the start time it names one process. A leader that has ended while
 * its threads go on looks like a zombie, too. */
#include "collect/owner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "trace/proc_file.h"

bool owner_of_name(struct owner *owner, const char *name)
{
    char *end;
    *owner = (struct owner){0};
    if (*name < '0' || *name > '9')
        return false;
    owner->pid = strtoll(name, &end, 10);
    if (*end != '-' || end[1] < '0' || end[1] > '9' || owner->pid <= 0 || owner->pid > INT32_MAX)
        return false;
    owner->start = strtoull(end + 1, &end, 10);
    return *end == '-';
}

bool owner_is_near(const struct owner *owner)
{
    struct stat own;
    return owner->pid_namespace && stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == owner->pid_namespace;
}

bool owner_lives(const struct owner *owner)
{
    char path[64], text[2048];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", owner->pid);
    errno = 0;
    size_t length = proc_file_read(path, text, sizeof text - 1);
    if (!length) {
        /* /proc may be missing, or hide what is another user's (hidepid) */
        return (errno != ENOENT && errno != ESRCH) || kill((pid_t)owner->pid, 0) == 0 || errno != ESRCH;
    }
    text[length] = '\0';
    const char *state = proc_file_stat_field(text, 3), *threads = proc_file_stat_field(text, 20);
    const char *start = proc_file_stat_field(text, 22);
    if (!start)
        return true;
    if (strtoull(start, NULL, 10) != owner->start)
        return false;
    return (*state != 'Z' && *state != 'X') || strtol(threads, NULL, 10) > 1;
}

static bool maps(const char *pid, dev_t device, ino_t inode)
{
    char path[64], line[8192];
    bool found = false;
    if (snprintf(path, sizeof path, "/proc/%s/maps", pid) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        unsigned line_major, line_minor;
        unsigned long long line_inode;
        found = sscanf(line, "%*s %*s %*s %x:%x %llu", &line_major, &line_minor, &line_inode) == 3 &&
                makedev(line_major, line_minor) == device && line_inode == inode;
    }
    if (file)
        fclose(file);
    return found;
}

bool owner_maps(const struct owner *owner, dev_t device, ino_t inode)
{
    char pid[32];
    snprintf(pid, sizeof pid, "%" PRId64, owner->pid);
    return maps(pid, device, inode);
}

bool owner_any_maps(dev_t device, ino_t inode)
{
    DIR *processes = opendir("/proc");
    if (!processes)
        return true; /* nobody can tell */
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(processes));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            found = maps(entry->d_name, device, inode);
    closedir(processes);
    return found;
}
