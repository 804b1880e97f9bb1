/* SPDX-License-Identifier: Apache-2.0 */
/* Where the collector puts what it takes out of the rings: one sink a session, one sink_process per ring file. A sink of
 * its own kind begins with struct sink and fills in the calls; so does what its open() returns. The collector is one
 * thread and makes one call at a time. */
#ifndef COLLECT_SINK_H
#define COLLECT_SINK_H

#include <stdbool.h>
#include <stdint.h>

struct sink;

/* What open() returns is the sink's own; the collector only hands it back. */
struct sink_process {
    struct sink *sink;
};

struct loss_book;
struct ring_control;

/* False from a call: what it was given is lost, errno says why. The collector counts that, says it in the session and goes on
 * draining (and calling), so that no host waits. A sink is made before the collector's process is, and opens no descriptor
 * before its first call. */
struct sink {
    /* First sight of a process's ring, FILE_NAME without a folder. NULL with errno set: the process is not recorded, as
     * the session then says. */
    struct sink_process *(*open)(struct sink *sink, const char *file_name);
    /* A records block of TRACE_BLOCK_BYTES, copied out of the ring and the callee's only for the length of the call: sealed,
     * or an open one, the last of a thread of a dead process. In any order, mostly that of their sequence. Nothing in it is
     * checked but the magic, version, size, kind and state. */
    bool (*records)(struct sink_process *process, const unsigned char *block);
    /* The latest state of the process's INDEX-th block of slots, again and again. */
    bool (*slots)(struct sink_process *process, unsigned index, const unsigned char *block);
    /* Nothing more of this process will come. DIED: else the collector ends before the process does. */
    void (*close)(struct sink_process *process, bool died);
    /* About once a second, CLOCK_BOOTTIME. */
    bool (*tick)(struct sink *sink, uint64_t now_ns);
    /* After the last call: writes what is left and frees the sink. May be NULL. */
    void (*end)(struct sink *sink);
    /* Set by the collector before the first call: for what is lost at other times. NULL: nobody keeps one. */
    struct loss_book *losses;
    /* Set by the collector, too: for a ring_control_beat() now and then in what takes long. NULL: nobody listens. */
    struct ring_control *control;
};

#endif
