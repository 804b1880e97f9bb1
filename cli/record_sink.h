/* SPDX-License-Identifier: Apache-2.0 */
/* What `rooftap record` keeps of a run: every record, sums (--aggregate), or the newest up to a size (--max-size). */
#ifndef CLI_RECORD_SINK_H
#define CLI_RECORD_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/sink.h"

struct record_sink {
    bool aggregate;
    const char *max_size; /* as --max-size says; NULL: no bound */
};

/* RING: what --ring says, or NULL. False: the options don't fit, one line has been printed. */
bool record_sink_check(const struct record_sink *options, const char *ring, const char *command);
/* They hold for what a collector takes out of rings; a process that writes its own file knows no bound. */
bool record_sink_needs_ring(const struct record_sink *options);
void record_sink_refuse(const struct record_sink *options, const char *command);
/* What one process may write into the session's folder itself while the collector is kept from running; 0: no bound. */
uint64_t record_sink_more_bytes(const struct record_sink *options);
/* For the session in FOLDER; NULL: no memory. */
struct sink *record_sink_make(const struct record_sink *options, const char *folder);

#endif
