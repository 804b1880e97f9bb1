/* SPDX-License-Identifier: Apache-2.0 */
/* Knobs of the part of libcuda.so.1's stand-in that has contexts, events and graphs. Its clock stands until it is told; an
 * event is through when the clock has reached what was on its stream before it. */
#ifndef TESTS_CUPTI_FAKE_EVENTS_H
#define TESTS_CUPTI_FAKE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/cupti/fake_cupti.h"

enum fake_offence {
    FAKE_RECORDED_IN_CAPTURE, /* an event on a stream that captures */
    FAKE_UNSAFE_CALL,         /* one that captures forbid, not in the relaxed mode */
    FAKE_AFTER_DESTROY,       /* of an event or context that is gone */
    FAKE_WRONG_CONTEXT,       /* an event on a stream while another context is current */
    FAKE_WAITED,              /* a call that waits for the GPU */
    FAKE_OFFENCES
};

FAKE_API void fake_events_use_context(void *context); /* current in this thread from now on; NULL: none */
FAKE_API void fake_events_destroy_context(void *context);
FAKE_API void fake_events_work(void *stream, uint64_t ns);      /* put on a stream */
FAKE_API void fake_events_reach(uint64_t ns);                   /* the clock goes on by so much */
FAKE_API void fake_events_refuse_record(int result);            /* what cuEventRecord returns, 0: it works */
FAKE_API void fake_events_refuse_create_after(unsigned events); /* 0: never */
FAKE_API unsigned fake_events_offences(enum fake_offence which);
FAKE_API unsigned fake_events_made(void);

#endif
