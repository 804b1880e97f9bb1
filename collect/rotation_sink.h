/* SPDX-License-Identifier: Apache-2.0 */
/* The sink of `record --max-size`: the session's folder never grows beyond a size, since the oldest blocks of all its
 * processes are written over. What a process says only once (names, devices, itself) is taken out of a block before that, and
 * what goes is counted (struct trace_rotated). */
#ifndef COLLECT_ROTATION_SINK_H
#define COLLECT_ROTATION_SINK_H

#include <stdint.h>

#include "collect/sink.h"

#define ROTATION_BYTES_LEAST (4u << 20) /* some processes' slots and names, and enough of calls to tell something */

/* For the session in FOLDER, absolute, whose files are to take MOST bytes together. NULL: no memory. Opens nothing before its
 * first call. */
struct sink *rotation_sink_make(const char *folder, uint64_t most);

#endif
