/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the target as a shell would: same terminal, descriptors, working folder and signal
 * dispositions; its status or its death by a signal is handed on. In two steps, so that its pid can
 * be written down before it starts. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/group_sentinel.h"

struct target {
    pid_t pid;
    int gate[2];     /* a byte in it lets the target start; both ends are held, so writing raises no
                        SIGPIPE */
    int exec_result; /* carries exec's errno back */
    char **argv;     /* borrowed; inside this process's own */
    struct group_sentinel sentinel;
};

/* Forks; the child waits at the gate. False: errno says why. */
bool target_prepare(struct target *target, char **argv, char **envp);
/* Lets it start. 0, or the errno of its exec; then the child has been reaped. */
int target_start(struct target *target);
/* Instead of starting it. */
void target_cancel(struct target *target);

/* Now and then while the target runs, ever more rarely. NULL: never. */
typedef void target_watch(pid_t pid, void *data);
/* Signals sent to this process go on to the target meanwhile. Returns the wait status. */
int target_wait(struct target *target, target_watch *watch, void *data);

/* 126 or 127, as a shell answers an exec that failed. */
int target_exec_status(int exec_errno);
/* Ends this process as WAIT_STATUS tells: by exit status (returned) or by the same signal (does not
 * return). */
int target_pass_on(int wait_status);

#endif
