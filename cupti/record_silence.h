/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels are launched while they are timed, and no record of any comes: CUPTI lost its session, or another client that we did
 * not see come took its buffers or switched its kinds off. Said once in the trace. Timing's own thread. */
#ifndef CUPTI_RECORD_SILENCE_H
#define CUPTI_RECORD_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

void record_silence_launched(void); /* in an open window, since the last look */

/* After a flush, with all records SEEN so far; of LAST, the one at the end. A kernel may take long: silence is said after
 * some seconds with launches in them, at the end if there never was a record. */
void record_silence_flushed(uint64_t seen, uint64_t now_ns, bool last);

#endif
