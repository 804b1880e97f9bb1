/* SPDX-License-Identifier: Apache-2.0 */
/* Linux tells a process's start in clock ticks since boot, and when it booted in seconds. */
#include "classify/live_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "trace/proc_file.h"

enum { SLACK_S = 60 }; /* clocks are set right meanwhile; a pid seldom comes again this soon */

static int64_t boot_time_s(void)
{
    char line[256];
    int64_t boot_s = -1;
    FILE *file = fopen("/proc/stat", "re");
    if (!file)
        return -1;
    while (boot_s < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "btime %" SCNd64, &boot_s) != 1)
            boot_s = -1;
    fclose(file);
    return boot_s;
}

/* False: there is no such process, or only its remains. */
static bool read_stat(int64_t pid, uint64_t *start_ticks)
{
    enum { STATE_FIELD = 3, START_FIELD = 22 };
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    text[proc_file_read(path, text, sizeof text - 1)] = '\0';
    const char *state = proc_file_stat_field(text, STATE_FIELD), *start = proc_file_stat_field(text, START_FIELD);
    return start && *state != 'Z' && *state != 'X' && sscanf(start, "%" SCNu64, start_ticks) == 1;
}

bool live_process(const char *host, int64_t pid, int64_t realtime_ns)
{
    struct utsname here;
    uint64_t start_ticks;
    if (!host || pid <= 0 || uname(&here) || strcmp(here.nodename, host) || !read_stat(pid, &start_ticks))
        return false;
    int64_t boot_s = boot_time_s(), ticks_per_second = sysconf(_SC_CLK_TCK);
    if (realtime_ns < 0 || boot_s < 0 || ticks_per_second <= 0)
        return true;
    return boot_s + (int64_t)(start_ticks / (uint64_t)ticks_per_second) <= realtime_ns / 1000000000 + SLACK_S;
}
