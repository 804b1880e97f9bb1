/* SPDX-License-Identifier: Apache-2.0 */
/* What the front ends ask of the device and of contexts, beyond simgpu.h. */
#ifndef SIM_CORE_DEVICE_H
#define SIM_CORE_DEVICE_H

#include "sim/core/simgpu.h"

/* SIMGPU_DEVICE names a file that isn't right; said on standard error. */
SIMGPU_API bool simgpu_device_broken(void);
/* Devices that the process sees, 0 to SIMGPU_DEVICES_MOST. A board is one of the machine's, of which CUDA_VISIBLE_DEVICES
 * gives some to the process under ordinals; negative: no such device, or one that the process doesn't see. */
SIMGPU_API int simgpu_device_count(void);
SIMGPU_API int simgpu_device_board(int ordinal);
SIMGPU_API int simgpu_board_ordinal(int board);
/* Attributes by number, the driver's and the runtime's alike. False: no such attribute. */
SIMGPU_API bool simgpu_device_attribute(int board, int attribute, int *value);
SIMGPU_API void simgpu_device_uuid(int board, unsigned char uuid[16]);
enum { SIMGPU_UUID_TEXT_BYTES = 41 };
SIMGPU_API void simgpu_device_uuid_text(int board, char text[SIMGPU_UUID_TEXT_BYTES]); /* "GPU-..." */
/* Blocks of THREADS threads and SHARED bytes that fit on a multiprocessor. */
SIMGPU_API int simgpu_device_occupancy(unsigned threads, size_t shared_bytes);

/* Contexts: each device's primary one and those made by hand; each thread has a current one. Devices by ordinal. */
SIMGPU_API void *simgpu_context_primary(int device);
SIMGPU_API bool simgpu_context_primary_active(int device); /* made already */
SIMGPU_API void *simgpu_context_create(int device);
SIMGPU_API int simgpu_context_destroy(void *context);
SIMGPU_API bool simgpu_context_valid(const void *context);
SIMGPU_API void *simgpu_context_current(void);
SIMGPU_API int simgpu_context_set(void *context); /* NULL: none */
SIMGPU_API int simgpu_context_push(void *context);
SIMGPU_API int simgpu_context_pop(void **context);
SIMGPU_API uint32_t simgpu_context_id(const void *context);
/* Visits every context that the observer was told of, or would have been; the visitor may call the core. */
SIMGPU_API void simgpu_context_each(void (*visit)(void *context));
SIMGPU_API int simgpu_context_device(const void *context); /* negative: no such context */
SIMGPU_API int simgpu_current_device(void);                /* of the thread's context; 0 without one */
/* Lets the current context reach PEER's memory, or no more: CUresult. Nothing checks it but these calls. */
SIMGPU_API int simgpu_context_peer(const void *peer, bool enable);

/* True in a child forked from a process that had initialised the GPU: nothing works there. */
SIMGPU_API bool simgpu_forked(void);
SIMGPU_API bool simgpu_initialised(void);

/* An error after which nothing works in the process (a kernel's illegal address and the like); 0: none. */
SIMGPU_API void simgpu_poison(int result);
SIMGPU_API int simgpu_poisoned(void);

#endif
