/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process that a session tells of is still there: pids are used again, so its age is asked too. */
#ifndef CLASSIFY_LIVE_PROCESS_H
#define CLASSIFY_LIVE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* True if HOST is this machine and PID lives and is no younger than REALTIME_NS (negative: not known, any age will do). */
bool live_process(const char *host, int64_t pid, int64_t realtime_ns);

#endif
