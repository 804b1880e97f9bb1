/* SPDX-License-Identifier: Apache-2.0 */
/* The one subscription of this process to CUPTI, in either of its two forms, and the calls that depend on which it is.
 *
 * Global (all versions): one subscriber a process; buffer callbacks and kinds belong to whoever set them last.
 * Per subscriber (13.3 and later, with a driver that knows it): several clients beside each other, if all of them use the
 * functions that end in _v2 and the first one allowed it. The two forms exclude each other within a process. */
#ifndef CUPTI_SUBSCRIPTION_H
#define CUPTI_SUBSCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/cupti_library.h"
#include "cupti/cupti_types.h"

/* Whether LIBRARY has all that the second form needs. */
bool subscription_may_share(const struct cupti_library *library);

/* CUPTI's result; 0: subscribed. One try. SHARED: the form. */
int subscription_open(const struct cupti_library *library, bool shared, cupti_callback *callback);

bool subscription_is_shared(void);
void *subscription_handle(void);           /* for the functions that take it in both forms; NULL: there is none */
const char *subscription_refused_by(void); /* how the one who was first calls itself; "": not known */

/* Who gives buffers and takes them back, as in the first form. CONTEXT and STREAM mean nothing. */
int subscription_register(cupti_buffer_requested *requested, cupti_buffer_completed *completed);

int subscription_enable(int kind);
int subscription_disable(int kind);

int subscription_next_record(uint8_t *buffer, size_t valid_bytes, struct cupti_record **record);
bool subscription_take_dropped(uint64_t *dropped); /* false: CUPTI does not say */
uint64_t subscription_timestamp(void);             /* 0: not known */
bool subscription_may_push(void);                  /* external correlation: ids of the calling thread */
int subscription_push(uint64_t id);
int subscription_pop(void);

/* Complete records are handed over, the kinds that were enabled here are disabled, and buffers that are not full are taken back,
 * so that the next client's records do not go there. May block. CUPTI may hold some all the same, and give them back later. */
void subscription_stop(void);
void subscription_close(void);

#endif
