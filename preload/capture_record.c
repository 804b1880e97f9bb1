/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel node that was built by itself is a launch shape like that of a launch: the record is written here, and the node
 * is given to it. It has a call id, which no launch has. */
#include "preload/capture_record.h"

#include <errno.h>
#include <string.h>

#include "cupti/event_timing.h"
#include "cupti/graph_calls.h"
#include "cupti/graph_capture.h"
#include "cupti/graph_events.h"
#include "cupti/graph_launches.h"
#include "preload/capture_types.h"
#include "preload/entries.h"
#include "preload/kernel_names.h"
#include "preload/parameter_plan.h"
#include "preload/preload.h"
#include "preload/real_symbol.h"
#include "trace/trace_writer.h"

static struct kernel_timing_context *context_now(void)
{
    struct trace_thread *thread = trace_thread_now();
    return thread ? kernel_timing_context(thread) : NULL;
}

static struct trace_thread *thread_started(void)
{
    struct trace_thread *thread = trace_thread_now();
    return thread ? thread : preload_thread_slowly();
}

void capture_begins(void)
{
    int errno_before = errno;
    if (thread_started())
        graph_calls_capture_begins();
    errno = errno_before;
}

void capture_begun(bool succeeded)
{
    if (succeeded && trace_writer_is_open())
        graph_capture_begun();
}

void capture_ended(int status)
{
    if (trace_writer_is_open())
        graph_capture_ended(status);
}

void capture_instantiated(void *graph, void *executable)
{
    int errno_before = errno;
    graph_calls_instantiated(context_now(), graph, executable);
    errno = errno_before;
}

void capture_updating(void *executable)
{
    int errno_before = errno;
    graph_calls_updating(executable);
    errno = errno_before;
}

void capture_updated(void *executable, void *graph)
{
    int errno_before = errno;
    if (!graph_events_sees_updates())
        graph_calls_updated(executable, graph, 0);
    errno = errno_before;
}

void capture_executable_goes(void *executable)
{
    int errno_before = errno;
    graph_calls_executable_goes(executable);
    errno = errno_before;
}

/* What another launch, which was left by a jump, has left behind is not this one's. */
static void begin_events(struct kernel_timing_context *context, void *stream)
{
    if (context->event_ticket)
        event_timing_after_graph(context->event_ticket, 0, false);
    context->event_ticket = event_timing_is_on() ? event_timing_before(stream) : 0;
}

static void end_events(struct kernel_timing_context *context, void *executable, bool succeeded)
{
    event_timing_after_graph(context->event_ticket, graph_launches_id(executable), succeeded);
    context->event_ticket = 0;
}

void capture_launch_begins(void *stream, uint32_t default_stream)
{
    struct trace_thread *thread = trace_thread_now();
    if (!stream)
        stream = (void *)(uintptr_t)default_stream;
    if (__builtin_expect(!thread, 0)) {
        int errno_before = errno;
        thread = preload_thread_slowly();
        errno = errno_before;
    }
    if (__builtin_expect(!thread, 0))
        return;
    kernel_timing_start_if_needed(stream);
    struct kernel_timing_context *context = kernel_timing_context(thread);
    graph_calls_launch_begins(context);
    if (!context->call_id && (event_timing_is_on() || __builtin_expect(context->event_ticket != 0, 0)))
        begin_events(context, stream);
}

void capture_launched(void *executable, void *stream, uint32_t default_stream, bool succeeded)
{
    if (!stream)
        stream = (void *)(uintptr_t)default_stream;
    struct kernel_timing_context *context = context_now();
    graph_calls_launched(context, executable, stream, succeeded);
    if (__builtin_expect(context && !context->call_id && context->event_ticket, 0))
        end_events(context, executable, succeeded);
}

void capture_cloned(void *graph, void *clone)
{
    int errno_before = errno;
    graph_calls_cloned(graph, clone);
    errno = errno_before;
}

void capture_graph_goes(void *graph)
{
    int errno_before = errno;
    graph_calls_graph_goes(graph);
    errno = errno_before;
}

void capture_child_added(void *graph, void *node, void *child)
{
    int errno_before = errno;
    graph_calls_child_added(graph, node, child);
    errno = errno_before;
}

/* ---- kernel nodes ---- */

/* Both forms of the struct begin alike: function, grid, block, dynamic shared memory. */
static bool read_shape(const void *params, struct trace_launch_shape *shape, void **function, void ***parameters)
{
    const struct cudaKernelNodeParams *p = params;
    if (!p)
        return false;
    *function = p->func;
    *parameters = p->kernelParams;
    shape->grid[0] = p->gridDim.x, shape->grid[1] = p->gridDim.y, shape->grid[2] = p->gridDim.z;
    shape->block[0] = p->blockDim.x, shape->block[1] = p->blockDim.y, shape->block[2] = p->blockDim.z;
    shape->shared_bytes = p->sharedMemBytes;
    return true;
}
_Static_assert(offsetof(CUDA_KERNEL_NODE_PARAMS_v1, gridDimX) == offsetof(struct cudaKernelNodeParams, gridDim) &&
                   offsetof(CUDA_KERNEL_NODE_PARAMS_v1, blockDimX) == offsetof(struct cudaKernelNodeParams, blockDim) &&
                   offsetof(CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes) ==
                       offsetof(struct cudaKernelNodeParams, sharedMemBytes) &&
                   offsetof(CUDA_KERNEL_NODE_PARAMS_v1, kernelParams) ==
                       offsetof(struct cudaKernelNodeParams, kernelParams),
               "read_shape()");

/* No capture is disturbed by it, and this call made no capture's work; a CUfunction's name is the driver's to tell. */
static uint64_t name_of(struct trace_thread *thread, bool runtime, void *function)
{
    uint64_t id = runtime ? kernel_names_id(thread, function) : 0;
    const char *name = id || runtime ? NULL : graph_capture_function_name(function);
    return name ? trace_name_intern(thread, name) : id;
}

/* SIZE: with the values behind it. */
static uint64_t write_shape(struct trace_thread *thread, struct trace_launch_shape *shape, uint32_t size)
{
    struct trace_launch_shape *record = trace_reserve(thread, TRACE_RECORD_LAUNCH_SHAPE, size);
    shape->id = trace_content_id(shape, size);
    if (!record)
        return 0;
    memcpy((char *)record + sizeof record->record, (char *)shape + sizeof shape->record, size - sizeof shape->record);
    trace_commit(thread, &record->record);
    return shape->id;
}

/* Bytes of the shape with the node's values behind it; 0: it has none. */
static uint32_t add_values(struct trace_thread *thread, const void *key, void *const *parameters,
                           struct launch_content *content)
{
    uint64_t state;
    struct parameter_values values;
    const struct parameter_plan *plan = key && parameters ? parameter_plan_find(key, &state) : NULL;
    if (key && parameters && !plan && state != PARAMETER_PLAN_NONE)
        plan = parameter_plan_decide(key, content->shape.entry);
    if (!plan || plan->name_id != content->shape.name_id || !parameter_plan_take(plan, parameters, &values) ||
        !parameter_plan_write(thread, plan))
        return 0;
    return parameter_plan_fill(plan, &values, content);
}

static void note_kernel_node(unsigned entry, bool runtime, void *graph, void *node, void *executable,
                             const void *params)
{
    struct launch_content content = {.shape = {.entry = entry}};
    struct launch_owner owner = {.owner = TRACE_OWNER_NONE};
    struct trace_thread *thread = trace_thread_now();
    void *function = NULL, **parameters = NULL;
    if (!thread || !read_shape(params, &content.shape, &function, &parameters))
        return;
    content.shape.name_id = name_of(thread, runtime, function);
    uint32_t size = add_values(thread, runtime ? function : NULL, parameters, &content);
    owner.owner_id = write_shape(thread, &content.shape, size ? size : (uint32_t)sizeof content.shape);
    if (owner.owner_id) {
        owner.owner = size ? TRACE_OWNER_LAUNCH_VALUES : TRACE_OWNER_LAUNCH;
        owner.call_id = trace_thread_take_call_id(thread);
    }
    graph_calls_kernel_node(kernel_timing_context(thread), graph, node, executable, &owner, content.shape.name_id);
}

void capture_kernel_node(unsigned entry, bool runtime, void *graph, void *node, void *executable, const void *params)
{
    int errno_before = errno;
    note_kernel_node(entry, runtime, graph, node, executable, params);
    errno = errno_before;
}

void capture_node(unsigned entry, bool runtime, void *graph, void *node, void *executable, const void *params)
{
    const struct cudaGraphNodeParams *p = params;
    int errno_before = errno;
    if (p && p->type == VENDOR_NODE_KERNEL)
        note_kernel_node(entry, runtime, graph, node, executable, &p->kernel);
    else if (p && graph && p->type == VENDOR_NODE_CHILD)
        graph_calls_child_added(graph, node, p->kernel.func); /* the child is the first there */
    else if (p && graph && p->type == VENDOR_NODE_CONDITIONAL)
        graph_calls_conditional_added(graph);
    errno = errno_before;
}

const void *capture_add_params(const void *real, uintptr_t fourth, uintptr_t fifth, uintptr_t sixth)
{
    enum { WITH_EDGES_SINCE = 13000 };
    int errno_before = errno, version = 0;
    int (*runtime_version)(int *) = real_symbol_ask(ASKED_cudaRuntimeGetVersion, real);
    bool known = runtime_version && runtime_version(&version) == 0;
    (void)fourth;
    errno = errno_before;
    return known ? (const void *)(version >= WITH_EDGES_SINCE ? sixth : fifth) : NULL;
}
