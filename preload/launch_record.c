/* SPDX-License-Identifier: Apache-2.0 */
/* A launch inside a library call is recorded under that call, which owns its kernel; an inner launch of a launch (the
 * runtime calling the driver through the PLT) is the same launch and not recorded. */
#include "preload/launch_record.h"

#include <errno.h>

#include "cupti/event_timing.h"
#include "cupti/graph_capture.h"

static void set_sizes(struct launch_shape *shape, const uint32_t *grid, const uint32_t *block, size_t shared_bytes)
{
    shape->grid_xy = memo_pair(grid[0], grid[1]);
    shape->block_xy = memo_pair(block[0], block[1]);
    shape->grid_z_block_z = memo_pair(grid[2], block[2]);
    shape->entry_shared = memo_pair((uint32_t)shape->entry_shared, (uint32_t)shared_bytes);
}

uint64_t launch_read_config(const struct launch_event *event, struct launch_shape *shape)
{
    uint64_t stream;
    if (event->runtime_config) {
        const cudaLaunchConfig_t *c = event->runtime_config;
        const uint32_t grid[3] = {c->gridDim.x, c->gridDim.y, c->gridDim.z};
        const uint32_t block[3] = {c->blockDim.x, c->blockDim.y, c->blockDim.z};
        set_sizes(shape, grid, block, c->dynamicSmemBytes);
        stream = (uint64_t)(uintptr_t)c->stream;
    } else {
        const CUlaunchConfig *c = event->driver_config;
        const uint32_t grid[3] = {c->gridDimX, c->gridDimY, c->gridDimZ};
        const uint32_t block[3] = {c->blockDimX, c->blockDimY, c->blockDimZ};
        set_sizes(shape, grid, block, c->sharedMemBytes);
        stream = (uint64_t)(uintptr_t)c->hStream;
    }
    return stream ? stream : event->default_stream;
}

static void remember(struct trace_thread *thread, const struct launch_shape *shape, uint64_t place)
{
    struct launch_memo *set = launch_memo_set(call_memory(thread), shape);
    if (!launch_memo_is(&set[0], shape))
        set[1] = set[0];
    set[0].shape = *shape;
    set[0].place = place;
}

static uint64_t write_with_shape(const struct launch_event *event, struct trace_launch_shape *content,
                                 uint64_t end_ticks, uint64_t *place)
{
    uint64_t id = 0;
    uint32_t offset = 0;
    struct trace_launch *launch = trace_reserve_with(event->thread, TRACE_RECORD_LAUNCH_SHAPE, content, sizeof *content,
                                                     TRACE_RECORD_LAUNCH, sizeof *launch, &id, &offset);
    *place = launch ? trace_place(event->thread, offset) : 0;
    if (!launch)
        return trace_content_id(content, sizeof *content);
    launch_finish(event, launch, offset, end_ticks);
    return id;
}

static uint64_t write_second(const struct launch_shape *shape, const struct launch_event *event, uint64_t end_ticks)
{
    uint64_t id;
    struct trace_thread *thread = event->thread;
    const struct launch_memo *memo = launch_memo_set(call_memory(thread), shape) + 1;
    struct trace_launch *launch = launch_memo_is(memo, shape)
                                      ? trace_reserve_at(thread, memo->place, TRACE_RECORD_LAUNCH, sizeof *launch, &id)
                                      : NULL;
    if (!launch)
        return 0;
    launch_finish(event, launch, trace_place_offset(memo->place), end_ticks);
    return id;
}

static struct trace_launch_shape content_of(const struct launch_shape *shape, uint64_t name_id)
{
    return (struct trace_launch_shape){
        .name_id = name_id,
        .entry = (uint32_t)shape->entry_shared,
        .grid = {(uint32_t)shape->grid_xy, (uint32_t)(shape->grid_xy >> 32), (uint32_t)shape->grid_z_block_z},
        .block = {(uint32_t)shape->block_xy, (uint32_t)(shape->block_xy >> 32),
                  (uint32_t)(shape->grid_z_block_z >> 32)},
        .shared_bytes = (uint32_t)(shape->entry_shared >> 32),
    };
}

/* What CUPTI named, the program registered, or the driver knows. */
static const char *captured_name(const struct launch_shape *shape, const struct launch_event *event)
{
    const struct kernel_timing_context *context = kernel_timing_context(event->thread);
    const char *name = kernel_names_text(shape->kernel);
    if (!name)
        name = context->launched ? context->launched : graph_capture_function_name(event->function);
    return name;
}

static void name_events(const struct kernel_timing_context *context, const struct launch_shape *shape,
                        const struct launch_event *event)
{
    uint64_t name_id = kernel_names_id(event->thread, shape->kernel);
    const char *name = name_id ? NULL : graph_capture_function_name(event->function);
    event_timing_name(context->event_ticket, name ? trace_name_intern(event->thread, name) : name_id);
}

uint64_t launch_write_captured(const struct launch_shape *shape, const struct launch_event *event, uint64_t end_ticks)
{
    int error_before = errno;
    struct kernel_timing_context *context = kernel_timing_context(event->thread);
    void *stream = (void *)(uintptr_t)event->stream;
    if (context->at_end & KERNEL_TIMING_EVENTS)
        name_events(context, shape, event);
    bool captures = context->at_end & KERNEL_TIMING_NODES || graph_capture_is_on(stream);
    uint64_t place, id = 0;
    if (captures) {
        const char *name = captured_name(shape, event);
        struct trace_launch_shape content = content_of(shape, name ? trace_name_intern(event->thread, name) : 0);
        graph_capture_launched(context, stream, name);
        id = write_with_shape(event, &content, end_ticks, &place);
    }
    errno = error_before;
    return captures ? id : launch_write(shape, event, end_ticks);
}

uint64_t launch_write_anew(const struct launch_shape *shape, const struct launch_event *event, uint64_t end_ticks)
{
    uint64_t place, id = write_second(shape, event, end_ticks);
    if (id)
        return id;
    int error_before = errno;
    struct trace_launch_shape content = content_of(shape, kernel_names_id(event->thread, shape->kernel));
    id = write_with_shape(event, &content, end_ticks, &place);
    remember(event->thread, shape, place);
    errno = error_before;
    return id;
}

/* Marked, or stale: in a child that a signal handler forked inside of the launch. */
void launch_end_unusual(struct launch_shape *shape, struct launch_event *event, int status, uint64_t end_ticks)
{
    struct trace_thread *thread = event->thread;
    if (!own_cost_is_marked(event->incarnation))
        return;
    if (!own_cost_is_counted(event->incarnation)) {
        launch_end_now(shape, event, status, end_ticks);
    } else {
        if (!event->parent_call_id) {
            kernel_timing_call_end(kernel_timing_context(thread), TRACE_OWNER_NONE, 0);
            __atomic_store_n(&thread->slot->entry, ENTRY_NONE, __ATOMIC_RELEASE);
        }
        launch_leave(thread);
    }
    if (own_cost_is_measured(event->incarnation))
        own_cost_end(thread, OWN_COST_LAUNCH, event->start_ticks, end_ticks);
}
