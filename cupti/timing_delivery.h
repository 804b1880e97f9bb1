/* SPDX-License-Identifier: Apache-2.0 */
/* Whether CUPTI delivers at all once it was switched off and on again, and what is done if it does not.
 *
 * CUPTI of some versions is said to deliver in the first session of a process only (lightseekorg/tokenspeed#1348): windows in
 * a row in which something was launched and of which nothing came. It is then left on, on trial. If records come, they may
 * come by windows, too: what was launched before may have been taken by captures, which leaves no record. If windows then stay
 * silent once more, it is left on for good, and what ran outside of windows is left out. Timing's own thread. */
#ifndef CUPTI_TIMING_DELIVERY_H
#define CUPTI_TIMING_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

void timing_delivery_reset(void); /* in a process's beginning */

/* Window NUMBER, from 1, opened; the newest closed; CUPTI handed over what was complete. */
void timing_delivery_opened(uint32_t number);
void timing_delivery_closed(void);
void timing_delivery_flushed(void);

/* At each tick. True: CUPTI is to be switched off, since no window is open. */
bool timing_delivery_judge(bool window_is_open, uint64_t now_ns);
/* It is not switched off where windows close. */
bool timing_delivery_keeps_on(void);
void timing_delivery_give_up(void); /* nothing is timed any more */

/* Of each record while there is doubt: whether it started, by CUPTI's clock, in a window. */
bool timing_delivery_takes(uint64_t start_ns);

#endif
