/* SPDX-License-Identifier: Apache-2.0 */
/* The one subscription of this process to CUPTI: found, subscribed, kinds and launch callbacks enabled; and what CUPTI then
 * calls. Started once, never ended: finalising CUPTI while the application runs is not safe in any version. */
#ifndef CUPTI_CUPTI_SESSION_H
#define CUPTI_CUPTI_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti/cuda_driver.h"
#include "cupti/kernel_timing.h"

enum cupti_session_outcome {
    CUPTI_SESSION_STARTED, /* a TIMING_ON note is in the trace */
    CUPTI_SESSION_REFUSED, /* a TIMING_OFF note is; no second try */
    CUPTI_SESSION_LATER,   /* this CUPTI may be called only after cuInit() returned: nothing was done */
};

/* OPEN: kernels are timed at once; else from timed_kinds_switch(true) on. */
enum cupti_session_outcome cupti_session_start(const struct kernel_timing_settings *settings,
                                               const struct cuda_driver *driver, bool injected, bool open);

/* For timed_kinds.h, once there is a subscription. CUPTI's result. */
int cupti_session_switch_kind(int kind, bool on);

/* After a start only. */
uint32_t cupti_session_version(void); /* cuptiGetVersion() */
/* Since the last call of this; also by a launch that a capture took. */
bool cupti_session_take_launched_in_window(void);
bool cupti_session_is_external(void);   /* external correlation is in use */
bool cupti_session_sees_launches(void); /* false: nobody tells that kernels are outstanding */
bool cupti_session_was_used(void);      /* the GPU, ever: a flush in a process that never used it may hang */
bool cupti_session_take_launched(void); /* since the last look */
bool cupti_session_calls_launch(void);  /* a launch was seen under a call, ever */
void cupti_session_flush(void);         /* may block */
#define CUPTI_DROPS_UNTOLD UINT64_MAX
uint64_t cupti_session_take_dropped(void); /* since the last look; CUPTI_DROPS_UNTOLD: CUPTI does not say */
uint64_t cupti_session_timestamp(void);    /* 0: not known */
bool cupti_session_is_shared(void);        /* other clients may come beside it, see cupti/subscription.h */

/* Hands CUPTI over to another client, for good. Stop: nothing is recorded any more, what was comes back; returns how many records
 * were dropped since the last look; may block. Close: of the above, nothing asks or tells CUPTI any more. Records that are of a
 * subscriber of its own can be read only in between. */
uint64_t cupti_session_stop(void);
void cupti_session_close(void);

/* Goes over to external correlation: first what CUPTI has to record, false if it refuses; later, once calls push their ids,
 * the launch callbacks can go. */
bool cupti_session_go_external(void);
void cupti_session_drop_callbacks(void);

/* Call path, external correlation. */
bool cupti_session_push(uint64_t call_id);
void cupti_session_pop(void);

#endif
