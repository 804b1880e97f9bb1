/* SPDX-License-Identifier: Apache-2.0 */
/* Where windows are drawn at random, launches mostly fall between them: there timing_window.c looks after it. */
#include "cupti/record_silence.h"

#include "cupti/timing_mode.h"
#include "trace/trace_writer.h"

/* Only time that launches fell into counts, and of a pause before one no more than a flush at its slowest takes: after a launch
 * whose record came before it was heard of, or a buffer that CUPTI asked for in advance, nothing may be due for hours. */
static const uint64_t patience_ns = 5000000000, most_ns = 1000000000;

static bool noted;
static bool heard;    /* of a launch, since the last flush */
static bool launched; /* since the last record */
static uint64_t silent_ns, flushed_ns, last_seen;

static bool is_whole(void)
{
    enum trace_timing_mode mode = timing_mode_now();
    return mode == TRACE_TIMING_NODE || mode == TRACE_TIMING_GRAPH;
}

void record_silence_launched(void)
{
    heard = true;
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
    const uint64_t since_ns = now_ns - flushed_ns;
    if (seen != last_seen) {
        launched = false;
        silent_ns = 0;
    } else if (heard) {
        launched = true;
        silent_ns += since_ns < most_ns ? since_ns : most_ns;
    }
    heard = false;
    last_seen = seen;
    flushed_ns = now_ns;
    if (!noted && launched && is_whole() && (silent_ns >= patience_ns || (last && !seen)))
        note(seen);
}
