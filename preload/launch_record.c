/* SPDX-License-Identifier: Apache-2.0 */
/* A launch inside a library call is recorded under that call, which owns its kernel; an inner launch of a launch (the
 * runtime calling the driver through the PLT) is the same launch and not recorded. */
#include "preload/launch_record.h"

#include <errno.h>
#include <string.h>

#include "cupti/event_timing.h"
#include "cupti/graph_capture.h"
#include "preload/parameter_plan.h"

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

/* VALUES: NULL: the shape has none. */
static struct launch_room reserve_with_shape(struct trace_thread *thread, struct trace_launch_shape *content,
                                             uint32_t content_size, const struct parameter_values *values)
{
    struct launch_room room;
    uint32_t offset, size = (uint32_t)sizeof *room.launch;
    size += values ? (uint32_t)sizeof(struct trace_launch_pointers) : 0;
    room.launch = trace_reserve_with(thread, TRACE_RECORD_LAUNCH_SHAPE, content, content_size, TRACE_RECORD_LAUNCH,
                                     size, &room.id, &offset);
    if (!room.launch)
        return (struct launch_room){values ? LAUNCH_DROPPED_VALUES : NULL, trace_content_id(content, content_size)};
    room.launch->shape_offset = offset;
    if (values)
        memcpy(room.launch + 1, values->pointer, sizeof values->pointer);
    return room;
}

static uint64_t place_of(const struct trace_thread *thread, struct launch_room room)
{
    return launch_room_is(room) ? trace_place(thread, room.launch->shape_offset) : 0;
}

static struct launch_room reserve_second(struct trace_thread *thread, const struct launch_shape *shape)
{
    struct launch_room room = {NULL, 0};
    const struct launch_memo *memo = launch_memo_set(call_memory(thread), shape) + 1;
    if (!launch_memo_is(memo, shape))
        return room;
    room.launch = trace_reserve_at(thread, memo->place, TRACE_RECORD_LAUNCH, sizeof *room.launch, &room.id);
    if (room.launch)
        room.launch->shape_offset = trace_place_offset(memo->place);
    return room;
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

/* ---- launches whose kernel has a plan ---- */

/* A plan is that of one name. Sums of multiples will do: the folds that follow spread them. HASH holds the address of the host
 * stub as it is, so the plan's must be multiplied: both lie in rows, and stubs go down as plans go up. */
static inline uint64_t seed_of(const struct launch_shape *shape, const struct parameter_plan *plan, uint64_t hash)
{
    return hash + (shape->entry_shared + (uint64_t)(uintptr_t)plan) * 0x3c6ef35fu;
}

static inline struct values_memo *memo_of(struct trace_thread *thread, uint64_t hash)
{
    return &call_memory(thread)->values[(hash >> 40) % (VALUES_MEMOS / 2) * 2];
}

/* No room and no id: what goes by the plan can't be written. */
static __attribute__((noinline)) struct launch_room reserve_first(struct trace_thread *thread,
                                                                  const struct launch_shape *shape,
                                                                  const struct parameter_plan *plan,
                                                                  void *const *parameters, uint64_t hash)
{
    int error_before = errno;
    struct launch_room room = {NULL, 0};
    struct parameter_values values;
    struct launch_content content = {.shape = content_of(shape, kernel_names_id(thread, shape->kernel))};
    if (content.shape.name_id == plan->name_id && parameter_plan_take(plan, parameters, &values) &&
        parameter_plan_write(thread, plan)) {
        uint32_t size = parameter_plan_fill(plan, &values, &content);
        room = reserve_with_shape(thread, &content.shape, size, &values);
        struct values_memo *set = memo_of(thread, hash);
        set[1] = set[0];
        set[0] = (struct values_memo){hash, place_of(thread, room)};
    }
    errno = error_before;
    return room;
}

static inline __attribute__((always_inline)) struct launch_room
reserve_values(struct trace_thread *thread, const struct launch_shape *shape, const struct parameter_plan *plan,
               void *const *parameters, uint64_t shape_hash)
{
    enum { SIZE = sizeof(struct trace_launch) + sizeof(struct trace_launch_pointers) };
    struct launch_room room;
    uint64_t pointer[PARAMETER_POINTER_ROOM];
    uint64_t hash = parameter_plan_hash(plan, parameters, seed_of(shape, plan, shape_hash), pointer);
    const struct values_memo *memo = memo_of(thread, hash);
    if (__builtin_expect(memo->hash == hash, 1) || (++memo)->hash == hash) {
        uint64_t place = memo->place;
        room.launch = trace_reserve_at(thread, place, TRACE_RECORD_LAUNCH, SIZE, &room.id);
        if (__builtin_expect(room.launch != NULL, 1)) {
            room.launch->shape_offset = trace_place_offset(place);
            memcpy(room.launch + 1, pointer, sizeof(struct trace_launch_pointers));
            return room;
        }
    }
    return reserve_first(thread, shape, plan, parameters, hash);
}

/* ---- those that nothing remembers ---- */

static __attribute__((noinline)) struct launch_room
reserve_without_values(struct trace_thread *thread, const struct launch_shape *shape, bool never_has_values)
{
    struct launch_room room = reserve_second(thread, shape);
    if (room.launch)
        return room;
    int error_before = errno;
    struct trace_launch_shape content = content_of(shape, kernel_names_id(thread, shape->kernel));
    room = reserve_with_shape(thread, &content, sizeof content, NULL);
    if (never_has_values)
        remember(thread, shape, place_of(thread, room));
    errno = error_before;
    return room;
}

/* *NEVER: it has none, and that is for good. */
static const struct parameter_plan *find_or_decide(const struct launch_shape *shape, bool *never)
{
    uint64_t state;
    const struct parameter_plan *plan = parameter_plan_find(shape->kernel, &state);
    if (!plan && state != PARAMETER_PLAN_NONE) {
        parameter_plan_decide(shape->kernel, (uint32_t)shape->entry_shared);
        plan = parameter_plan_find(shape->kernel, &state);
    }
    *never = state == PARAMETER_PLAN_NONE;
    return plan;
}

static __attribute__((noinline)) struct launch_room
reserve_slowly(struct trace_thread *thread, const struct launch_shape *shape, void *const *parameters)
{
    bool never;
    const struct parameter_plan *plan = find_or_decide(shape, &never);
    if (plan && parameters) {
        struct launch_room room = reserve_values(thread, shape, plan, parameters, launch_memo_hash(shape));
        if (room.launch)
            return room;
    }
    return reserve_without_values(thread, shape, never);
}

/* Straight through where the kernel lies at its first place in the table of names, and has a plan. */
struct launch_room launch_reserve_anew(struct trace_thread *thread, const struct launch_shape *shape,
                                       void *const *parameters, uint64_t hash)
{
    const struct name_slot *slot = &name_slots[name_first_slot(shape->kernel)];
    const void *key = atomic_load_explicit(&slot->key, memory_order_acquire);
    uint64_t state = atomic_load_explicit(&slot->plan, memory_order_acquire);
    if (__builtin_expect(key == shape->kernel && state > PARAMETER_PLAN_IN_THE_MAKING && !(state & 1) && parameters,
                         1)) {
        struct launch_room room = reserve_values(thread, shape, (const void *)(uintptr_t)state, parameters, hash);
        if (__builtin_expect(room.launch != NULL, 1))
            return room;
    }
    return reserve_slowly(thread, shape, parameters);
}

static struct launch_room reserve_captured(struct trace_thread *thread, const struct launch_shape *shape,
                                           const char *name, void *const *parameters)
{
    bool never;
    struct launch_room room = {NULL, 0};
    const struct parameter_plan *plan = parameters ? find_or_decide(shape, &never) : NULL;
    if (plan)
        room = reserve_values(thread, shape, plan, parameters, launch_memo_hash(shape));
    if (room.launch)
        return room;
    struct trace_launch_shape content = content_of(shape, name ? trace_name_intern(thread, name) : 0);
    return reserve_with_shape(thread, &content, sizeof content, NULL);
}

static struct launch_written write_captured(const struct launch_shape *shape, const struct launch_event *event,
                                            uint64_t end_ticks)
{
    const char *name = captured_name(shape, event);
    void *const *parameters = event->parent_call_id ? NULL : event->parameters;
    graph_capture_launched(kernel_timing_context(event->thread), (void *)(uintptr_t)event->stream, name);
    return launch_finish_room(event, reserve_captured(event->thread, shape, name, parameters), end_ticks);
}

struct launch_written launch_write_captured(const struct launch_shape *shape, const struct launch_event *event,
                                            uint64_t end_ticks)
{
    int error_before = errno;
    struct launch_written written;
    struct kernel_timing_context *context = kernel_timing_context(event->thread);
    if (context->at_end & KERNEL_TIMING_EVENTS)
        name_events(context, shape, event);
    bool captures = context->at_end & KERNEL_TIMING_NODES || graph_capture_is_on((void *)(uintptr_t)event->stream);
    written = captures ? write_captured(shape, event, end_ticks) : launch_write(shape, event, end_ticks);
    errno = error_before;
    return written;
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
