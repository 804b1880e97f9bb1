/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of timing: when kernels are timed, and the user's marks.
 *
 * A window is open while the user wants it (from the start, or by --delay, --duration and `rooftap ctl`), the mode times at
 * all, and, where it samples, a window of the sample is open. It gates only the timing: shapes, and the nodes of graphs that are
 * captured, are noted at all times. Opening and closing are calls of CUPTI on timing's own thread, never on the application's.
 *
 * Of the user's wishes the newest holds: a command of ctl ends what the options said. --duration is how long any window lasts
 * that the options or ctl opened. */
#ifndef CUPTI_TIMING_WINDOW_H
#define CUPTI_TIMING_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

#define TIMING_WINDOW_NEVER UINT64_MAX /* a delay: until ctl says so; a due: no */

struct timing_window_settings {
    const char *session_folder; /* where the page of `rooftap ctl` lies; NULL: there is none */
    uint64_t
        delay_ns; /* from the start of the session's command, where it is known, else of this process's recording */
    uint64_t duration_ns; /* 0: without end */
};

/* Before the start, again in a forked child. Maps the page. */
void timing_window_configure(const struct timing_window_settings *settings);
void timing_window_in_child(void); /* as a fork handler may: stores only */

/* The user's side of it at NOW_NS (CLOCK_MONOTONIC), from when the options count (BEGIN_NS) and what ctl said last (WORD, as in
 * trace/timing_control.h). */
struct timing_window_wish {
    bool open;
    enum trace_window_why why;
    uint64_t change_ns; /* when that changes by itself; TIMING_WINDOW_NEVER */
};
struct timing_window_wish timing_window_wish(uint64_t begin_ns, uint64_t delay_ns, uint64_t duration_ns, uint64_t word,
                                             uint64_t now_ns);

/* Start, before timing's thread runs. Whether kernels are to be timed at once in MODE; then what has come of it: the mode is
 * chosen, IS_OPEN: they are. */
bool timing_window_opens_at_once(enum trace_timing_mode mode);
void timing_window_begin(bool is_open);

/* Timing's own thread. */
void timing_window_tick(uint64_t now_ns);
uint64_t timing_window_due_ns(void);                 /* when to tick at the latest; TIMING_WINDOW_NEVER */
bool timing_window_is_open(void);                    /* any thread */
bool timing_window_was_open(void);                   /* since the last call of this; or is */
void timing_window_close(enum trace_window_why why); /* for good. Of PROFILER: CUPTI is not called */
void timing_window_end(void);                        /* of the process, or of its timing */

/* The process ends: it is no longer in the page. */
void timing_window_leave(void);

/* Any thread, one at a time gets to work: writes the user's marks. */
void timing_window_take_marks(void);

#endif
