/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths read back from the device, where the user asked for it and no copy from the host tells them: behind some replays
 * of a graph, a few times a second, a small copy into pinned memory of our own, on a stream of our own, which waits for an
 * event behind the replay. On the program's stream there is that event and nothing else; nobody waits for the GPU.
 *
 * What is guaranteed: the values stood there after that replay, and were read before the next launch of a graph and the
 * next copy from the host into the buffer was even asked for; what is read later than that is dropped. Kernels that the
 * program launches in between and that write the buffer are not seen. None is asked for while anything captures. */
#ifndef CUPTI_LENGTH_READS_H
#define CUPTI_LENGTH_READS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)
extern _Atomic int length_reads_wanted;  /* the user asked for it */
extern _Atomic int length_reads_ongoing; /* a copy is under way */
#pragma GCC visibility pop

/* ---- call path ---- */

/* After a launch of GRAPH_ID on STREAM, which does not capture. */
void length_reads_launched(uint32_t graph_id, void *stream);

/* Before whatever may change what is being read. */
void length_reads_settle(void);
static inline void length_reads_before_change(void)
{
    if (__builtin_expect(atomic_load_explicit(&length_reads_ongoing, memory_order_relaxed), 0))
        length_reads_settle();
}

/* Around a call that may end CONTEXT, NULL: whichever; as event_pools_hold(). */
bool length_reads_hold(const void *context);
void length_reads_release(bool ended);

/* ---- whoever reads the log ---- */

/* GRAPH_ID reads BYTES at ADDRESS, buffer BUFFER, and they are not known (WANTED), or are. */
void length_reads_plan(uint32_t graph_id, unsigned buffer, uint64_t address, uint32_t bytes, bool wanted);

/* Makes what it takes; hands over what was read. */
void length_reads_tend(void);

#endif
