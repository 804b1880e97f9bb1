/* SPDX-License-Identifier: Apache-2.0 */
/* FOLDER/unrecorded: which processes could not make a trace, and why. Made and allocated beside the run, before there is
 * trouble, so that a full disk has room to say that it is full. */
#ifndef TRACE_REFUSALS_H
#define TRACE_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_REFUSALS_FILE "unrecorded"

/* Text, zero bytes behind it: "PID ERRNO REALTIME_NS\n". A slot that begins with a zero byte is free. */
enum { REFUSAL_BYTES = 64, REFUSAL_SLOTS = 64 };

struct refusal {
    int64_t pid, error, realtime_ns;
};

/* For who makes the session. False with errno set; the file must not exist. */
bool refusals_make(const char *folder);

/* In the host: the process that calls has no trace because of ERROR, an errno. Does nothing without the file, or if all
 * slots are taken. No allocation; some system calls; errno is kept. */
void refusals_add(const char *folder, int error);
/* The same of process PID, for its collector. */
void refusals_add_process(const char *folder, int64_t pid, int error);

/* At most REFUSAL_SLOTS; how many. Slots that make no sense are left out. */
size_t refusals_read(const char *folder, struct refusal refusals[REFUSAL_SLOTS]);

#endif
