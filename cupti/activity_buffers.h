/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for CUPTI's activity records: mapped once, never freed, handed out and taken back without a lock.
 *
 * CUPTI asks on application threads and returns on any thread; what comes back waits here until one thread, the taker,
 * has read it. When all are out, CUPTI still gets memory, never NULL (which crashed it before CUDA 12.9), but what it puts
 * there is counted as lost. */
#ifndef CUPTI_ACTIVITY_BUFFERS_H
#define CUPTI_ACTIVITY_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ACTIVITY_BUFFERS_MAX = 256, ACTIVITY_SCRATCH_BYTES = 65536, ACTIVITY_SCRATCH_COUNT = 64 };

bool activity_buffers_open(uint32_t count, uint32_t bytes);

/* Of the buffers that were ever handed out: memory that CUPTI and the taker have had at one time. */
uint64_t activity_buffers_most_bytes(void);

/* CUPTI's two buffer callbacks end here. */
uint8_t *activity_buffers_request(size_t *bytes);
void activity_buffers_complete(uint8_t *buffer, size_t valid_bytes);

/* Taker: calls CONSUME for each buffer that came back, until that returns false, and hands it out again. Returns how many there
 * were. */
unsigned activity_buffers_take(bool (*consume)(uint8_t *buffer, size_t valid_bytes));

#endif
