/* SPDX-License-Identifier: Apache-2.0 */
/* What the launcher noted about a session in its session.json. The file may be missing or damaged: a report needs none
 * of it. */
#ifndef CLASSIFY_SESSION_INFO_H
#define CLASSIFY_SESSION_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSION_INFO_FILE "session.json"

enum session_end { SESSION_END_UNKNOWN, SESSION_END_EXIT, SESSION_END_SIGNAL };

/* A process that ended without having used CUDA, and whose libraries were loaded. */
struct session_unused {
    int64_t pid;
    char *runtime, *driver; /* paths of libcudart and libcuda; NULL: not loaded */
};

struct session_info {
    bool present;
    char *problem; /* why the file could not be used; NULL: no problem, or no file */
    char *rooftap_version, *command, *working_directory, *host, *kernel;
    char *simulate;                                             /* key of the GPU row; NULL: a real GPU, or not known */
    int64_t started_realtime_ns, ended_realtime_ns, target_pid; /* negative: not known */
    enum session_end end;
    int64_t end_value; /* exit status or signal number */
    char *ring;        /* folder of rings in shared memory; NULL: none, or not known */
    char *
        clocks_problem; /* why the GPU's clocks were not noted, or not to the end; NULL: nothing to say, or not known */
    bool unused_known;  /* processes told whether they had CUDA's libraries: those that ended by themselves */
    struct session_unused *unused;
    size_t unused_count;
};

/* "exit 0", "signal 9"; NULL: not known. The caller frees. */
char *session_info_end_text(const struct session_info *info);

struct session_info session_info_read(const char *folder);
void session_info_free(struct session_info *info);

#endif
