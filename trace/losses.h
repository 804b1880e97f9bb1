/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector took out of a ring and could not keep: one line a process in a small file of the session's folder, which
 * is allocated beforehand, since what is lost is mostly lost on a full disk. */
#ifndef TRACE_LOSSES_H
#define TRACE_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_LOSSES_FILE "uncollected"

enum { LOSS_BYTES = 192, LOSS_SLOTS = 64, LOSS_NAME_BYTES = 96 };

struct loss {
    char name[LOSS_NAME_BYTES]; /* of the trace; "others": processes for which there was no line left */
    int64_t error;              /* errno of the first */
    int64_t first_realtime_ns, last_realtime_ns;
    int64_t blocks, records;
};

bool losses_make(const char *folder);
/* Line INDEX, below LOSS_SLOTS, is LOSS from now on. False with errno set. */
bool losses_set(const char *folder, unsigned index, const struct loss *loss);
size_t losses_read(const char *folder, struct loss losses[LOSS_SLOTS]);

#endif
