/* SPDX-License-Identifier: Apache-2.0 */
/* A sink that keeps everything: one trace file a process, as the process would have written it without a ring. */
#ifndef COLLECT_TRACE_SINK_H
#define COLLECT_TRACE_SINK_H

#include "collect/sink.h"

/* Into FOLDER, absolute. GO_ON: traces that are there already are an earlier collector's: goes on in them, and leaves out what
 * they hold. NULL: no memory. Opens nothing before its first call. */
struct sink *trace_sink_make(const char *folder, bool go_on);

#endif
