/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver's files share: its doors' beginning and end, handles, errors. Old versions of structs are visible,
 * as programs may ask for old versions of functions. */
#ifndef SIM_DRIVER_DRIVER_H
#define SIM_DRIVER_DRIVER_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "sim/core/device.h"
#include "sim/core/graph.h"
#include "sim/core/memory.h"
#include "sim/core/module.h"
#include "sim/core/simgpu.h"
#include "sim/core/stream.h"

#include "cuda_bodies.h"

enum driver_need {
    DRIVER_FREE,    /* nothing */
    DRIVER_DEVICE,  /* cuInit before */
    DRIVER_CONTEXT, /* and a current context */
};

CUresult driver_enter(struct simgpu_api_call *call, const char *function, enum driver_need need, int per_thread);
CUresult driver_exit(struct simgpu_api_call *call, CUresult result);
CUresult driver_missing(const char *function);
int driver_version(void); /* 1000 * major + 10 * minor */

/* The stream that a handle means in the door that is open; NULL: none. */
struct simgpu_stream *driver_stream(CUstream handle);
const char *driver_symbol(const void *function);
#define DRIVER_STREAM(where, handle)                                                                                   \
    struct simgpu_stream *where = driver_stream(handle);                                                               \
    if (!where)                                                                                                        \
    return CUDA_ERROR_INVALID_HANDLE

CUresult driver_result(int result); /* the runtime's own numbers become the driver's */

struct driver_address {
    const char *name;
    int version, per_thread;
    void *function;
};
extern const struct driver_address driver_addresses[]; /* generated; ends with name NULL */
struct driver_error {
    int number;
    const char *name, *text;
};
extern const struct driver_error driver_errors[]; /* generated; ends with name NULL */

void *driver_tools_id(const char *symbol); /* functions that the headers here don't have; NULL: none */

#endif
