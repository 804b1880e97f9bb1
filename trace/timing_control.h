/* SPDX-License-Identifier: Apache-2.0 */
/* The page by which `rooftap ctl` talks to recorded processes: a file in the session's folder that all of them map. Commands
 * and marks are words in it that a process looks at in its own time: no signal, no socket, nobody waits for anybody. */
#ifndef TRACE_TIMING_CONTROL_H
#define TRACE_TIMING_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMING_CONTROL_FILE  "timing-control"
#define TIMING_CONTROL_MAGIC 0x0a4c525443544652ull /* "RFTCTRL\n" */

enum {
    TIMING_CONTROL_VERSION = 1,
    TIMING_CONTROL_PROCESSES = 256, /* more at one time obey what is said to the whole session only */
    TIMING_CONTROL_MARKS = 64,      /* that a process may be behind */
    TIMING_CONTROL_MARK_BYTES = 96,
    TIMING_CONTROL_BYTES = 28672,
};

/* A command: when it was given, CLOCK_MONOTONIC in us << 2 | enum timing_command; so the newer of two is the larger. 0: none. */
enum timing_command { TIMING_COMMAND_START = 1, TIMING_COMMAND_STOP = 2 };
static inline enum timing_command timing_command_of(uint64_t word)
{
    return (enum timing_command)(word & 3);
}
static inline uint64_t timing_command_ns(uint64_t word)
{
    return (word >> 2) * 1000;
}

enum timing_control_state {
    TIMING_CONTROL_WAITING = 0, /* its timing has not begun: CUDA is not initialised, say */
    TIMING_CONTROL_OPEN = 1,    /* kernels are timed */
    TIMING_CONTROL_CLOSED = 2,
    TIMING_CONTROL_OFF = 3, /* for good: no CUPTI, another profiler, a bound */
};

struct timing_control_process { /* of one process; all words atomic */
    uint64_t owner;             /* its pid | low half of its start (field 22 of /proc/PID/stat) << 32; 0: free */
    uint64_t word;              /* newest command for this process alone */
    uint64_t seen;              /* by the process: the newest command that it has followed */
    uint64_t marks;             /* by the process: the newest mark that it has looked at */
    uint32_t pid_namespace;
    uint32_t state;   /* by the process: enum timing_control_state */
    uint32_t mode;    /* enum trace_timing_mode */
    uint32_t windows; /* opened so far */
    uint64_t reserved[2];
};

struct timing_control_mark {
    uint64_t sequence; /* atomic; 0: none yet; UINT64_MAX: being written */
    uint64_t realtime_ns;
    uint64_t owner; /* 0: for all processes */
    uint32_t bytes;
    uint32_t reserved;
    char text[TIMING_CONTROL_MARK_BYTES];
};

struct timing_control {
    uint64_t magic;
    uint32_t version;
    uint32_t reserved_word;
    uint64_t
        start_ns;  /* CLOCK_MONOTONIC when the session's command was started, delays count from there; 0: not known */
    uint64_t word; /* atomic; newest command for all processes, also for those to come */
    uint64_t marks_given; /* atomic */
    uint64_t reserved[3];
    struct timing_control_process processes[TIMING_CONTROL_PROCESSES];
    struct timing_control_mark marks[TIMING_CONTROL_MARKS];
};

/* Makes the file in FOLDER, whole or not at all; where it is already there that is as good. False with errno set. */
bool timing_control_make(const char *folder);
/* The file must be this user's, and nobody else may have rights in it. NULL with errno set: EPERM if not so, EPROTO for one of
 * another make. Keeps no descriptor. */
struct timing_control *timing_control_map(const char *folder);
struct timing_control *timing_control_map_file(const char *path);
void timing_control_unmap(struct timing_control *control);

/* ---- the process's side ---- */

uint64_t timing_control_owner(int pid, uint64_t start); /* start in clock ticks */
/* The calling process, as it sees itself. */
uint64_t timing_control_own(uint32_t *pid_namespace);
/* The place of OWNER: its own, a free one, or that of a process that is gone. NULL: there is none left. */
struct timing_control_process *timing_control_join(struct timing_control *control, uint64_t owner,
                                                   uint32_t pid_namespace);
void timing_control_leave(struct timing_control_process *process, uint64_t owner);
/* The command that holds: the newest of the session's and the process's (NULL: none). */
uint64_t timing_control_word(const struct timing_control *control, const struct timing_control_process *process);

enum timing_control_look { TIMING_CONTROL_NOTHING, TIMING_CONTROL_TAKEN, TIMING_CONTROL_UNFINISHED };
/* The mark behind *CURSOR, which is moved on. UNFINISHED: somebody is writing it, or died of it;
 * timing_control_skip_mark() gives up on it. *LOST grows by those that were overwritten before they could be read. */
enum timing_control_look timing_control_next_mark(const struct timing_control *control, uint64_t *cursor,
                                                  struct timing_control_mark *mark, uint64_t *lost);
void timing_control_skip_mark(uint64_t *cursor, uint64_t *lost);

/* ---- the command's side ---- */

const struct timing_control_process *timing_control_find(const struct timing_control *control, uint64_t owner);
/* Its word from now on; returns it. */
uint64_t timing_control_give(uint64_t *word, enum timing_command command);
/* For OWNER, 0: all. BYTES at most TIMING_CONTROL_MARK_BYTES. Returns its sequence. */
uint64_t timing_control_mark(struct timing_control *control, uint64_t owner, const char *text, size_t bytes);

#endif
