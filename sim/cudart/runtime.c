/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning and the end of each runtime call: the driver is initialised when first needed, faults are asked for,
 * the observer is told, the thread's last error is kept. */
#include "sim/cudart/runtime.h"

static __thread cudaError_t last_error;
static __thread int door_per_thread;

/* Errors that a kernel leaves behind for the whole process. */
static bool is_sticky(int result)
{
    return result == cudaErrorIllegalAddress || result == cudaErrorLaunchTimeout ||
           (result >= cudaErrorAssert && result <= cudaErrorAssert + 9 &&
            result != cudaErrorHostMemoryAlreadyRegistered && result != cudaErrorHostMemoryNotRegistered &&
            result != cudaErrorTooManyPeers);
}

static cudaError_t ready_for(enum runtime_need need)
{
    if (need == RUNTIME_FREE)
        return cudaSuccess;
    int result = simgpu_init();
    if (!result)
        result = simgpu_poisoned();
    if (!result && need == RUNTIME_CONTEXT && !simgpu_context_current())
        result = simgpu_context_set(simgpu_context_primary(0));
    return (cudaError_t)result;
}

cudaError_t runtime_enter(struct simgpu_api_call *call, const char *function, enum runtime_need need, int per_thread)
{
    cudaError_t result = ready_for(need); /* before the observer: it may arrive in here */
    simgpu_api_enter(call);
    int fault = simgpu_fault(function);
    if (fault && is_sticky(fault))
        simgpu_poison(fault);
    door_per_thread = per_thread; /* last: an observer may have called in between */
    return fault ? (cudaError_t)fault : result;
}

cudaError_t runtime_record(cudaError_t result)
{
    if (result != cudaSuccess)
        last_error = result;
    return result;
}

cudaError_t runtime_exit(struct simgpu_api_call *call, cudaError_t result, bool record)
{
    simgpu_api_exit(call, &result);
    return record ? runtime_record(result) : result;
}

cudaError_t runtime_missing(const char *function)
{
    simgpu_not_supported(function);
    return cudaErrorNotSupported;
}

bool runtime_per_thread(void)
{
    return door_per_thread;
}

struct simgpu_stream *runtime_stream(cudaStream_t handle)
{
    return simgpu_stream_of(handle, door_per_thread);
}

cudaError_t runtime_cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = (cudaError_t)simgpu_poisoned(); /* such an error can't be cleared */
    return error;
}

cudaError_t runtime_cudaPeekAtLastError(void)
{
    return last_error;
}

static const struct runtime_error *error_of(cudaError_t error)
{
    const struct runtime_error *known = runtime_errors;
    while (known->name && known->number != (int)error)
        known++;
    return known;
}

const char *cudaGetErrorName(cudaError_t error)
{
    const char *name = error_of(error)->name;
    return name ? name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    const char *text = error_of(error)->text;
    return error == cudaSuccess ? "no error" : text ? text : "unrecognized error code";
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
