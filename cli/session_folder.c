/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the folder and keeps session.json whole: every version is written beside and renamed over
 * the last. */
#include "cli/session_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "trace/clock.h"
#include "trace/trace.h"
#include "trace/trace_name.h"

static bool default_name(char *out)
{
    time_t now = time(NULL);
    struct tm utc;
    char text[32];
    if (!gmtime_r(&now, &utc) || !strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc))
        return false;
    snprintf(out, PATH_MAX, "./rooftap-%s-%ld", text, (long)getpid());
    return true;
}

/* What marks FOLDER as used before; empty if nothing does. False if it can't be read. */
static bool find_old_session(const char *folder, char *found, size_t size)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return false;
    found[0] = '\0';
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, SESSION_FILE) == 0 || trace_name_is_trace(entry->d_name))
            snprintf(found, size, "%s", entry->d_name);
    closedir(directory);
    return true;
}

/* A trace begins with some 2 MiB, and where it can't begin nothing could be recorded. What the system does not tell is taken
 * to suffice. */
static bool has_room(const struct session_folder *session, const char *command)
{
    enum { KIB_LEAST = 4096 };
    struct statvfs system;
    struct rlimit limit;
    unsigned long long free_kib = ULLONG_MAX, limit_kib = ULLONG_MAX;
    if (statvfs(session->folder, &system) == 0 && system.f_blocks > 0)
        free_kib = (unsigned long long)system.f_bavail * system.f_frsize / 1024;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        limit_kib = limit.rlim_cur / 1024;
    if (free_kib < KIB_LEAST)
        message_error(
            command,
            "the session folder '%s' has room for %llu KiB, and a trace needs %d KiB at least; choose another "
            "with -o DIR",
            session->shown, free_kib, KIB_LEAST);
    else if (limit_kib < KIB_LEAST)
        message_error(command,
                      "files may not grow beyond %llu KiB here, and a trace needs %d KiB at least; raise "
                      "'ulimit -f'",
                      limit_kib, KIB_LEAST);
    return free_kib >= KIB_LEAST && limit_kib >= KIB_LEAST;
}

/* Whoever may rename files in the folder could put a link in the place of a trace that grows. One's own folder is one's own
 * affair, and on file systems without rights all folders look like this. Who made a link may change where it leads. */
static bool is_anybodys(const struct session_folder *session)
{
    struct stat status;
    if (lstat(session->shown, &status) == 0 && S_ISLNK(status.st_mode) && status.st_uid != geteuid() &&
        status.st_uid != 0)
        return true;
    return stat(session->folder, &status) == 0 && status.st_uid != geteuid() && (status.st_mode & S_IWOTH) &&
           !(status.st_mode & S_ISVTX);
}

/* Two at once must not share a folder. A file system without locks has the names of the files alone. */
static bool take_lock(struct session_folder *session)
{
    session->lock = open(session->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return session->lock < 0 || flock(session->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static void refuse_used(const struct session_folder *session, const char *found, const char *command)
{
    message_error(command, "'%s' already holds a session (%s); choose another folder with -o DIR", session->shown,
                  found);
}

/* errno says why the folder can't be made; of a missing folder on the way to it, which. */
static void refuse_unmade(const struct session_folder *session, const char *command)
{
    char parent[PATH_MAX];
    int error = errno;
    snprintf(parent, sizeof parent, "%s", session->shown);
    for (char *slash = strchr(parent + 1, '/'); error == ENOENT && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (access(parent, F_OK) != 0 && errno == ENOENT) {
            message_error(command,
                          "the session folder '%s' can't be made: there is no folder '%s'; make that or choose "
                          "another with -o DIR",
                          session->shown, parent);
            return;
        }
        *slash = '/';
    }
    errno = error;
    message_error(command, "the session folder '%s' can't be made: %m; choose another with -o DIR", session->shown);
}

bool session_folder_open(struct session_folder *session, const char *folder, const char *command)
{
    *session = (struct session_folder){.lock = -1};
    char found[NAME_MAX + 1];
    if (!folder && !default_name(session->shown)) {
        message_error(command, "the clock can't be read; name a folder with -o DIR");
        return false;
    }
    if (folder && snprintf(session->shown, PATH_MAX, "%s", folder) >= PATH_MAX) {
        message_error(command, "the name of the session folder is longer than %d bytes", PATH_MAX);
        return false;
    }
    session->made = mkdir(session->shown, 0700) == 0; /* command lines and traces are the user's own */
    if (!session->made && errno != EEXIST) {
        refuse_unmade(session, command);
        return false;
    }
    bool resolved = realpath(session->shown, session->folder) != NULL;
    if (resolved && !take_lock(session)) {
        refuse_used(session, "it is being recorded", command);
        session_folder_close(session);
        return false;
    }
    if (!resolved || !find_old_session(session->folder, found, sizeof found)) {
        message_error(command, "the session folder '%s' can't be used: %m; choose another with -o DIR", session->shown);
        session_folder_discard(session);
        return false;
    }
    if (*found) {
        refuse_used(session, found, command);
        session_folder_close(session);
        return false;
    }
    if (is_anybodys(session)) {
        message_error(
            command,
            "the session folder '%s' belongs to another user and everybody may write there, or it is a link of "
            "another user; choose one of your own with -o DIR",
            session->shown);
        session_folder_close(session);
        return false;
    }
    if (!has_room(session, command)) {
        session_folder_discard(session);
        return false;
    }
    return true;
}

static bool write_all(int fd, const char *text)
{
    for (size_t length = strlen(text); length;) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

/* The first version must not replace that of a session begun in between; file systems without the
 * flag just rename. */
static bool put_in_place(int folder, bool replace)
{
    if (!replace && renameat2(folder, SESSION_FILE ".new", folder, SESSION_FILE, RENAME_NOREPLACE) == 0)
        return true;
    if (!replace && errno != EINVAL && errno != ENOSYS)
        return false;
    return renameat(folder, SESSION_FILE ".new", folder, SESSION_FILE) == 0;
}

/* The folder that was opened, wherever it has been moved and whatever lies in its place. */
static int reopen(const struct session_folder *session)
{
    if (session->lock >= 0)
        return fcntl(session->lock, F_DUPFD_CLOEXEC, 0);
    return open(session->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* A file of its own: what lies under that name, left over or put there, is not written to. */
static int open_new(int folder)
{
    if (unlinkat(folder, SESSION_FILE ".new", 0) != 0 && errno != ENOENT)
        return -1;
    return openat(folder, SESSION_FILE ".new", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool save(struct session_folder *session, const char *command)
{
    bool good = false;
    char *text = json_dumps(session->document, JSON_INDENT(2));
    int folder = reopen(session), fd = folder < 0 ? -1 : open_new(folder);
    if (text && fd >= 0)
        good = write_all(fd, text) && write_all(fd, "\n");
    if (fd >= 0)
        good = close(fd) == 0 && good;
    good = good && put_in_place(folder, session->begun);
    if (!good) {
        if (errno == EEXIST && !session->begun)
            refuse_used(session, SESSION_FILE, command);
        else
            message_error(command, "'%s/%s' can't be written: %m; choose another folder with -o DIR", session->shown,
                          SESSION_FILE);
        if (folder >= 0)
            unlinkat(folder, SESSION_FILE ".new", 0);
    }
    if (folder >= 0)
        close(folder);
    free(text);
    return good;
}

/* JSON is UTF-8, arguments are bytes: each byte that does not fit becomes U+FFFD. */
static json_t *text_value(const char *bytes)
{
    json_t *value = json_string(bytes);
    if (value)
        return value;
    size_t length = strlen(bytes);
    char *text = malloc(length * 3 + 1), *out = text;
    if (!text)
        return json_null();
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)bytes[i] < 128)
            *out++ = bytes[i];
        else
            out = stpcpy(out, "\xef\xbf\xbd");
    }
    *out = '\0';
    value = json_string(text);
    free(text);
    return value ? value : json_null();
}

static json_t *text_list(char **values)
{
    json_t *list = json_array();
    for (; *values; values++)
        json_array_append_new(list, text_value(*values));
    return list;
}

bool session_folder_begin(struct session_folder *session, char **argv, pid_t pid, const char *simulate,
                          json_t *settings, const char *command)
{
    struct utsname system = {0};
    char working_folder[PATH_MAX] = "", kernel[sizeof system.sysname + sizeof system.release + 2];
    uname(&system);
    snprintf(kernel, sizeof kernel, "%s %s", system.sysname, system.release);
    if (!getcwd(working_folder, sizeof working_folder))
        working_folder[0] = '\0';
    session->document = json_object();
    json_object_set_new(session->document, "schema", json_integer(1));
    json_object_set_new(session->document, "rooftap_version", json_string(ROOFTAP_VERSION));
    char *redacted[] = {argv[0], argv[1] ? (char *)"[redacted]" : NULL, NULL};
    json_object_set_new(session->document, "command", text_list(session->redact_args ? redacted : argv));
    json_object_set_new(session->document, "working_directory",
                        *working_folder ? text_value(working_folder) : json_null());
    json_object_set_new(session->document, "host", text_value(system.nodename));
    json_object_set_new(session->document, "kernel", text_value(kernel));
    json_object_set_new(session->document, "started_realtime_ns", json_integer((json_int_t)clock_realtime_ns()));
    json_object_set_new(session->document, "simulate", simulate ? json_string(simulate) : json_null());
    json_object_set_new(session->document, "ring", session->ring ? json_string(session->ring) : json_null());
    json_object_set(session->document, "settings", settings);
    json_object_set_new(session->document, "target_pid", json_integer(pid));
    session->begun = save(session, command);
    return session->begun;
}

bool session_folder_has_trace(const struct session_folder *session)
{
    bool found = false;
    DIR *directory = opendir(session->folder);
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));)
        found = trace_name_is_trace(entry->d_name);
    if (directory)
        closedir(directory);
    return found;
}

bool session_folder_end(struct session_folder *session, int wait_status, const char *command)
{
    bool by_signal = WIFSIGNALED(wait_status);
    int value = by_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    json_object_set_new(session->document, "ended_realtime_ns", json_integer((json_int_t)clock_realtime_ns()));
    json_object_set_new(session->document, "exit",
                        json_pack("{s:s, s:i}", "kind", by_signal ? "signal" : "exit", "value", value));
    return save(session, command);
}

void session_folder_remove_file(const struct session_folder *session, const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", session->folder, name) < PATH_MAX)
        unlink(path);
}

void session_folder_add_file(struct session_folder *session, const char *name)
{
    size_t i = 0;
    while (i < sizeof session->added / sizeof session->added[0] - 1 && session->added[i])
        i++;
    session->added[i] = name;
}

void session_folder_discard(struct session_folder *session)
{
    if (session->begun)
        session_folder_remove_file(session, SESSION_FILE);
    for (size_t i = 0; i < sizeof session->added / sizeof session->added[0]; i++)
        if (session->added[i])
            session_folder_remove_file(session, session->added[i]);
    if (session->made)
        rmdir(session->shown);
    session_folder_close(session);
}

void session_folder_close(struct session_folder *session)
{
    json_decref(session->document);
    session->document = NULL;
    if (session->lock >= 0)
        close(session->lock);
    session->lock = -1;
}
