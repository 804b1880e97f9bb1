/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of activity that a window of timing switches on and off. Timing's own thread, or the one that starts it. */
#ifndef CUPTI_TIMED_KINDS_H
#define CUPTI_TIMED_KINDS_H

#include <stdbool.h>

/* Before the first switch. GRAPHS_WHOLE: each launch of a graph as one, instead of its kernels. */
void timed_kinds_choose(bool graphs_whole);

/* Whether what is launched from now on is recorded. CUPTI's result for kernels; not 0: it refused, and nothing is on. */
int timed_kinds_switch(bool on);
bool timed_kinds_are_on(void);

/* What external correlation needs belongs to them from now on. False: CUPTI refuses it. */
bool timed_kinds_add_external(void);

bool timed_kinds_graphs_whole(void); /* as chosen, and not refused so far */
bool timed_kinds_lack_copies(void);  /* CUPTI refused them */

#endif
