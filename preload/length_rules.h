/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of sequence lengths that the user names by hand (ROOFTAP_LENGTHS, settings.h): their addresses are parameters of
 * kernels. Read only of kernels that are named, and as a stranger would read them (process_vm_readv), so that a wrong number
 * gives no lengths instead of a fault. */
#ifndef PRELOAD_LENGTH_RULES_H
#define PRELOAD_LENGTH_RULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/settings.h"

#pragma GCC visibility push(hidden)
extern _Atomic int length_rules_now; /* rules; 0: launches need not look closer */
#pragma GCC visibility pop

void length_rules_configure(const char *text); /* may be NULL */

struct length_launch {
    const void *kernel; /* host stub or handle */
    void *function;     /* CUfunction, or NULL */
    void *const *parameters;
    uint32_t grid[3];
    uint64_t stream, call_id;
};

/* After a launch succeeded, if there are rules. */
void length_rules_launched(const struct length_launch *launch);

#endif
