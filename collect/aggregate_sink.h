/* SPDX-License-Identifier: Apache-2.0 */
/* The sink of `record --aggregate`: sums in place of records. Memory and disk don't grow with the run: a process has one
 * file, written anew about every AGGREGATE_PERIOD_NS and at its end, so a collector that is killed loses no more than that. */
#ifndef COLLECT_AGGREGATE_SINK_H
#define COLLECT_AGGREGATE_SINK_H

#include <stdint.h>

#include "collect/sink.h"

#define AGGREGATE_PERIOD_NS 10000000000ull
/* A large file is written more seldom, so that on average no more than this is written to the disk. */
#define AGGREGATE_BYTES_PER_SECOND (1u << 20)

/* For the session in FOLDER, absolute. NULL: no memory. Opens nothing before its first call. */
struct sink *aggregate_sink_make(const char *folder);

#endif
