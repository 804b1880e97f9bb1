/* SPDX-License-Identifier: Apache-2.0 */
/* The name can't be foreseen, and mkdir() takes no folder that is there already. */
#include "collect/ring_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "trace/ring_control.h"
#include "trace/ring_snapshot.h"
#include "trace/trace.h"
#include "trace/trace_name.h"

#define ABANDONED_NS (60 * UINT64_C(1000000000))

static bool is_memory(const char *folder)
{
    struct statfs system;
    if (statfs(folder, &system) != 0)
        return false;
    errno = ENOTSUP;
    return system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC;
}

/* Long after what a launcher does before its collector begins, even on a machine that was stopped in between. */
static bool is_old(const struct ring_control *control)
{
    uint64_t now_ns = ring_control_now_ns(), beat_ns = __atomic_load_n(&control->heartbeat_ns, __ATOMIC_ACQUIRE);
    return now_ns > beat_ns && now_ns - beat_ns > ABANDONED_NS;
}

/* A launcher that was killed before its collector began, or a collector that was killed when all rings were taken, leaves a
 * folder without a ring: nothing is in it, and nobody comes. */
static void remove_abandoned(void)
{
    DIR *listing = opendir("/dev/shm");
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        char folder[sizeof "/dev/shm/" + sizeof entry->d_name];
        snprintf(folder, sizeof folder, "/dev/shm/%s", entry->d_name);
        struct ring_control *control = ring_control_is_own_folder(folder) ? ring_control_map(folder) : NULL;
        if (!control)
            continue;
        bool abandoned = is_old(control) && !ring_snapshot_has_collector(folder);
        ring_control_unmap(control);
        if (abandoned)
            ring_folder_remove(folder);
    }
    if (listing)
        closedir(listing);
}

bool ring_folder_make(char folder[RING_FOLDER_BYTES], uint64_t ring_bytes, const char *session_folder)
{
    uint64_t random;
    remove_abandoned();
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        return false;
    snprintf(folder, RING_FOLDER_BYTES, RING_FOLDER_PREFIX "%u-%016llx", (unsigned)geteuid(),
             (unsigned long long)random);
    if (mkdir(folder, 0700) != 0)
        return false;
    if (is_memory(folder) && chmod(folder, 0700) == 0 && ring_control_make(folder, ring_bytes, session_folder))
        return true;
    int why = errno;
    ring_folder_remove(folder);
    errno = why;
    return false;
}

void ring_folder_limit_more(const char *folder, uint64_t bytes)
{
    struct ring_control *control = ring_control_map(folder);
    if (!control)
        return; /* nor can anybody use it */
    control->more_bytes = bytes;
    ring_control_unmap(control);
}

/* A process that finds its half-made ring gone makes a file of its own. */
static bool remove_half_made(int at)
{
    bool rings = false;
    int again = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = again < 0 ? NULL : fdopendir(again);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        if (trace_name_stem(entry->d_name, TRACE_FILE_SUFFIX ".part"))
            unlinkat(at, entry->d_name, 0);
        else if (trace_name_is_trace(entry->d_name))
            rings = true;
    }
    if (listing)
        closedir(listing);
    else if (again >= 0)
        close(again);
    return !rings;
}

bool ring_folder_remove(const char *folder)
{
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (at < 0)
        return true;
    bool empty = remove_half_made(at);
    if (empty)
        unlinkat(at, RING_CONTROL_FILE, 0);
    close(at);
    return empty && (rmdir(folder) == 0 || (errno != ENOTEMPTY && errno != EEXIST));
}
