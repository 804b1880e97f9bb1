/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime's files share: its doors' beginning and end, handles, errors. */
#ifndef SIM_CUDART_RUNTIME_H
#define SIM_CUDART_RUNTIME_H

#include "sim/core/device.h"
#include "sim/core/graph.h"
#include "sim/core/memory.h"
#include "sim/core/module.h"
#include "sim/core/simgpu.h"
#include "sim/core/stream.h"

#include "cudart_bodies.h"

enum runtime_need {
    RUNTIME_FREE,    /* nothing */
    RUNTIME_DEVICE,  /* an initialised driver */
    RUNTIME_CONTEXT, /* and a current context */
};

cudaError_t runtime_enter(struct simgpu_api_call *call, const char *function, enum runtime_need need, int per_thread);
cudaError_t runtime_exit(struct simgpu_api_call *call, cudaError_t result, bool record);
cudaError_t runtime_missing(const char *function);
cudaError_t runtime_record(cudaError_t result); /* as the thread's last error */

/* The stream that a handle means in the door that is open; NULL: none. */
struct simgpu_stream *runtime_stream(cudaStream_t handle);
bool runtime_per_thread(void);

/* A kernel by its host stub or by its handle; NULL: neither. */
struct simgpu_kernel *runtime_kernel(const void *function);
const char *runtime_symbol(const void *function);

/* What a host symbol stands for on the device; false: not registered. */
bool runtime_variable(const void *symbol, void **address, size_t *size);

struct runtime_error {
    int number;
    const char *name, *text;
};
extern const struct runtime_error runtime_errors[]; /* generated; ends with name NULL */

/* Copies, used by several files. */
cudaError_t runtime_copy(const struct simgpu_copy *copy, cudaStream_t stream, bool wait);

#endif
