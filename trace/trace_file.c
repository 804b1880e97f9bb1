/* SPDX-License-Identifier: Apache-2.0 */
/* Growth needs no descriptor on Linux 5.14 and later: the mapping reaches beyond the end of the file, truncate() moves the
 * end by path, and MADV_POPULATE_WRITE allocates and maps the pages, failing where a store would have been SIGBUS. So a
 * host that closes descriptor 0 and opens it anew never races with the helper thread. Elsewhere, and to learn why
 * populating failed, the file is opened for a moment and fallocate()d. */
#include "trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Addresses only, so one mapping is enough for hours; a host with a limit on its address space is left nearly all of it. */
static const uint64_t window_bytes_free = 64ull << 30;
static const uint64_t window_bytes_limited = 16ull << 20;
static const uint64_t window_bytes_least = 4ull << 20;
static const char part_suffix[] = ".part";

/* Going over RLIMIT_FSIZE sends SIGXFSZ to the calling thread, which would kill the host. */
struct size_signal {
    sigset_t mask, old;
    bool was_pending;
};

static void size_signal_hold(struct size_signal *held)
{
    sigset_t pending;
    sigemptyset(&held->mask);
    sigaddset(&held->mask, SIGXFSZ);
    sigpending(&pending);
    held->was_pending = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &held->mask, &held->old);
}

static void size_signal_drop(struct size_signal *held)
{
    int saved = errno;
    sigset_t pending;
    sigpending(&pending);
    if (!held->was_pending && sigismember(&pending, SIGXFSZ) == 1) {
        struct timespec now = {0, 0};
        while (sigtimedwait(&held->mask, NULL, &now) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &held->old, NULL);
    errno = saved;
}

static bool over_size_limit(uint64_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

static bool still_our_file(const struct trace_file *file, const struct stat *found)
{
    return found->st_dev == file->device && found->st_ino == file->inode;
}

static int open_by_path(const struct trace_file *file)
{
    struct stat found;
    int fd = open(file->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    if (fstat(fd, &found) == 0 && still_our_file(file, &found))
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

static bool write_zeros(int fd, uint64_t from, uint64_t to)
{
    static const char zeros[65536];
    while (from < to) {
        uint64_t take = to - from < sizeof zeros ? to - from : sizeof zeros;
        ssize_t wrote = pwrite(fd, zeros, take, (off_t)from);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0)
            from += (uint64_t)wrote;
    }
    return true;
}

static bool allocate_by_descriptor(int fd, uint64_t from, uint64_t bytes)
{
    int failed;
    do
        failed = fallocate(fd, 0, (off_t)from, (off_t)bytes);
    while (failed && errno == EINTR);
    if (failed && (errno == EOPNOTSUPP || errno == ENOSYS))
        failed = !write_zeros(fd, from, from + bytes);
    if (failed) {
        int why = errno;
        if (ftruncate(fd, (off_t)from) != 0) {
            /* What could not be given back stays behind the end of the trace, as zeros: free to a reader. */
        }
        errno = why;
    }
    return !failed;
}

static bool allocate_by_open(struct trace_file *file, uint64_t bytes)
{
    int fd = open_by_path(file);
    if (fd < 0)
        return false;
    bool done = allocate_by_descriptor(fd, file->bytes, bytes);
    int why = errno;
    close(fd);
    errno = why;
    return done;
}

static bool allocate_by_populate(struct trace_file *file, unsigned char *address, uint64_t bytes)
{
    struct stat found;
    if (file->populate_unknown || stat(file->path, &found) != 0 || !still_our_file(file, &found) ||
        truncate(file->path, (off_t)(file->bytes + bytes)) != 0)
        return false;
    int failed;
    do
        failed = madvise(address, bytes, MADV_POPULATE_WRITE);
    while (failed && errno == EINTR);
    if (!failed)
        return true;
    if (errno == EINVAL)
        file->populate_unknown = true;
    if (truncate(file->path, (off_t)file->bytes) != 0) {
        /* zeros at the end are free blocks to a reader */
    }
    return false;
}

static bool map_window(struct trace_file *file, int fd)
{
    if (file->windows == TRACE_FILE_WINDOWS) {
        errno = EFBIG;
        return false;
    }
    for (;;) {
        void *window = mmap(NULL, file->window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)file->bytes);
        if (window != MAP_FAILED) {
            madvise(window, file->window_bytes, MADV_DONTDUMP);
            file->window[file->windows].address = window;
            file->window[file->windows++].bytes = file->window_bytes;
            file->window_used = 0;
            return true;
        }
        /* valgrind says EINVAL where it has no such range */
        if ((errno != ENOMEM && errno != EINVAL) || file->window_bytes <= window_bytes_least)
            return false;
        file->window_bytes /= 2;
    }
}

static bool next_window(struct trace_file *file)
{
    int fd = open_by_path(file);
    if (fd < 0)
        return false;
    bool done = map_window(file, fd);
    int why = errno;
    close(fd);
    errno = why;
    return done;
}

static bool make_path(struct trace_file *file, const char *folder, const char *name)
{
    int length;
    if (folder[0] == '/') {
        length = snprintf(file->path, sizeof file->path, "%s/%s%s", folder, name, part_suffix);
    } else {
        char directory[PATH_MAX];
        if (!getcwd(directory, sizeof directory))
            return false;
        length = snprintf(file->path, sizeof file->path, "%s/%s/%s%s", directory, folder, name, part_suffix);
    }
    if (length >= 0 && (size_t)length < sizeof file->path)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

bool trace_file_create(struct trace_file *file, const char *folder, const char *name, uint64_t most_bytes)
{
    memset(file, 0, sizeof *file);
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    file->window_bytes = limited ? window_bytes_limited : window_bytes_free;
    file->most_bytes = most_bytes;
    if (most_bytes && most_bytes < file->window_bytes)
        file->window_bytes = most_bytes;
    if (!make_path(file, folder, name))
        return false;
    int fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    struct stat made;
    bool done = fchmod(fd, 0600) == 0 && fstat(fd, &made) == 0; /* whatever the host's umask is */
    if (done) {
        file->device = made.st_dev;
        file->inode = made.st_ino;
        done = map_window(file, fd);
    }
    int why = errno;
    close(fd);
    if (!done)
        unlink(file->path);
    errno = why;
    return done;
}

bool trace_file_publish(struct trace_file *file)
{
    char final[PATH_MAX];
    size_t length = strlen(file->path) - (sizeof part_suffix - 1);
    memcpy(final, file->path, length);
    final[length] = 0;
    if (rename(file->path, final) != 0)
        return false;
    memcpy(file->path, final, length + 1);
    return true;
}

unsigned char *trace_file_grow(struct trace_file *file, uint64_t bytes)
{
    if (over_size_limit(file->bytes + bytes) || (file->most_bytes && file->bytes + bytes > file->most_bytes)) {
        errno = EFBIG;
        return NULL;
    }
    if (bytes > file->window[file->windows - 1].bytes - file->window_used && !next_window(file))
        return NULL;
    if (bytes > file->window[file->windows - 1].bytes) {
        errno = ENOMEM;
        return NULL;
    }
    unsigned char *address = file->window[file->windows - 1].address + file->window_used;
    struct size_signal held;
    size_signal_hold(&held);
    bool done = allocate_by_populate(file, address, bytes) || allocate_by_open(file, bytes);
    size_signal_drop(&held);
    if (!done)
        return NULL;
    file->bytes += bytes;
    file->window_used += bytes;
    return address;
}

bool trace_file_holds(const struct trace_file *file, const void *address)
{
    const unsigned char *p = address;
    for (uint32_t i = 0; i < file->windows; i++)
        if (p >= file->window[i].address && p < file->window[i].address + file->window[i].bytes)
            return true;
    return false;
}

void trace_file_forget(void *address, uint64_t bytes)
{
    madvise(address, bytes, MADV_DONTNEED);
}

void trace_file_remove(struct trace_file *file)
{
    struct stat found;
    if (stat(file->path, &found) == 0 && still_our_file(file, &found))
        unlink(file->path);
}

void trace_file_unmap(struct trace_file *file)
{
    for (uint32_t i = 0; i < file->windows; i++)
        munmap(file->window[i].address, file->window[i].bytes);
    file->windows = 0;
}
