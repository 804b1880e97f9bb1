/* SPDX-License-Identifier: Apache-2.0 */
/* What the front ends ask of the device and of contexts, beyond simgpu.h. */
#ifndef SIM_CORE_DEVICE_H
#define SIM_CORE_DEVICE_H

#include "sim/core/simgpu.h"

/* SIMGPU_DEVICE names a file that isn't right; said on standard error. */
SIMGPU_API bool simgpu_device_broken(void);
/* Attributes by number, the driver's and the runtime's alike. False: no such attribute. */
SIMGPU_API bool simgpu_device_attribute(int attribute, int *value);
SIMGPU_API void simgpu_device_uuid(unsigned char uuid[16]);
/* Blocks of THREADS threads and SHARED bytes that fit on a multiprocessor. */
SIMGPU_API int simgpu_device_occupancy(unsigned threads, size_t shared_bytes);

/* Contexts: the primary one and those made by hand; each thread has a current one. */
SIMGPU_API void *simgpu_context_primary(void);
SIMGPU_API bool simgpu_context_primary_active(void); /* made already */
SIMGPU_API void *simgpu_context_create(void);
SIMGPU_API int simgpu_context_destroy(void *context);
SIMGPU_API bool simgpu_context_valid(const void *context);
SIMGPU_API void *simgpu_context_current(void);
SIMGPU_API int simgpu_context_set(void *context); /* NULL: none */
SIMGPU_API int simgpu_context_push(void *context);
SIMGPU_API int simgpu_context_pop(void **context);
SIMGPU_API uint32_t simgpu_context_id(const void *context);

/* True in a child forked from a process that had initialised the GPU: nothing works there. */
SIMGPU_API bool simgpu_forked(void);
SIMGPU_API bool simgpu_initialised(void);

/* An error after which nothing works in the process (a kernel's illegal address and the like); 0: none. */
SIMGPU_API void simgpu_poison(int result);
SIMGPU_API int simgpu_poisoned(void);

#endif
