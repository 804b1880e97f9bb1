/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: whose streams and memory a thread's calls mean. Memory is the device's and outlives them; their streams
 * don't. */
#include "sim/core/device.h"
#include "sim/core/state.h"

#include <stdlib.h>

#define CONTEXT_STACK 64

enum { INVALID_DEVICE = 101, PEER_ALREADY_ENABLED = 704, PEER_NOT_ENABLED = 705 }; /* CUresult */

static struct object_pool contexts = OBJECT_POOL(context);
static struct context *primary[SIMGPU_DEVICES_MOST];
static uint32_t last_id;
static __thread struct {
    void *stack[CONTEXT_STACK];
    unsigned depth;
} thread;

static struct context *make(int device)
{
    struct context *context = object_new(&contexts);
    if (context) {
        context->id = ++last_id;
        context->device = device;
    }
    return context;
}

static struct context *primary_of(int device)
{
    if (!primary[device] && (primary[device] = make(device)))
        primary[device]->primary = true;
    return primary[device];
}

struct context *context_current(void)
{
    void *current = simgpu_context_current();
    return object_valid(&contexts, current) ? current : primary_of(0);
}

uint32_t context_primary_id(int device)
{
    return primary[device] ? primary[device]->id : 0;
}

static void tell(enum simgpu_resource_event event, void *context)
{
    api_resource(&(struct simgpu_resource_notice){.event = event, .context = context});
}

void *simgpu_context_primary(int device)
{
    core_lock();
    struct context *context = primary_of(device);
    bool news = context && !context->told;
    if (news)
        context->told = true;
    core_unlock();
    if (news)
        tell(SIMGPU_CONTEXT_CREATED, context);
    return context;
}

bool simgpu_context_primary_active(int device)
{
    core_lock();
    bool active = primary[device] && primary[device]->told;
    core_unlock();
    return active;
}

void *simgpu_context_create(int device)
{
    core_lock();
    struct context *context = make(device);
    core_unlock();
    if (context)
        tell(SIMGPU_CONTEXT_CREATED, context);
    return context && simgpu_context_push(context) == SIMGPU_SUCCESS ? context : NULL;
}

static bool is_destructible(const void *context)
{
    return object_valid(&contexts, context) && !((const struct context *)context)->primary;
}

int simgpu_context_destroy(void *context)
{
    core_lock();
    bool known = is_destructible(context);
    core_unlock();
    if (!known)
        return SIMGPU_INVALID_CONTEXT;
    tell(SIMGPU_CONTEXT_DESTROYED, context);
    executor_wait(executor_last());
    core_lock();
    known = is_destructible(context);
    if (known) {
        streams_of_context_gone(context);
        object_free(&contexts, context);
    }
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

struct gathered {
    void **contexts;
    size_t count, capacity;
};

static bool gather(void *object, void *data)
{
    struct gathered *gathered = data;
    const struct context *context = object;
    if (context->primary && !context->told)
        return true;
    if (gathered->count == gathered->capacity) {
        size_t capacity = 2 * gathered->capacity + 8;
        void **grown = realloc(gathered->contexts, capacity * sizeof *grown);
        if (!grown)
            abort(); /* as everywhere: a witness that forgets is none */
        gathered->contexts = grown;
        gathered->capacity = capacity;
    }
    gathered->contexts[gathered->count++] = object;
    return true;
}

void simgpu_context_each(void (*visit)(void *context))
{
    struct gathered gathered = {0};
    core_lock();
    object_each(&contexts, gather, &gathered);
    core_unlock();
    for (size_t i = 0; i < gathered.count; i++)
        visit(gathered.contexts[i]);
    free(gathered.contexts);
}

int simgpu_context_device(const void *context)
{
    core_lock();
    int device = object_valid(&contexts, context) ? ((const struct context *)context)->device : -1;
    core_unlock();
    return device;
}

int simgpu_current_device(void)
{
    int device = simgpu_context_device(simgpu_context_current());
    return device < 0 ? 0 : device;
}

static int set_peer(struct context *own, const struct context *peer, bool enable)
{
    unsigned bit = 1u << peer->device;
    if (own->device == peer->device)
        return INVALID_DEVICE;
    if (enable == ((own->peers & bit) != 0))
        return enable ? PEER_ALREADY_ENABLED : PEER_NOT_ENABLED;
    own->peers ^= bit;
    return SIMGPU_SUCCESS;
}

int simgpu_context_peer(const void *peer, bool enable)
{
    core_lock();
    struct context *own = context_current();
    int result = own && object_valid(&contexts, peer) ? set_peer(own, peer, enable) : SIMGPU_INVALID_CONTEXT;
    core_unlock();
    return result;
}
