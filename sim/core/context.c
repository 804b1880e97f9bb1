/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts are tokens: memory and streams belong to the device, which has one process's contexts share everything. */
#include "sim/core/device.h"
#include "sim/core/state.h"

#define CONTEXT_STACK 64

struct context {
    struct object object;
    uint32_t id;
};

static struct object_pool contexts = OBJECT_POOL(context);
static struct context *primary;
static uint32_t last_id;
static __thread struct {
    void *stack[CONTEXT_STACK];
    unsigned depth;
} thread;

static struct context *make(void)
{
    struct context *context = object_new(&contexts);
    if (context)
        context->id = ++last_id;
    return context;
}

static void tell(enum simgpu_resource_event event, void *context)
{
    api_resource(&(struct simgpu_resource_notice){.event = event, .context = context});
}

void *simgpu_context_primary(void)
{
    core_lock();
    bool created = !primary && (primary = make());
    core_unlock();
    if (created)
        tell(SIMGPU_CONTEXT_CREATED, primary);
    return primary;
}

bool simgpu_context_primary_active(void)
{
    core_lock();
    bool active = primary != NULL;
    core_unlock();
    return active;
}

void *simgpu_context_create(void)
{
    core_lock();
    struct context *context = make();
    core_unlock();
    if (context)
        tell(SIMGPU_CONTEXT_CREATED, context);
    return context && simgpu_context_push(context) == SIMGPU_SUCCESS ? context : NULL;
}

int simgpu_context_destroy(void *context)
{
    if (context != primary && simgpu_context_valid(context))
        tell(SIMGPU_CONTEXT_DESTROYED, context);
    core_lock();
    bool known = object_valid(&contexts, context) && context != primary;
    if (known)
        object_free(&contexts, context);
    core_unlock();
    if (!known)
        return SIMGPU_INVALID_CONTEXT;
    if (thread.depth && thread.stack[thread.depth - 1] == context)
        thread.depth--;
    return SIMGPU_SUCCESS;
}

bool simgpu_context_valid(const void *context)
{
    core_lock();
    bool known = object_valid(&contexts, context);
    core_unlock();
    return known;
}

void *simgpu_context_current(void)
{
    return thread.depth ? thread.stack[thread.depth - 1] : NULL;
}

int simgpu_context_set(void *context)
{
    if (context && !simgpu_context_valid(context))
        return SIMGPU_INVALID_CONTEXT;
    if (!context) {
        thread.depth -= thread.depth > 0;
        return SIMGPU_SUCCESS;
    }
    if (!thread.depth)
        thread.depth = 1;
    thread.stack[thread.depth - 1] = context;
    return SIMGPU_SUCCESS;
}

int simgpu_context_push(void *context)
{
    if (!simgpu_context_valid(context))
        return SIMGPU_INVALID_CONTEXT;
    if (thread.depth == CONTEXT_STACK)
        return SIMGPU_OUT_OF_MEMORY;
    thread.stack[thread.depth++] = context;
    return SIMGPU_SUCCESS;
}

int simgpu_context_pop(void **context)
{
    if (!thread.depth)
        return SIMGPU_INVALID_CONTEXT;
    thread.depth--;
    if (context)
        *context = thread.stack[thread.depth];
    return SIMGPU_SUCCESS;
}

uint32_t simgpu_context_id(const void *context)
{
    core_lock();
    uint32_t id = object_valid(&contexts, context) ? ((const struct context *)context)->id : 0;
    core_unlock();
    return id;
}
