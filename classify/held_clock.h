/* SPDX-License-Identifier: Apache-2.0 */
/* How fast a GPU was kept while it worked: NVML's readings beside the run, laid over the device's busy time. Joined by UUID,
 * or by PCI address for MIG instances, never by a number. */
#ifndef CLASSIFY_HELD_CLOCK_H
#define CLASSIFY_HELD_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/interval_set.h"
#include "trace/trace.h"

/* Gaps shorter than this count as load: governors change clocks in steps of tens of milliseconds, and a decode loop has gaps
 * of microseconds between kernels and of a few milliseconds between steps. */
#define HELD_CLOCK_GAP_NS 10000000u

enum { HELD_CLOCK_REASONS = 9 };

/* All readings of a session. */
struct held_clock_readings {
    struct trace_clocks *readings;
    size_t count, capacity;
    size_t left_out; /* beyond what is kept in memory */
    bool file_there; /* gpu.clocks is in the session */
    bool cut_short;  /* it has no end: the recorder was killed, or still writes */
    char *problem;   /* one line: why the file could not be read; NULL: no problem */
};

struct held_clock {
    uint64_t readings;            /* of this device */
    uint64_t readings_under_load; /* taken while it was busy; all that follows is of those */
    double sm_hz;                 /* mean over the busy time that each stands for; NAN: not known. So for the rest */
    double sm_hz_lowest;
    double memory_hz;
    double power_w;
    double temperature_c_highest;
    double reason_share[HELD_CLOCK_REASONS]; /* of that busy time, by bit of nvmlClocksThrottleReasons */
};

/* What FOLDER/gpu.clocks holds. No such file: nothing, and no problem. */
struct held_clock_readings held_clock_read(const char *folder);
void held_clock_free(struct held_clock_readings *readings);

/* BUSY may be NULL or hold nothing. */
struct held_clock held_clock_of(const struct held_clock_readings *readings, const struct trace_device *device,
                                struct interval_set *busy);

/* What compute peaks are multiplied by: HELD->sm_hz by the clock at which the specification's peaks hold, at most 1. NAN
 * where either is not known. */
double held_clock_scale(const struct held_clock *held, double specification_hz);

/* As JSON.md spells it; NULL past the last. */
const char *held_clock_reason_name(int bit);

#endif
