/* SPDX-License-Identifier: Apache-2.0 */
/* The process that writes a ring: whether it still can. */
#ifndef COLLECT_OWNER_H
#define COLLECT_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct owner {
    int64_t pid;            /* in its own pid namespace */
    uint64_t start;         /* field 22 of /proc/PID/stat */
    uint64_t pid_namespace; /* inode; 0: not known */
};

/* From NAME, <pid>-<start>-<random>.trace. False: it is no such name. */
bool owner_of_name(struct owner *owner, const char *name);
bool owner_is_near(const struct owner *owner); /* in this process's pid namespace, so that owner_lives() tells */
/* False: it has ended. What can't be found out counts as alive. Only of one that is near. */
bool owner_lives(const struct owner *owner);
/* The process of that pid, whenever it was started, has file INODE of DEVICE mapped. Only of one that is near. */
bool owner_maps(const struct owner *owner, dev_t device, ino_t inode);
/* Some process has file INODE of DEVICE mapped. Reads /proc of all processes. */
bool owner_any_maps(dev_t device, ino_t inode);

#endif
