/* SPDX-License-Identifier: Apache-2.0 */
/* Where windows are drawn at random, launches mostly fall between them: there timing_window.c looks after it. */
#include "cupti/record_silence.h"

#include "cupti/timing_mode.h"
#include "trace/trace_writer.h"

static const uint64_t patience_ns = 5000000000;

static bool noted;
static bool launched; /* since the last record */
static uint64_t silent_since_ns, last_seen;

static bool is_whole(void)
{
    enum trace_timing_mode mode = timing_mode_now();
    return mode == TRACE_TIMING_NODE || mode == TRACE_TIMING_GRAPH;
}

void record_silence_launched(uint64_t now_ns)
{
    if (!launched)
        silent_since_ns = now_ns;
    launched = true;
}

static void note(uint64_t seen)
{
    noted = true;
    trace_note(trace_thread_get(), TRACE_NOTE_NO_RECORDS, 0,
               "CUPTI gives no records of kernels%s though they are launched: another profiler took its buffers or its "
               "kinds, or its session is dead",
               seen ? " any more" : "");
}

void record_silence_flushed(uint64_t seen, uint64_t now_ns, bool last)
{
    if (seen != last_seen) {
        launched = false;
        last_seen = seen;
    }
    bool too_long = launched && now_ns - silent_since_ns >= patience_ns;
    if (!noted && launched && is_whole() && (too_long || (last && !seen)))
        note(seen);
}
