/* SPDX-License-Identifier: Apache-2.0 */
/* How kernels are timed: the mode that was asked for, the one that is in force, and the rules by which one leads to the other.
 * The rules are a table (timing_mode_rules, cupti/README.md); each one that comes to bear is written as a TIMING record.
 *
 * The bound. Some versions of CUPTI, all that are known, take times of a limited number of kernels in graphs, and record
 * impossible ones from there on (cupti_versions.c). `auto` times each kernel for the first part of them, then in sampled windows,
 * fewer the less is left, and ends before the rest; `node` times each kernel and ends at the same place. */
#ifndef CUPTI_TIMING_MODE_H
#define CUPTI_TIMING_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

enum timing_mode_event {
    TIMING_MODE_BEGUN,          /* CUPTI is ready; of OFF and EVENTS: their own start */
    TIMING_MODE_REFUSED,        /* there is no CUPTI, or it refuses */
    TIMING_MODE_GRAPHS_REFUSED, /* graphs as a whole are */
    TIMING_MODE_BOUND_NEAR,     /* the first part of the kernels of graphs is used */
    TIMING_MODE_BOUND_NEARER,   /* half of what was left when the periods became as long as they are */
    TIMING_MODE_BOUND_REACHED,  /* all but a rest */
    TIMING_MODE_PROFILER,       /* another profiler took CUPTI over */
    TIMING_MODE_OVERHEAD,       /* the user's budget: less of it */
    TIMING_MODE_OVERHEAD_STILL, /* none of it */
    TIMING_MODE_SILENT,         /* windows brought no records though kernels were launched in them */
};

enum { TIMING_MODE_ANY = -1 };

struct timing_mode_rule {
    int asked; /* enum trace_timing_mode; TIMING_MODE_ANY */
    int from;  /* mode in force; TIMING_MODE_ANY, as before the start */
    enum timing_mode_event event;
    enum trace_timing_mode to;
    const char *text; /* of the TIMING record; %llu: the bound */
};
/* The first that fits holds; an event that none fits changes nothing. */
extern const struct timing_mode_rule timing_mode_rules[];
extern const unsigned timing_mode_rule_count;
const struct timing_mode_rule *timing_mode_find(enum trace_timing_mode asked, int from, enum timing_mode_event event);

/* Before the start. MOST: instead of the bound of CUPTI's version; 0: that. */
void timing_mode_configure(enum trace_timing_mode asked, uint64_t most);
enum trace_timing_mode timing_mode_asked(void);
enum trace_timing_mode timing_mode_now(void); /* any thread */
enum trace_window_why timing_mode_why(void);  /* of its last change, as a window that it closes has it */

/* Start: EVENT is BEGUN, REFUSED or GRAPHS_REFUSED. CUPTI_VERSION 0: none. */
void timing_mode_begin(enum timing_mode_event event, uint32_t cupti_version);

/* Timing's own thread. */
void timing_mode_happens(enum timing_mode_event event);
void timing_mode_note_graph_kernels(uint64_t kernels); /* so far, of the process */

/* Any thread: the next tick degrades timing to LEVEL, 1: sampled, 2: off. WHY, which must live on, stands in the record. */
void timing_mode_degrade(unsigned level, const char *why);
void timing_mode_tick(void);

#endif
