/* SPDX-License-Identifier: Apache-2.0 */
/* A launch inside a library call is recorded under that call, which owns its kernel; an inner launch of a launch (the
 * runtime calling the driver through the PLT) is the same launch and not recorded. */
#include "preload/launch_record.h"

#include <errno.h>

#include "cupti/kernel_timing.h"
#include "preload/entries.h"
#include "preload/kernel_names.h"
#include "trace/clock.h"

static void slot_count(uint64_t *field)
{
    __atomic_store_n(field, *field + 1, __ATOMIC_RELAXED);
}

/* The slot shows the outermost call. Of a launch it holds grid, block and dynamic shared memory where a gemm has sizes; a
 * config is not read before the real function has accepted it. */
static void slot_begin(struct trace_slot *slot, const struct launch_request *r)
{
    bool known = !r->runtime_config && !r->driver_config;
    __atomic_store_n(&slot->argument[0], known ? (int64_t)r->grid[0] : TRACE_UNKNOWN, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[1], known ? (int64_t)r->grid[1] : TRACE_UNKNOWN, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[2], known ? (int64_t)r->grid[2] : TRACE_UNKNOWN, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[3], known ? (int64_t)r->block[0] : TRACE_UNKNOWN, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[4], known ? (int64_t)r->block[1] : TRACE_UNKNOWN, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[5], known ? (int64_t)r->block[2] : TRACE_UNKNOWN, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->argument[6], known ? (int64_t)r->shared_bytes : TRACE_UNKNOWN, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->start_ticks, r->start_ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->entry, r->entry, __ATOMIC_RELEASE);
}

bool launch_record_begin(struct launch_request *request)
{
    struct trace_thread *thread = preload_thread();
    if (!thread)
        return false;
    if (!request->stream)
        request->stream = request->default_stream;
    kernel_timing_start_if_needed((void *)(uintptr_t)request->stream);
    request->thread = thread;
    request->slot = trace_thread_slot(thread);
    request->call_id = trace_thread_next_call_id(thread);
    preload_depth.launch = request->call_id;
    request->start_ticks = clock_ticks();
    slot_count(&request->slot->launches_begun);
    if (!preload_depth.call) {
        kernel_timing_call_begin(request->call_id);
        slot_begin(request->slot, request);
    }
    return true;
}

/* The launch succeeded, so the real function has read the config before us. */
static void read_config(struct launch_request *r)
{
    if (r->runtime_config) {
        const cudaLaunchConfig_t *c = r->runtime_config;
        const uint32_t grid[3] = {c->gridDim.x, c->gridDim.y, c->gridDim.z};
        const uint32_t block[3] = {c->blockDim.x, c->blockDim.y, c->blockDim.z};
        __builtin_memcpy(r->grid, grid, sizeof grid);
        __builtin_memcpy(r->block, block, sizeof block);
        r->shared_bytes = (uint32_t)c->dynamicSmemBytes;
        r->stream = c->stream ? (uint64_t)(uintptr_t)c->stream : r->default_stream;
    } else if (r->driver_config) {
        const CUlaunchConfig *c = r->driver_config;
        const uint32_t grid[3] = {c->gridDimX, c->gridDimY, c->gridDimZ};
        const uint32_t block[3] = {c->blockDimX, c->blockDimY, c->blockDimZ};
        __builtin_memcpy(r->grid, grid, sizeof grid);
        __builtin_memcpy(r->block, block, sizeof block);
        r->shared_bytes = c->sharedMemBytes;
        r->stream = c->hStream ? (uint64_t)(uintptr_t)c->hStream : r->default_stream;
    }
}

static uint32_t saturated(uint64_t ticks)
{
    return ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
}

static uint64_t write_launch(struct launch_request *request, uint64_t end_ticks)
{
    struct trace_launch_shape shape = {
        .name_id = kernel_names_id(request->thread, request->kernel),
        .entry = request->entry,
        .grid = {request->grid[0], request->grid[1], request->grid[2]},
        .block = {request->block[0], request->block[1], request->block[2]},
        .shared_bytes = request->shared_bytes,
    };
    uint64_t id = 0;
    uint32_t offset = 0;
    struct trace_launch *launch = trace_reserve_with(request->thread, TRACE_RECORD_LAUNCH_SHAPE, &shape, sizeof shape,
                                                     TRACE_RECORD_LAUNCH, sizeof *launch, &id, &offset);
    if (!launch)
        return trace_content_id(&shape, sizeof shape);
    launch->shape_offset = offset;
    launch->duration_ticks = saturated(end_ticks - request->start_ticks);
    launch->start_ticks = request->start_ticks;
    launch->stream = request->stream;
    launch->call_id = request->call_id;
    launch->parent_call_id = preload_depth.call;
    trace_commit(request->thread, launch);
    slot_count(&request->slot->launches_recorded);
    return id;
}

void launch_record_end(struct launch_request *request, int status)
{
    uint64_t end_ticks = clock_ticks(), id = 0;
    int saved_errno = errno;
    enum trace_owner owner = TRACE_OWNER_NONE;
    if (status == VENDOR_SUCCESS) {
        read_config(request);
        id = write_launch(request, end_ticks);
        owner = TRACE_OWNER_LAUNCH;
    } else {
        slot_count(&request->slot->launches_failed);
    }
    if (!preload_depth.call) {
        kernel_timing_call_end(owner, id);
        __atomic_store_n(&request->slot->entry, ENTRY_NONE, __ATOMIC_RELEASE);
    }
    preload_depth.launch = 0;
    errno = saved_errno;
}
