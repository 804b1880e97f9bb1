/* SPDX-License-Identifier: Apache-2.0 */
/* From a kernel launch's arguments to its record; the words of launch_calls.def. What every launch passes through is
 * inline, as in call_record.h. */
#ifndef PRELOAD_LAUNCH_RECORD_H
#define PRELOAD_LAUNCH_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti/kernel_timing.h"
#include "cupti/own_cost.h"
#include "preload/call_memo.h"
#include "preload/cublas_types.h"
#include "preload/depth.h"
#include "preload/entries.h"
#include "preload/kernel_names.h"
#include "preload/preload.h"
#include "trace/clock.h"
#include "trace/trace_writer.h"

/* A struct of a wrapper's own, which only copies of are passed on. */
struct launch_event {
    struct trace_thread *thread;
    uint64_t incarnation; /* that THREAD is of, with the marks of own_cost.h */
    uint64_t start_ticks, call_id;
    uint64_t parent_call_id; /* the library call that it is made in, 0: none */
    uint64_t stream;
    uint32_t default_stream; /* what stream 0 means */
    void *const *parameters; /* of the kernel, NULL: none; read once the launch succeeded */
    void *function;          /* CUfunction, NULL: none; its name is asked for in captures only */
    const cudaLaunchConfig_t *runtime_config;
    const CUlaunchConfig *driver_config;
};

/* NULL: nobody records this launch, make it and return. *INCARNATION is what the thread's state is of. */
static inline __attribute__((always_inline)) struct trace_thread *launch_record_thread(uint64_t *incarnation)
{
    struct trace_thread *thread;
    if (__builtin_expect(trace_thread_find(&thread, incarnation), 1)) {
        const struct preload_depth *depth = preload_depth(thread);
        if (__builtin_expect((depth->call | depth->launch | trace_thread_busy(thread)) == 0, 1)) {
            *incarnation = own_cost_begin(thread, *incarnation, OWN_COST_LAUNCH);
            return thread;
        }
    }
    thread = depth_thread_slowly((uintptr_t)__builtin_dwarf_cfa(), true);
    *incarnation = own_cost_begin_slowly(thread, OWN_COST_LAUNCH);
    return thread;
}

static inline bool launch_has_config(const struct launch_event *event)
{
    return event->runtime_config || event->driver_config;
}

/* The slot shows the outermost call. Of a launch it holds grid, block and dynamic shared memory where a gemm has sizes; a
 * config is not read before the real function has accepted it. */
static inline __attribute__((always_inline)) void
launch_slot_begin(struct trace_slot *slot, const struct launch_shape *shape, const struct launch_event *event)
{
    bool known = !launch_has_config(event);
    slot->argument[0] = known ? (int64_t)(uint32_t)shape->grid_xy : TRACE_UNKNOWN;
    slot->argument[1] = known ? (int64_t)(shape->grid_xy >> 32) : TRACE_UNKNOWN;
    slot->argument[2] = known ? (int64_t)(uint32_t)shape->grid_z_block_z : TRACE_UNKNOWN;
    slot->argument[3] = known ? (int64_t)(uint32_t)shape->block_xy : TRACE_UNKNOWN;
    slot->argument[4] = known ? (int64_t)(shape->block_xy >> 32) : TRACE_UNKNOWN;
    slot->argument[5] = known ? (int64_t)(shape->grid_z_block_z >> 32) : TRACE_UNKNOWN;
    slot->argument[6] = known ? (int64_t)(shape->entry_shared >> 32) : TRACE_UNKNOWN;
}

static inline __attribute__((always_inline)) void
launch_record_begin(struct trace_thread *thread, struct launch_shape *shape, struct launch_event *event)
{
    struct preload_depth *depth = preload_depth(thread);
    event->parent_call_id = depth->call;
    if (!event->stream)
        event->stream = event->default_stream;
    event->thread = thread;
    event->call_id = trace_thread_take_call_id(thread);
    shape->names = kernel_names_version(); /* before the name is looked up */
    depth->launch = event->call_id;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    depth_note_stack(&depth->launch_stack);
    thread->slot->launches_begun++;
    if (__builtin_expect(!event->parent_call_id, 1)) {
        kernel_timing_enter(kernel_timing_context(thread), (void *)(uintptr_t)event->stream, event->call_id);
        launch_slot_begin(thread->slot, shape, event);
    }
    uint32_t entry = (uint32_t)shape->entry_shared;
    MEMO_SETTLE(*shape);
    event->start_ticks = clock_ticks();
    if (__builtin_expect(!event->parent_call_id, 1)) {
        thread->slot->start_ticks = event->start_ticks;
        __atomic_store_n(&thread->slot->entry, entry, __ATOMIC_RELEASE);
    }
}

/* ---- after the launch ---- */

/* Nodes came of it, or something captures and it may be this; or it is timed by events, whose records need its name. */
static inline __attribute__((always_inline)) bool launch_is_captured(const struct launch_event *event)
{
    return !event->parent_call_id && kernel_timing_context(event->thread)->at_end &
                                         (KERNEL_TIMING_NODES | KERNEL_TIMING_CAPTURED | KERNEL_TIMING_EVENTS);
}

/* SIZE: of the record. */
static inline __attribute__((always_inline)) void launch_finish(const struct launch_event *event,
                                                                struct trace_launch *launch, uint32_t size,
                                                                uint32_t shape_offset, uint64_t end_ticks)
{
    uint64_t ticks = end_ticks - event->start_ticks;
    launch->shape_offset = shape_offset;
    launch->duration_ticks = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
    launch->start_ticks = event->start_ticks;
    launch->stream = event->stream;
    launch->call_id = event->call_id;
    launch->parent_call_id = event->parent_call_id;
    trace_commit_sized(event->thread, launch, size);
    event->thread->slot->launches_recorded++;
}

/* The launch succeeded, so the real function has read the config before us. Returns the stream. */
uint64_t launch_read_config(const struct launch_event *event, struct launch_shape *shape);

/* What owns the launch's kernel: the launch shape. */
struct launch_written {
    uint64_t id;
    enum trace_owner owner; /* LAUNCH or LAUNCH_VALUES */
};

/* Of a launch that a capture took, or may have taken: it gets its name now, since no kernel record may ever bring one. */
struct launch_written launch_write_captured(const struct launch_shape *shape, const struct launch_event *event,
                                            uint64_t end_ticks);

/* Room for a launch's record: what launch_finish() sets is still to come. In two registers. */
struct launch_room {
    struct trace_launch *launch; /* NULL: dropped */
    uint64_t id;
};
/* In place of NULL: the shape would have had values. */
#define LAUNCH_DROPPED_VALUES ((struct trace_launch *)8)
static inline bool launch_room_is(struct launch_room room)
{
    return (uintptr_t)room.launch > 8;
}
static inline enum trace_owner launch_room_owner(struct launch_room room)
{
    bool values = launch_room_is(room) ? room.launch->record.size > sizeof *room.launch : room.launch != NULL;
    return values ? TRACE_OWNER_LAUNCH_VALUES : TRACE_OWNER_LAUNCH;
}

/* For one that the thread's block may not hold yet, and may be dropped; and for all whose kernel has a plan. PARAMETERS: NULL:
 * their values are not asked for. HASH: launch_memo_hash(). */
struct launch_room launch_reserve_anew(struct trace_thread *thread, const struct launch_shape *shape,
                                       void *const *parameters, uint64_t hash);

static inline __attribute__((always_inline)) struct launch_written
launch_finish_room(const struct launch_event *event, struct launch_room room, uint64_t end_ticks)
{
    struct launch_written written = {room.id, launch_room_owner(room)};
    if (__builtin_expect(launch_room_is(room), 1))
        launch_finish(event, room.launch, room.launch->record.size, room.launch->shape_offset, end_ticks);
    return written;
}

/* A shape without values is remembered only of a kernel that has no plan. What is in a library call is that one's. */
static inline __attribute__((always_inline)) struct launch_written
launch_write(const struct launch_shape *shape, const struct launch_event *event, uint64_t end_ticks)
{
    struct trace_thread *thread = event->thread;
    uint64_t hash = launch_memo_hash(shape);
    const struct launch_memo *memo = launch_memo_at(call_memory(thread), hash);
    if (__builtin_expect(launch_memo_is(memo, shape), 1)) {
        uint64_t id, place = memo->place;
        struct trace_launch *launch = trace_reserve_at(thread, place, TRACE_RECORD_LAUNCH, sizeof *launch, &id);
        if (__builtin_expect(launch != NULL, 1)) {
            launch_finish(event, launch, sizeof *launch, trace_place_offset(place), end_ticks);
            return (struct launch_written){id, TRACE_OWNER_LAUNCH};
        }
    }
    return launch_finish_room(
        event, launch_reserve_anew(thread, shape, event->parent_call_id ? NULL : event->parameters, hash), end_ticks);
}

static inline void launch_leave(struct trace_thread *thread)
{
    struct preload_depth *depth = preload_depth(thread);
    depth->launch_stack = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a handler's launches use the thread's memory from here on */
    depth->launch = 0;
}

/* As call_end_unusual(). */
void launch_end_unusual(struct launch_shape *shape, struct launch_event *event, int status, uint64_t end_ticks);

static inline __attribute__((always_inline)) void launch_end_now(struct launch_shape *shape, struct launch_event *event,
                                                                 int status, uint64_t end_ticks)
{
    struct launch_written written = {0, TRACE_OWNER_NONE};
    struct trace_thread *thread = event->thread;
    if (__builtin_expect(status == VENDOR_SUCCESS, 1)) {
        if (launch_has_config(event)) {
            struct launch_event passed = *event;
            struct launch_shape filled = *shape;
            event->stream = launch_read_config(&passed, &filled);
            *shape = filled;
        }
        if (__builtin_expect(launch_is_captured(event), 0)) {
            struct launch_event passed = *event;
            struct launch_shape asked = *shape;
            written = launch_write_captured(&asked, &passed, end_ticks);
        } else {
            written = launch_write(shape, event, end_ticks);
        }
    } else {
        thread->slot->launches_failed++;
    }
    if (__builtin_expect(!event->parent_call_id, 1)) {
        kernel_timing_call_end(kernel_timing_context(thread), written.owner, written.id);
        __atomic_store_n(&thread->slot->entry, ENTRY_NONE, __ATOMIC_RELEASE);
    }
    launch_leave(thread);
}

static inline __attribute__((always_inline)) void launch_record_end(struct launch_shape *shape,
                                                                    struct launch_event *event, int status)
{
    uint64_t end_ticks = clock_ticks();
    if (__builtin_expect(event->incarnation != trace_incarnation(), 0)) {
        struct launch_event passed = *event;
        struct launch_shape asked = *shape;
        launch_end_unusual(&asked, &passed, status, end_ticks);
        return;
    }
    launch_end_now(shape, event, status, end_ticks);
}

#endif
