/* SPDX-License-Identifier: Apache-2.0 */
/* /dev/shm is open to everybody, so a folder there proves nothing by its name: owner and rights are looked at, links are
 * not followed. */
#include "trace/ring_control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(struct ring_control) == RING_CONTROL_BYTES, "one page");

uint64_t ring_control_now_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void ring_control_beat(struct ring_control *control)
{
    __atomic_store_n(&control->heartbeat_ns, ring_control_now_ns(), __ATOMIC_RELEASE);
}

bool ring_control_is_fresh(const struct ring_control *control)
{
    uint64_t now = ring_control_now_ns(), beat = __atomic_load_n(&control->heartbeat_ns, __ATOMIC_ACQUIRE);
    uint64_t apart = now > beat ? now - beat : beat - now;
    return apart <= (uint64_t)RING_STALE_MS * 1000000;
}

static bool is_private(int fd, mode_t type)
{
    struct stat found;
    if (fstat(fd, &found) != 0)
        return false;
    if ((found.st_mode & S_IFMT) == type && found.st_uid == geteuid() && !(found.st_mode & (S_IRWXG | S_IRWXO)))
        return true;
    errno = EPERM;
    return false;
}

static int open_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && !is_private(fd, S_IFDIR)) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

bool ring_control_is_own_folder(const char *folder)
{
    char start[64];
    size_t length = (size_t)snprintf(start, sizeof start, RING_FOLDER_PREFIX "%u-", (unsigned)geteuid());
    if (strncmp(folder, start, length) != 0 || strlen(folder) != length + RING_FOLDER_DIGITS ||
        strspn(folder + length, "0123456789abcdef") != RING_FOLDER_DIGITS) {
        errno = EPERM;
        return false;
    }
    int fd = open_folder(folder);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int open_control(const char *folder, int flags)
{
    int at = open_folder(folder);
    if (at < 0)
        return -1;
    int fd = openat(at, RING_CONTROL_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags, 0600);
    int why = errno;
    close(at);
    errno = why;
    return fd;
}

uint64_t ring_control_folder_id(const char *session_folder)
{
    return trace_hash(session_folder, (uint32_t)strlen(session_folder));
}

bool ring_control_make(const char *folder, uint64_t ring_bytes, const char *session_folder)
{
    struct ring_control page = {.magic = RING_CONTROL_MAGIC,
                                .version = RING_CONTROL_VERSION,
                                .ring_bytes = ring_bytes,
                                .heartbeat_ns = ring_control_now_ns(),
                                .folder_id = ring_control_folder_id(session_folder)};
    int fd = open_control(folder, O_CREAT | O_EXCL);
    if (fd < 0)
        return false;
    ssize_t wrote = write(fd, &page, sizeof page);
    int why = wrote < 0 ? errno : ENOSPC;
    close(fd);
    errno = why;
    return wrote == (ssize_t)sizeof page;
}

static struct ring_control *map(int fd)
{
    struct stat found;
    if (!is_private(fd, S_IFREG) || fstat(fd, &found) != 0)
        return NULL;
    errno = EPROTO;
    if (found.st_size != RING_CONTROL_BYTES)
        return NULL;
    struct ring_control *control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (control == MAP_FAILED)
        return NULL;
    if (control->magic == RING_CONTROL_MAGIC && control->version == RING_CONTROL_VERSION)
        return control;
    munmap(control, sizeof *control);
    errno = EPROTO;
    return NULL;
}

struct ring_control *ring_control_map(const char *folder)
{
    int fd = open_control(folder, 0);
    if (fd < 0)
        return NULL;
    struct ring_control *control = map(fd);
    int why = errno;
    close(fd);
    errno = why;
    return control;
}

void ring_control_unmap(struct ring_control *control)
{
    munmap(control, sizeof *control);
}
