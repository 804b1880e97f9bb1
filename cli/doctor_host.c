/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the machine around: C library, kernel, loader, where a session would go. */
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "trace/ring_control.h"

static bool is_older(const char *version, int major, int minor)
{
    int found_major = 0, found_minor = 0;
    return sscanf(version, "%d.%d", &found_major, &found_minor) == 2 &&
           (found_major < major || (found_major == major && found_minor < minor));
}

void doctor_host_libc(const struct doctor *doctor, struct doctor_finding *finding)
{
    const char *version = gnu_get_libc_version();
    (void)doctor;
    if (is_older(version, 2, 28)) {
        doctor_say(finding, DOCTOR_WARN, "glibc %s is older than 2.28, the oldest that rooftap is tested on", version);
        doctor_advise(finding, "run in a container with a newer C library if programs fail to start under record");
    } else {
        doctor_say(finding, DOCTOR_OK, "glibc %s", version);
    }
}

void doctor_host_kernel(const struct doctor *doctor, struct doctor_finding *finding)
{
    struct utsname name;
    (void)doctor;
    if (uname(&name) != 0)
        doctor_say(finding, DOCTOR_UNKNOWN, "uname failed: %s", strerror(errno));
    else if (is_older(name.release, 4, 14)) {
        doctor_say(finding, DOCTOR_WARN,
                   "Linux %s is older than 4.14: a child made by a bare clone() is not told from its parent",
                   name.release);
        doctor_advise(finding, "nothing to do for programs that use fork() or posix_spawn()");
    } else {
        doctor_say(finding, DOCTOR_OK, "Linux %s", name.release);
    }
}

void doctor_host_preload(const struct doctor *doctor, struct doctor_finding *finding)
{
    char path[PATH_MAX], trouble[256];
    if (doctor->preload.end != DOCTOR_PROBE_ANSWERED) {
        doctor_probe_trouble(&doctor->preload, doctor->timeout_s, trouble, sizeof trouble);
        doctor_say(finding, DOCTOR_FAIL, "a program started with LD_PRELOAD=%s %s", doctor->layout.shim, trouble);
        doctor_advise(finding, "reinstall rooftap for this machine's C library");
    } else if (!doctor_probe_value(&doctor->preload, "librooftap.so", 0, path, sizeof path)) {
        doctor_say(finding, DOCTOR_FAIL, "the loader did not load %s from LD_PRELOAD", doctor->layout.shim);
        doctor_advise(finding, "try LD_PRELOAD=%s /bin/true to see what the loader says of it", doctor->layout.shim);
    } else {
        doctor_say(finding, DOCTOR_OK, "%s is loaded into what is started", path);
    }
}

/* The folder itself, or the nearest one above that is there: record makes the rest. */
static void find_nearest(const char *folder, char *out)
{
    snprintf(out, PATH_MAX, "%s", folder);
    while (access(out, F_OK) != 0) {
        char *slash = strrchr(out, '/');
        if (!slash || !out[1])
            snprintf(out, PATH_MAX, "%s", slash ? "/" : ".");
        else
            slash[slash == out] = '\0';
        if (!out[1])
            return;
    }
}

/* By trying: rights alone don't tell of file systems that take no files. */
static bool takes_folders(const char *folder)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/.rooftap-XXXXXX", folder) < PATH_MAX && mkdtemp(path) && rmdir(path) == 0;
}

void doctor_host_folder(const struct doctor *doctor, struct doctor_finding *finding)
{
    enum { FREE_LEAST_MB = 256 };
    char found[PATH_MAX];
    struct statvfs system;
    find_nearest(doctor->folder, found);
    if (!takes_folders(found) || statvfs(found, &system) != 0) {
        doctor_say(finding, DOCTOR_FAIL, "no folder can be made in '%s': %s", found, strerror(errno));
        doctor_advise(finding, "give record another one with -o DIR");
        return;
    }
    double free_bytes = (double)system.f_bavail * (double)system.f_frsize;
    if (free_bytes < FREE_LEAST_MB * 1048576.0) {
        doctor_say(finding, DOCTOR_WARN, "'%s' can be written, but has %.0f MiB free", found, free_bytes / 1048576);
        doctor_advise(finding, "give record another folder with -o DIR, or bound it with --max-size or --aggregate");
    } else {
        doctor_say(finding, DOCTOR_OK, "'%s' can be written, %.1f GiB free", found, free_bytes / 1073741824);
    }
}

void doctor_host_shared_memory(const struct doctor *doctor, struct doctor_finding *finding)
{
    const char *folder = "/dev/shm";
    struct statvfs system;
    (void)doctor;
    if (statvfs(folder, &system) != 0 || access(folder, W_OK | X_OK) != 0) {
        doctor_say(finding, DOCTOR_WARN,
                   "%s can't be used (%s): processes write their traces themselves, as with --ring off", folder,
                   strerror(errno));
        doctor_advise(finding, "mount a tmpfs there; in a container --shm-size=1g or an emptyDir of medium Memory");
        return;
    }
    double free_bytes = (double)system.f_bavail * (double)system.f_frsize;
    double rings = free_bytes / RING_BYTES_DEFAULT;
    if (rings < 4) {
        doctor_say(finding, DOCTOR_WARN,
                   "%s has %.1f MiB free, room for the rings of %d processes at %d MiB each; others write files",
                   folder, free_bytes / 1048576, (int)rings, RING_BYTES_DEFAULT >> 20);
        doctor_advise(finding, "give a container --shm-size=1g or more, or record --ring a smaller size");
    } else {
        doctor_say(finding, DOCTOR_OK, "%s has %.0f MiB free, rings take up to %d MiB a process", folder,
                   free_bytes / 1048576, RING_BYTES_DEFAULT >> 20);
    }
}

void doctor_host_ptrace(const struct doctor *doctor, struct doctor_finding *finding)
{
    char scope[16];
    if (doctor_read_line(doctor, "/proc/sys/kernel/yama/ptrace_scope", "", scope, sizeof scope))
        doctor_say(finding, DOCTOR_OK,
                   "kernel.yama.ptrace_scope is %s; not needed: record starts programs itself, and attaches to none",
                   scope);
    else
        doctor_say(finding, DOCTOR_OK, "this kernel doesn't restrict ptrace by Yama; record does without it anyway");
}
