/* SPDX-License-Identifier: Apache-2.0 */
/* The collector of one session: a process of its own, that no signal to the launcher's group reaches and that outlives the
 * launcher while recorded processes live. It holds no descriptor of the caller's. Hosts never wait for it. */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/sink.h"

struct collector_state; /* memory shared with the process */

struct collector {
    pid_t pid; /* 0: none */
    int gate;  /* closed: end as soon as no recorded process lives */
    struct collector_state *state;
};

struct collector_result {
    bool settled;         /* all rings of processes that had ended are in the session's folder */
    uint32_t rings_alive; /* of processes that still run: the collector stays for them */
    uint64_t blocks, records_lost;
    int lost_errno; /* why the first was lost; 0: none was */
};

/* Of the rings in RING_FOLDER, into SINK, whose files are in SESSION_FOLDER. The process has a copy of SINK, which must hold
 * no descriptor yet; the caller's own stays unused, and is the caller's. False with errno set. */
bool collector_start(struct collector *collector, const char *ring_folder, const char *session_folder,
                     struct sink *sink);
/* The target has ended. Waits until what is left of it is collected, but not longer than WAIT_MS; then the process is on its
 * own, and *COLLECTOR is free. */
struct collector_result collector_finish(struct collector *collector, int wait_ms);

/* The same in this process, once: what processes that have ended left, and what others have sealed by now. False with errno
 * set: EWOULDBLOCK if a collector is at work. Frees SINK. */
bool collector_collect_once(const char *ring_folder, const char *session_folder, struct sink *sink,
                            struct collector_result *result);

#endif
