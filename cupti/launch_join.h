/* SPDX-License-Identifier: Apache-2.0 */
/* correlation id -> {call, owner}: one fixed table, written by launching threads, read by the thread that takes records.
 *
 * No lock and no ordered operation: an entry carries a check word over its content, so an entry that two threads wrote at
 * once, or that is half written, is no entry. Ids are consecutive, so an entry lives for 2^18 later CUDA calls. */
#ifndef CUPTI_LAUNCH_JOIN_H
#define CUPTI_LAUNCH_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

enum { LAUNCH_JOIN_ENTRIES = 1 << 18, LAUNCH_JOIN_CALLS = 1 << 16 };

enum launch_join_result {
    LAUNCH_JOIN_FOUND,   /* call and owner hold */
    LAUNCH_JOIN_PENDING, /* the call is known, but has not ended yet */
    LAUNCH_JOIN_NONE,    /* launched under no call, or by one that failed: call holds, 0 if there was none */
    LAUNCH_JOIN_UNSEEN,  /* no entry: overwritten, or never noted */
};

struct launch_owner {
    uint64_t call_id;
    uint64_t owner_id;
    enum trace_owner owner;
};

/* Maps the table (untouched pages cost nothing). EXTERNAL: those of external correlation too. May be called again. */
bool launch_join_open(bool external);

/* Launch callback, on the launching thread. CHAIN is the call's newest entry (index + 1, 0 none) and is moved on. */
void launch_join_note(uint32_t correlation_id, uint64_t call_id, uint32_t *chain);

/* End of the call, same thread: gives the COUNT entries of CHAIN their owner. Returns how many had been overwritten. */
uint32_t launch_join_publish(uint32_t chain, uint32_t count, uint64_t call_id, enum trace_owner owner,
                             uint64_t owner_id);

enum launch_join_result launch_join_find(uint32_t correlation_id, struct launch_owner *found);

/* External correlation: the call's id is the external id; the call's end and CUPTI's record may come in any order, so one
 * that is unseen may still come. */
void launch_join_external_publish(uint64_t call_id, enum trace_owner owner, uint64_t owner_id);
void launch_join_external_note(uint32_t correlation_id, uint64_t call_id);
enum launch_join_result launch_join_external_find(uint32_t correlation_id, struct launch_owner *found);

#endif
