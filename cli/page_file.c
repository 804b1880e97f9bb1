/* SPDX-License-Identifier: Apache-2.0 */
/* What can't be written is told before the report is made, which may take long; what goes wrong later leaves the old file. */
#include "cli/page_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"
#include "trace/trace.h"

enum { LINKS_MOST = 40, NAMES_MOST = 100 };

/* PATH up to and with its last slash. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

/* Where links lead, though there may be nothing yet. */
static bool follow_links(const char *name, char *path)
{
    char target[PATH_MAX], joined[PATH_MAX];
    if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int i = 0; i < LINKS_MOST; i++) {
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 0)
            return errno == EINVAL || errno == ENOENT; /* no link; or nothing there yet */
        target[length] = '\0';
        int folder = *target == '/' ? 0 : folder_length(path);
        if (snprintf(joined, sizeof joined, "%.*s%s", folder, path, target) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(path, joined, sizeof joined);
    }
    errno = ELOOP;
    return false;
}

static bool can_be_made(const struct page_file *file)
{
    char folder[PATH_MAX];
    int length = folder_length(file->path);
    snprintf(folder, sizeof folder, "%.*s", length, length ? file->path : "");
    return faccessat(AT_FDCWD, length ? folder : ".", W_OK | X_OK, AT_EACCESS) == 0;
}

static bool is_same_file(const struct stat *status, int descriptor)
{
    struct stat other;
    return fstat(descriptor, &other) == 0 && status->st_dev == other.st_dev && status->st_ino == other.st_ino;
}

static bool take_standard_output(struct page_file *file)
{
    file->standard_output = true;
    file->descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    return file->descriptor >= 0;
}

/* A file behind such a name is one that is open already. */
static bool names_descriptor(const char *name)
{
    static const char *const folders[] = {"/dev/fd/", "/dev/std", "/proc/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (!strncmp(name, folders[i], strlen(folders[i])))
            return true;
    return false;
}

/* Pipes and devices can't be replaced, and what is open must not be: what follows would go to a file without a name. */
static bool find_descriptor(struct page_file *file, const struct stat *status)
{
    if (is_same_file(status, STDOUT_FILENO))
        return take_standard_output(file);
    if (S_ISREG(status->st_mode) && !names_descriptor(file->shown))
        return faccessat(AT_FDCWD, file->path, W_OK, AT_EACCESS) == 0 && can_be_made(file);
    file->descriptor = open(file->shown, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    return file->descriptor >= 0;
}

static bool find_place(struct page_file *file)
{
    struct stat status;
    size_t length = strlen(file->shown);
    if (!strcmp(file->shown, "-"))
        return take_standard_output(file);
    if (!length || file->shown[length - 1] == '/' || (stat(file->shown, &status) == 0 && S_ISDIR(status.st_mode))) {
        errno = length ? EISDIR : ENOENT;
        return false;
    }
    if (!follow_links(file->shown, file->path))
        return false;
    if (stat(file->shown, &status) == 0)
        return find_descriptor(file, &status);
    return errno == ENOENT && can_be_made(file);
}

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);
    return length >= end && !strcasecmp(name + length - end, ending);
}

static bool begins_as_page(const char *path)
{
    static const char start[] = "<!doctype html>";
    char found[sizeof start - 1];
    int descriptor = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    bool same = descriptor >= 0 && read(descriptor, found, sizeof found) == (ssize_t)sizeof found &&
                !memcmp(found, start, sizeof found);
    if (descriptor >= 0)
        close(descriptor);
    return same;
}

/* A recording or a model named by mistake, as in `--html NAME.trace`, can't be had again. Empty files hold nothing. */
static bool is_no_page(const struct page_file *file)
{
    if (ends_in(file->path, TRACE_FILE_SUFFIX))
        return true; /* also a new one: it would be read as a part of the session */
    return file->old_bytes && !ends_in(file->path, ".html") && !ends_in(file->path, ".htm") &&
           !begins_as_page(file->path);
}

static off_t bytes_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : 0;
}

bool page_file_open(struct page_file *file, const char *name, const char *command)
{
    *file = (struct page_file){.shown = name, .descriptor = -1};
    bool found = find_place(file);
    if (found && file->descriptor < 0)
        file->old_bytes = bytes_of(file->path);
    if (found && (file->descriptor >= 0 || !is_no_page(file)))
        return true;
    if (found)
        message_error(command, "the page '%s' can't be written: %s; name another file with --html FILE", name,
                      ends_in(file->path, TRACE_FILE_SUFFIX) ? "names in " TRACE_FILE_SUFFIX " are those of recordings"
                                                             : "that file is no page, and would be lost");
    else
        message_error(command, "the page '%s' can't be written: %m; name another file with --html FILE", name);
    return false;
}

/* Also where files may not grow so far (ulimit -f): that is an error as others are, which must not leave half a file. */
static bool write_all(int descriptor, const char *text, size_t bytes)
{
    signal(SIGXFSZ, SIG_IGN);
    while (bytes) {
        ssize_t written = write(descriptor, text, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        bytes -= (size_t)written;
    }
    return true;
}

/* Beside FILE; the name may be that of what a killed rooftap left. */
static int open_beside(const struct page_file *file, char *beside)
{
    int descriptor = -1;
    for (int i = 0; i < NAMES_MOST; i++) {
        int length = snprintf(beside, PATH_MAX, "%.*s.rooftap-%ld-%d.new", folder_length(file->path), file->path,
                              (long)getpid(), i);
        if (length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST)
            break;
    }
    return descriptor;
}

/* Who may not read the old page is not to read the new one. */
static bool keep_rights(const struct page_file *file, int descriptor)
{
    struct stat old, new;
    if (stat(file->path, &old) != 0)
        return errno == ENOENT;
    mode_t rights = old.st_mode & 0777;
    return fstat(descriptor, &new) == 0 && ((new.st_mode & 0777) == rights || fchmod(descriptor, rights) == 0);
}

/* fsync first: else a power cut may leave the new name without what it names. File systems without it are content. */
static bool replace(const struct page_file *file, const char *text, size_t bytes)
{
    char beside[PATH_MAX];
    int descriptor = open_beside(file, beside);
    if (descriptor < 0)
        return false;
    bool good = keep_rights(file, descriptor) && write_all(descriptor, text, bytes) &&
                (fsync(descriptor) == 0 || errno == EINVAL);
    int error = errno;
    if (close(descriptor) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && rename(beside, file->path) != 0) {
        good = false;
        error = errno;
    }
    if (!good)
        unlink(beside);
    errno = error;
    return good;
}

/* Ctrl-C in between would leave what was begun. */
static bool replace_undisturbed(const struct page_file *file, const char *text, size_t bytes)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    bool good = replace(file, text, bytes);
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return good;
}

/* An open file may be longer than the page. What is no file can't be made shorter; nor is standard output, which may have a
 * beginning that is another's. */
static bool write_stream(const struct page_file *file, const char *text, size_t bytes)
{
    if (!file->standard_output && ftruncate(file->descriptor, 0) != 0)
        errno = 0;
    return write_all(file->descriptor, text, bytes);
}

bool page_file_write(struct page_file *file, const char *text, size_t bytes, const char *command)
{
    bool stream = file->descriptor >= 0;
    bool good = stream ? write_stream(file, text, bytes) : replace_undisturbed(file, text, bytes);
    if (!good)
        message_error(command, "the page '%s' could not be written: %m%s", file->shown,
                      stream ? "" : "; what was there before, if anything, still is");
    page_file_close(file);
    return good;
}

void page_file_close(struct page_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}
