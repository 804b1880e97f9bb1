/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of one process's trace, opened so that no record in them counts twice, while a collector moves records from one
 * part to another. */
#ifndef CLASSIFY_TRACE_PARTS_H
#define CLASSIFY_TRACE_PARTS_H

#include "trace/ring_snapshot.h"
#include "trace/trace_reader.h"

/* PATH, the ring NAME in RING_FOLDER (NULL: there are no rings) and MORE (NULL: not looked for), each of which may be missing. *RING is
 * filled and must be freed behind the reader. NULL and *ERROR filled as trace_reader_open() does; *RING is to be freed then, too. */
struct trace_reader *trace_parts_open(struct ring_snapshot *ring, const char *path, const char *ring_folder,
                                      const char *name, const char *more, struct trace_error *error);

#endif
