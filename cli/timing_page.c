/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded process is known by the page that it maps: its environment may be overwritten, its folder another one's name. */
#include "cli/timing_page.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/options.h"
#include "preload/settings.h"
#include "trace/clock.h"
#include "trace/proc_file.h"

bool timing_page_make(const char *folder)
{
    return timing_control_make(folder);
}

void timing_page_begin(const char *folder)
{
    struct timing_control *page = timing_control_map(folder);
    if (page)
        __atomic_store_n(&page->start_ns, clock_monotonic_ns(), __ATOMIC_RELEASE);
    timing_control_unmap(page);
}

/* Field 22 of /proc/PID/stat; 0: not told. */
static uint64_t start_of(int pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    text[proc_file_read(path, text, sizeof text - 1)] = '\0';
    const char *start = proc_file_stat_field(text, 22);
    return start ? strtoull(start, NULL, 10) : 0;
}

static uint32_t own_namespace(void)
{
    struct stat found;
    return stat("/proc/self/ns/pid", &found) == 0 ? (uint32_t)found.st_ino : 0;
}

/* What a process of another namespace is called there says nothing here. */
bool timing_page_is_alive(const struct timing_control_process *process)
{
    uint64_t owner = __atomic_load_n(&process->owner, __ATOMIC_ACQUIRE);
    if (!owner)
        return false;
    uint32_t there = __atomic_load_n(&process->pid_namespace, __ATOMIC_ACQUIRE);
    if (there && there != own_namespace())
        return true;
    int pid = (int)(uint32_t)owner;
    return timing_control_owner(pid, start_of(pid)) == owner;
}

bool timing_page_is_used(const char *folder)
{
    struct timing_control *page = timing_control_map(folder);
    bool alive = false;
    for (unsigned i = 0; page && i < TIMING_CONTROL_PROCESSES; i++)
        alive |= timing_page_is_alive(&page->processes[i]);
    timing_control_unmap(page);
    return alive;
}

/* ---- a process ---- */

/* Its number where it lives: the last one of NSpid in /proc/PID/status. */
static int innermost_pid(int pid)
{
    char path[64], text[8192];
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    text[proc_file_read(path, text, sizeof text - 1)] = '\0';
    const char *line = strstr(text, "\nNSpid:");
    if (!line)
        return pid;
    line += sizeof "\nNSpid:" - 1;
    size_t length = strcspn(line, "\n");
    while (length && line[length - 1] >= '0' && line[length - 1] <= '9')
        length--;
    return atoi(line + length);
}

/* Line of /proc/PID/maps that ends in the page's name. 1: found, 0: none, negative: not to be read. */
static int mapped_page(int pid, char path[PATH_MAX])
{
    char name[64], *line = NULL;
    size_t room = 0;
    int found = 0;
    snprintf(name, sizeof name, "/proc/%d/maps", pid);
    FILE *maps = fopen(name, "re");
    if (!maps)
        return -1;
    while (!found && getline(&line, &room, maps) > 0) {
        line[strcspn(line, "\n")] = '\0';
        const char *file = strchr(line, '/');
        size_t length = file ? strlen(file) : 0, tail = sizeof "/" TIMING_CONTROL_FILE - 1;
        if (length > tail && length < PATH_MAX && !strcmp(file + length - tail, "/" TIMING_CONTROL_FILE)) {
            memcpy(path, file, length + 1);
            found = 1;
        }
    }
    free(line);
    fclose(maps);
    return found;
}

/* Folder of the session that PID's environment names, as it began with. */
static bool folder_of(int pid, char folder[PATH_MAX])
{
    char name[64], *entry = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%d/environ", pid);
    FILE *environment = fopen(name, "re");
    while (environment && !found && getdelim(&entry, &room, '\0', environment) > 0)
        if (!strncmp(entry, SETTING_DIR "=/", sizeof SETTING_DIR "=/" - 1) &&
            strlen(entry) - sizeof SETTING_DIR < PATH_MAX) {
            strcpy(folder, entry + sizeof SETTING_DIR);
            found = true;
        }
    free(entry);
    if (environment)
        fclose(environment);
    return found;
}

/* The path as the process sees it. */
static struct timing_control *map_as_seen_by(int pid, const char *path)
{
    char through[PATH_MAX + 64];
    snprintf(through, sizeof through, "/proc/%d/root%s", pid, path);
    struct timing_control *page = timing_control_map_file(through);
    return page ? page : timing_control_map_file(path);
}

static bool may_be_asked(int pid, const char *command)
{
    char name[64];
    struct stat found;
    snprintf(name, sizeof name, "/proc/%d", pid);
    if (stat(name, &found) != 0 || (kill(pid, 0) != 0 && errno == ESRCH)) {
        message_error(command, "there is no process %d (any more)", pid);
        return false;
    }
    if (found.st_uid == geteuid())
        return true;
    const struct passwd *user = getpwuid(found.st_uid);
    message_error(command, "process %d belongs to another user (%s); only that user can do this", pid,
                  user ? user->pw_name : "not this one");
    return false;
}

static bool find_process(struct timing_target *target, int pid, const char *command)
{
    char path[PATH_MAX], folder[PATH_MAX], inside[PATH_MAX + 32];
    if (!may_be_asked(pid, command))
        return false;
    snprintf(target->shown, sizeof target->shown, "process %d", pid);
    int mapped = mapped_page(pid, path);
    target->has_begun = mapped > 0;
    if (mapped > 0) {
        target->page = map_as_seen_by(pid, path);
    } else if (folder_of(pid, folder)) {
        snprintf(inside, sizeof inside, "%s/" TIMING_CONTROL_FILE, folder);
        target->page = map_as_seen_by(pid, inside);
    }
    if (!target->page) {
        message_error(command, "process %d is not recorded by rooftap%s%s", pid,
                      mapped < 0 ? ", or can't be asked: " : "", mapped < 0 ? strerror(EACCES) : "");
        return false;
    }
    target->owner = timing_control_owner(innermost_pid(pid), start_of(pid));
    if (timing_control_join(target->page, target->owner, 0))
        return true;
    message_error(command,
                  "%d processes of this session are at work already, and process %d has no place among them; "
                  "give the session's folder instead",
                  TIMING_CONTROL_PROCESSES, pid);
    timing_target_close(target);
    return false;
}

/* ---- a session ---- */

static bool find_session(struct timing_target *target, const char *folder, const char *command)
{
    struct stat found;
    if (stat(folder, &found) != 0 || !S_ISDIR(found.st_mode)) {
        message_error(command, "'%s' is no process and no session folder", folder);
        return false;
    }
    snprintf(target->shown, sizeof target->shown, "session '%s'", folder);
    target->page = timing_control_map(folder);
    if (target->page)
        return true;
    if (errno == ENOENT)
        message_error(command, "nothing is being recorded in '%s'", folder);
    else
        message_error(command, "'%s/" TIMING_CONTROL_FILE "' can't be used: %m", folder);
    return false;
}

bool timing_target_find(struct timing_target *target, const char *text, const char *command)
{
    *target = (struct timing_target){.page = NULL};
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits])
        return find_session(target, text, command);
    if (digits < 10 && atoi(text) > 0)
        return find_process(target, atoi(text), command);
    message_error(command, "'%s' is no process id", text);
    return false;
}

void timing_target_close(struct timing_target *target)
{
    if (target->page)
        timing_control_unmap(target->page);
    target->page = NULL;
}
