/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of one process besides its operators: who it was, what its notes tell, what is missing. */
#ifndef CLASSIFY_SESSION_PROCESS_H
#define CLASSIFY_SESSION_PROCESS_H

#include "classify/operator_join.h"
#include "classify/session.h"
#include "trace/trace_reader.h"

/* One more process of SESSION, of which only the name of its trace is known; valid until the next is added. */
struct session_process *session_process_add(struct session *session, const char *file);
/* From the records of its trace, which have been joined, and from what READER found besides them. Takes JOIN's notes. BLOCK_PID
 * is that of its blocks, 0: not known. STILL_WRITTEN: it may run, so counts are ahead of records. */
void session_process_fill(struct session_process *process, struct operator_join *join,
                          const struct trace_reader *reader, uint32_t block_pid, bool still_written);
/* What JOIN holds of modes and windows, once it is merged. */
void session_process_take_windows(struct session_process *process, struct operator_join *join);
/* Adds to the session's COVERAGE. */
void session_process_cover(struct session_coverage *coverage, const struct session_process *process,
                           const struct operator_join *join);

#endif
