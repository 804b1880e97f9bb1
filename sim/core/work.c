/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of device work: how long each takes, what it really does, and its way to timeline, ledger and observer. */
#include "sim/core/work.h"
#include "sim/core/device.h"
#include "sim/core/index_kernel.h"
#include "sim/core/memory_state.h"
#include "sim/core/stream.h"

#include <stdlib.h>
#include <string.h>

/* Between host and device, and between devices: a 16-lane fourth-generation PCIe link, in practice. */
#define LINK_BYTES_PER_SECOND 25e9
#define COPY_STARTUP_NS       1000
#define HOST_CALL_NS          1000

/* CUpti_ActivityMemcpyKind */
enum {
    COPY_HOST_TO_DEVICE = 1,
    COPY_DEVICE_TO_HOST = 2,
    COPY_DEVICE_TO_DEVICE = 8,
    COPY_HOST_TO_HOST = 9,
    COPY_PEER_TO_PEER = 10
};
/* cudaMemcpyKind, which callers give */
enum { ASK_HOST_TO_HOST, ASK_HOST_TO_DEVICE, ASK_DEVICE_TO_HOST, ASK_DEVICE_TO_DEVICE, ASK_DEFAULT };

/* ---- checks ---- */

static size_t extent(size_t width, size_t height, size_t depth, size_t pitch, size_t slice)
{
    return width && height && depth ? (depth - 1) * slice + (height - 1) * pitch + width : 0;
}

/* One end of a copy or fill. */
struct place_of_bytes {
    bool known;
    bool device; /* the pointer is one that a device owns or maps */
    int owner;   /* ordinal of the device that the bytes are on; negative: on none, or where they are used */
};

/* False: the bytes run out of an allocation. */
static bool check_bytes(const void *address, size_t size, struct place_of_bytes *place)
{
    const struct simgpu_memory *memory = memory_find(address, 1);
    place->known = memory != NULL;
    place->device = memory && memory->kind >= SIMGPU_MEMORY_DEVICE;
    place->owner = place->device && memory->kind != SIMGPU_MEMORY_MANAGED ? memory->device : -1;
    return !place->device || size <= (size_t)(memory->base + memory->size - (const char *)address);
}

static int kind_of_copy(const struct place_of_bytes *to, const struct place_of_bytes *from)
{
    if (!from->device)
        return to->device ? COPY_HOST_TO_DEVICE : COPY_HOST_TO_HOST;
    if (!to->device)
        return COPY_DEVICE_TO_HOST;
    bool peers = to->owner >= 0 && from->owner >= 0 && to->owner != from->owner;
    return peers ? COPY_PEER_TO_PEER : COPY_DEVICE_TO_DEVICE;
}

static int check_copy(struct simgpu_copy *copy)
{
    size_t to_bytes = extent(copy->width, copy->height, copy->depth, copy->to_pitch, copy->to_slice);
    size_t from_bytes = extent(copy->width, copy->height, copy->depth, copy->from_pitch, copy->from_slice);
    struct place_of_bytes to, from;
    if (!to_bytes) {
        copy->kind = COPY_HOST_TO_HOST;
        return SIMGPU_SUCCESS;
    }
    if (!copy->to || !copy->from || copy->kind < ASK_HOST_TO_HOST || copy->kind > ASK_DEFAULT ||
        (copy->height > 1 && (copy->width > copy->to_pitch || copy->width > copy->from_pitch)) ||
        !check_bytes(copy->to, to_bytes, &to) || !check_bytes(copy->from, from_bytes, &from))
        return SIMGPU_INVALID_VALUE;
    bool wants_to = copy->kind == ASK_HOST_TO_DEVICE || copy->kind == ASK_DEVICE_TO_DEVICE;
    bool wants_from = copy->kind == ASK_DEVICE_TO_HOST || copy->kind == ASK_DEVICE_TO_DEVICE;
    if ((wants_to && !to.known) || (wants_from && !from.known))
        return SIMGPU_INVALID_VALUE;
    copy->kind = kind_of_copy(&to, &from);
    copy->to_device = to.owner;
    copy->from_device = from.owner;
    return SIMGPU_SUCCESS;
}

static int check_fill(const struct simgpu_fill *fill)
{
    struct place_of_bytes place;
    size_t row = fill->width * fill->element;
    size_t bytes = extent(row, fill->height, 1, fill->pitch, 0);
    if (fill->element != 1 && fill->element != 2 && fill->element != 4)
        return SIMGPU_INVALID_VALUE;
    if (!bytes)
        return SIMGPU_SUCCESS;
    if (!fill->to || !check_bytes(fill->to, bytes, &place) || !place.known || (fill->height > 1 && row > fill->pitch))
        return SIMGPU_INVALID_VALUE;
    return SIMGPU_SUCCESS;
}

static int check_kernel(struct simgpu_kernel_launch *launch)
{
    struct place_of_bytes place;
    void *to;
    size_t bytes;
    int result = kernel_check(launch);
    launch->index = result ? NULL : index_kernel_of(launch, &to, &bytes);
    if (launch->index && (!check_bytes(to, bytes, &place) || !place.known))
        launch->index = NULL;
    return result;
}

/* What stands for itself, as a graph's node that is built by hand, belongs to the thread's context. */
static bool belongs(struct simgpu_work *work)
{
    const struct context *context = work->context ? NULL : context_current();
    if (context) {
        work->device = context->device;
        work->context = context->id;
    }
    return work->context != 0;
}

int work_check(struct simgpu_work *work)
{
    if (!belongs(work))
        return SIMGPU_OUT_OF_MEMORY;
    switch (work->type) {
    case SIMGPU_WORK_KERNEL:
        return check_kernel(&work->kernel);
    case SIMGPU_WORK_COPY:
        return check_copy(&work->copy);
    case SIMGPU_WORK_FILL:
        return check_fill(&work->fill);
    case SIMGPU_WORK_HOST:
        return work->host.function || work->host.stream_function ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    case SIMGPU_WORK_GRAPH:
        return object_valid(&core_graphs, work->graph) ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    case SIMGPU_WORK_WAIT_EVENT:
    case SIMGPU_WORK_RECORD_EVENT:
        return object_valid(&core_events, work->event) ? SIMGPU_SUCCESS : SIMGPU_INVALID_HANDLE;
    case SIMGPU_WORK_CONDITIONAL:
        return conditional_check(&work->conditional);
    case SIMGPU_WORK_EMPTY:
        return SIMGPU_SUCCESS;
    }
    return SIMGPU_INVALID_VALUE;
}

/* ---- time ---- */

static size_t copy_bytes(const struct simgpu_copy *copy)
{
    return copy->width * copy->height * copy->depth;
}

static size_t fill_bytes(const struct simgpu_fill *fill)
{
    return fill->width * fill->element * fill->height;
}

static bool parameter_value(const struct simgpu_kernel_launch *launch, unsigned index, uint64_t *value)
{
    const struct simgpu_kernel *kernel = launch->kernel;
    if ((int)index >= kernel->param_count || kernel->params[index].size != sizeof *value)
        return false;
    if (launch->args) {
        memcpy(value, launch->args[index], sizeof *value);
        return true;
    }
    size_t offset = kernel->params[index].offset;
    if (!launch->buffer || launch->buffer_size < offset + sizeof *value)
        return false;
    memcpy(value, (const char *)launch->buffer + offset, sizeof *value);
    return true;
}

static uint64_t kernel_duration(const struct simgpu_kernel_launch *launch)
{
    const struct simgpu_device *device = simgpu_device();
    if (launch->duration_ns)
        return launch->duration_ns;
    for (size_t i = 0; i < sizeof device->byte_kernels / sizeof *device->byte_kernels; i++) {
        const struct simgpu_byte_kernel *row = &device->byte_kernels[i];
        uint64_t value;
        if (!row->name[0] || strcmp(row->name, launch->kernel->name) != 0 ||
            !parameter_value(launch, row->parameter, &value))
            continue;
        double blocks = (double)launch->dims.grid[0] * launch->dims.grid[1] * launch->dims.grid[2];
        double share = blocks < row->blocks ? blocks / row->blocks : 1;
        return device->startup_ns +
               (uint64_t)(row->factor * (double)value / (device->bytes_per_second * share) * 1e9 + 0.5);
    }
    return device->other_kernel_ns;
}

uint64_t work_duration(const struct simgpu_work *work)
{
    const struct simgpu_device *device = simgpu_device();
    switch (work->type) {
    case SIMGPU_WORK_KERNEL:
        return kernel_duration(&work->kernel);
    case SIMGPU_WORK_COPY: {
        double bytes = (double)copy_bytes(&work->copy);
        double seconds = work->copy.kind == COPY_DEVICE_TO_DEVICE ? 2 * bytes / device->bytes_per_second
                                                                  : bytes / LINK_BYTES_PER_SECOND;
        return COPY_STARTUP_NS + (uint64_t)(seconds * 1e9 + 0.5);
    }
    case SIMGPU_WORK_FILL:
        return COPY_STARTUP_NS + (uint64_t)((double)fill_bytes(&work->fill) / device->bytes_per_second * 1e9 + 0.5);
    case SIMGPU_WORK_HOST:
        return HOST_CALL_NS;
    default:
        return 0;
    }
}

void work_span(const struct simgpu_work *work, uint64_t kernel_before_ns, uint64_t ready_ns, uint64_t *start_ns,
               uint64_t *end_ns)
{
    uint64_t overlap = simgpu_device()->programmatic_overlap_ns;
    bool early = work->type == SIMGPU_WORK_KERNEL && work->kernel.programmatic && kernel_before_ns && overlap;
    *start_ns = ready_ns;
    if (early)
        *start_ns = ready_ns - kernel_before_ns > overlap ? ready_ns - overlap : kernel_before_ns;
    *end_ns = *start_ns + work_duration(work);
    if (*end_ns < ready_ns)
        *end_ns = ready_ns; /* it waits for what it depends on */
}

/* ---- what really happens ---- */

static void perform_copy(const struct simgpu_copy *copy)
{
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++) {
            char *to = (char *)copy->to + z * copy->to_slice + y * copy->to_pitch;
            const char *from = (const char *)copy->from + z * copy->from_slice + y * copy->from_pitch;
            memmove(to, from, copy->width);
        }
}

static void perform_fill(const struct simgpu_fill *fill)
{
    for (size_t y = 0; y < fill->height; y++) {
        char *row = (char *)fill->to + y * fill->pitch;
        if (fill->element == 1)
            memset(row, (int)(fill->value & 0xff), fill->width);
        else
            for (size_t x = 0; x < fill->width; x++)
                memcpy(row + x * fill->element, &fill->value, fill->element);
    }
}

void work_perform(const struct simgpu_work *work)
{
    if (work->type == SIMGPU_WORK_COPY)
        perform_copy(&work->copy);
    else if (work->type == SIMGPU_WORK_FILL)
        perform_fill(&work->fill);
    else if (work->type == SIMGPU_WORK_KERNEL)
        index_kernel_write(&work->kernel);
    else if (work->type == SIMGPU_WORK_HOST && work->host.stream_function)
        work->host.stream_function(work->host.stream, SIMGPU_SUCCESS, work->host.data);
    else if (work->type == SIMGPU_WORK_HOST)
        work->host.function(work->host.data);
}

static bool has_effect(const struct simgpu_work *work)
{
    return (work->type == SIMGPU_WORK_COPY && copy_bytes(&work->copy)) ||
           (work->type == SIMGPU_WORK_FILL && fill_bytes(&work->fill)) || work->type == SIMGPU_WORK_HOST ||
           (work->type == SIMGPU_WORK_KERNEL && work->kernel.index);
}

/* ---- copies that own what they point to ---- */

/* Parameters move into one block when their sizes are known; else they are forgotten, as their addresses won't last. */
static int own_params(struct simgpu_kernel_launch *to, const struct simgpu_kernel_launch *from)
{
    const struct simgpu_kernel *kernel = from->kernel;
    size_t size = from->buffer_size, count = 0;
    if (!from->buffer && from->args && kernel->param_count > 0)
        for (int i = 0; i < kernel->param_count; i++)
            if (kernel->params[i].offset + kernel->params[i].size > size)
                size = kernel->params[i].offset + kernel->params[i].size;
    to->args = NULL;
    to->buffer = NULL;
    to->buffer_size = 0;
    if (!size)
        return SIMGPU_SUCCESS;
    if (kernel->param_count > 0)
        count = (size_t)kernel->param_count;
    char *block = calloc(1, count * sizeof(void *) + size);
    if (!block)
        return SIMGPU_OUT_OF_MEMORY;
    char *bytes = block + count * sizeof(void *);
    to->buffer = bytes;
    to->buffer_size = size;
    to->args = count ? (void **)block : NULL;
    for (size_t i = 0; i < count; i++) {
        to->args[i] = bytes + kernel->params[i].offset;
        if (!from->buffer)
            memcpy(to->args[i], from->args[i], kernel->params[i].size);
    }
    if (from->buffer)
        memcpy(bytes, from->buffer, size);
    return SIMGPU_SUCCESS;
}

int work_copy(struct simgpu_work *to, const struct simgpu_work *from)
{
    *to = *from;
    if (from->type == SIMGPU_WORK_KERNEL)
        return own_params(&to->kernel, &from->kernel);
    if (from->type == SIMGPU_WORK_GRAPH && !(to->graph = graph_clone(from->graph, false)))
        return SIMGPU_OUT_OF_MEMORY;
    if (from->type == SIMGPU_WORK_CONDITIONAL)
        return conditional_copy(&to->conditional, &from->conditional);
    return SIMGPU_SUCCESS;
}

void work_release(struct simgpu_work *work)
{
    if (work->type == SIMGPU_WORK_KERNEL) {
        free(work->kernel.args ? (void *)work->kernel.args : work->kernel.buffer);
        work->kernel.args = NULL;
        work->kernel.buffer = NULL;
    } else if (work->type == SIMGPU_WORK_GRAPH && work->graph) {
        graph_free(work->graph);
        work->graph = NULL;
    } else if (work->type == SIMGPU_WORK_CONDITIONAL) {
        conditional_release(&work->conditional);
    }
}

/* ---- on its way ---- */

static void tell(const struct simgpu_work *work, const struct work_place *place, uint32_t correlation)
{
    struct simgpu_activity activity = {.correlation_id = correlation,
                                       .device = (uint32_t)work->device,
                                       .context = work->context,
                                       .stream = place->stream->id,
                                       .graph_id = place->graph_id,
                                       .graph_node_id = place->node ? simgpu_node_id(place->node) : 0,
                                       .source_node_id = place->node ? place->node->source_id : 0,
                                       .iteration = place->iteration,
                                       .start_ns = place->start_ns,
                                       .end_ns = place->end_ns};
    if (work->type == SIMGPU_WORK_KERNEL) {
        activity.kind = SIMGPU_ACTIVITY_KERNEL;
        activity.name = work->kernel.kernel->name;
        activity.dims = work->kernel.dims;
        activity.registers = work->kernel.kernel->registers;
        activity.static_shared_bytes = work->kernel.kernel->static_shared_bytes;
    } else if (work->type == SIMGPU_WORK_COPY) {
        activity.kind = SIMGPU_ACTIVITY_MEMCPY;
        activity.bytes = copy_bytes(&work->copy);
        activity.copy_kind = work->copy.kind;
        if (work->copy.kind == COPY_PEER_TO_PEER) {
            activity.from_device = (uint32_t)work->copy.from_device;
            activity.from_context = context_primary_id(work->copy.from_device);
            activity.to_device = (uint32_t)work->copy.to_device;
            activity.to_context = context_primary_id(work->copy.to_device);
        }
    } else if (work->type == SIMGPU_WORK_FILL) {
        activity.kind = SIMGPU_ACTIVITY_MEMSET;
        activity.bytes = fill_bytes(&work->fill);
        activity.value = (int)work->fill.value;
    } else {
        return;
    }
    timeline_add(&activity);
}

void work_tell_graph(const struct simgpu_stream *stream, uint32_t graph_id, uint64_t start_ns, uint64_t end_ns)
{
    struct simgpu_activity activity = {.kind = SIMGPU_ACTIVITY_GRAPH,
                                       .correlation_id = api_correlation(),
                                       .device = (uint32_t)stream->context->device,
                                       .context = stream->context->id,
                                       .stream = stream->id,
                                       .graph_id = graph_id,
                                       .start_ns = start_ns,
                                       .end_ns = end_ns};
    timeline_add(&activity);
}

/* What a graph's event nodes do. */
static void touch_event(const struct simgpu_work *work, const struct work_place *place)
{
    if (!object_valid(&core_events, work->event))
        return;
    if (work->type == SIMGPU_WORK_RECORD_EVENT)
        event_mark(work->event, place->end_ns, place->stream->ticket);
    else if (work->event->recorded && work->event->ticket > place->stream->ticket)
        place->stream->ticket = work->event->ticket;
}

static int account(const struct simgpu_work *work, const struct work_place *place)
{
    uint32_t correlation = api_correlation();
    ledger_work(work, place, correlation);
    tell(work, place, correlation);
    if (work->type == SIMGPU_WORK_RECORD_EVENT || work->type == SIMGPU_WORK_WAIT_EVENT)
        touch_event(work, place);
    return SIMGPU_SUCCESS;
}

static bool must_queue(const struct simgpu_work *work, const struct simgpu_stream *stream)
{
    if (work->type == SIMGPU_WORK_HOST)
        return true;
    uint64_t ticket = stream->legacy ? executor_last() : stream->ticket;
    return has_effect(work) && !executor_done(ticket);
}

int work_run(const struct simgpu_work *work, const struct work_place *place)
{
    int result = account(work, place);
    if (!result && must_queue(work, place->stream))
        return executor_push(work, &place->stream->ticket);
    if (!result)
        work_perform(work);
    return result;
}

/* A stream's work is its context's. Kernels go to streams of the current device alone, as the real ones do. */
static int place_work(struct simgpu_work *work, const struct simgpu_stream *stream)
{
    if (!object_valid(&core_streams, stream))
        return SIMGPU_INVALID_HANDLE;
    work->device = stream->context->device;
    work->context = stream->context->id;
    bool elsewhere = simgpu_context_current() && context_current()->device != work->device;
    return work->type == SIMGPU_WORK_KERNEL && elsewhere ? SIMGPU_INVALID_HANDLE : SIMGPU_SUCCESS;
}

int simgpu_enqueue(struct simgpu_stream *stream, const struct simgpu_work *asked)
{
    struct simgpu_work work = *asked;
    bool perform = false;
    work.call = work.call ? work.call : ledger_current_call();
    core_lock();
    int result = place_work(&work, stream);
    if (!result)
        result = work_check(&work);
    if (!result && stream->capture) {
        result = capture_add(stream, &work, NULL);
    } else if (!result && !(result = capture_implicit(stream, true))) {
        struct work_place place = {.stream = stream};
        uint64_t ready = timeline_ready(stream), before = ready == stream->tail_ns ? stream->tail_kernel_ns : 0;
        uint64_t now = timeline_now();
        if (before && before < now) /* not before it is asked for */
            before = now < ready ? now : ready;
        work_span(&work, before, ready, &place.start_ns, &place.end_ns);
        timeline_occupy(stream, place.end_ns);
        stream->tail_kernel_ns = work.type == SIMGPU_WORK_KERNEL ? place.start_ns : 0;
        account(&work, &place);
        if (must_queue(&work, stream))
            result = executor_push(&work, &stream->ticket);
        else
            perform = has_effect(&work);
    }
    core_unlock();
    if (perform) /* outside the lock: copies may be large */
        work_perform(&work);
    return result;
}
