/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a signal sent to the whole process group from one sent to this process alone: a process that does nothing sits in
 * the group with every signal blocked, and what is pending there was sent to all. */
#ifndef CLI_GROUP_SENTINEL_H
#define CLI_GROUP_SENTINEL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct group_sentinel {
    pid_t pid; /* 0: there is none */
};

/* ARGV: the target's, inside this process's own arguments. False: no process could be made, and nothing can be told. The
 * caller's signals have to be blocked. */
bool group_sentinel_start(struct group_sentinel *sentinel, char **argv);
/* Adds to SET what has been sent to the group since start; nothing where that can't be told. */
void group_sentinel_pending(const struct group_sentinel *sentinel, sigset_t *set);
/* Ends and reaps it; no other child is touched. */
void group_sentinel_stop(struct group_sentinel *sentinel);

#endif
