/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional nodes: handles and bodies. No kernel computes here, so a handle keeps its default value for ever: an IF with
 * it runs or not, a SWITCH takes that body, a WHILE runs as often as the device's graph_iterations says. */
#include "sim/core/graph.h"
#include "sim/core/state.h"

#include <stdlib.h>

static struct handle {
    uint64_t number;
    uint32_t graph_id;
    unsigned value;
    struct handle *next;
} * handles;
static uint64_t last_number;

int simgpu_conditional_create(struct simgpu_graph *graph, unsigned default_value, bool assign, uint64_t *number)
{
    struct handle *handle = calloc(1, sizeof *handle);
    if (!handle)
        return SIMGPU_OUT_OF_MEMORY;
    core_lock();
    bool known = object_valid(&core_graphs, graph) && !graph->of_exec;
    if (known) {
        *handle = (struct handle){++last_number, graph->id, assign ? default_value : 1, handles};
        handles = handle;
        *number = handle->number;
    }
    core_unlock();
    if (!known)
        free(handle);
    return known ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

void conditional_forget(uint32_t graph_id)
{
    for (struct handle **link = &handles; *link;) {
        struct handle *handle = *link;
        if (handle->graph_id == graph_id) {
            *link = handle->next;
            free(handle);
        } else {
            link = &handle->next;
        }
    }
}

/* An IF may have a second body for "else" (CUDA 12.8), a WHILE has one, a SWITCH as many as it likes. */
int conditional_check(struct simgpu_conditional *conditional)
{
    const struct handle *handle = handles;
    unsigned most = conditional->kind == SIMGPU_IF ? 2 : conditional->kind == SIMGPU_WHILE ? 1 : 1024;
    while (handle && handle->number != conditional->handle)
        handle = handle->next;
    if (!handle || (unsigned)conditional->kind > SIMGPU_SWITCH || !conditional->count || conditional->count > most)
        return SIMGPU_INVALID_VALUE;
    conditional->value = handle->value;
    return SIMGPU_SUCCESS;
}

int conditional_copy(struct simgpu_conditional *to, const struct simgpu_conditional *from)
{
    *to = *from;
    to->bodies = calloc(from->count, sizeof(struct simgpu_graph *));
    for (unsigned i = 0; to->bodies && i < from->count; i++)
        if (!(to->bodies[i] = from->bodies ? graph_clone(from->bodies[i], false) : graph_new())) {
            conditional_release(to);
            break;
        }
    return to->bodies ? SIMGPU_SUCCESS : SIMGPU_OUT_OF_MEMORY;
}

void conditional_release(struct simgpu_conditional *conditional)
{
    for (unsigned i = 0; conditional->bodies && i < conditional->count; i++)
        if (conditional->bodies[i])
            graph_free(conditional->bodies[i]);
    free((void *)conditional->bodies);
    conditional->bodies = NULL;
}

unsigned work_nested_count(const struct simgpu_work *work)
{
    if (work->type == SIMGPU_WORK_GRAPH)
        return work->graph != NULL;
    return work->type == SIMGPU_WORK_CONDITIONAL && work->conditional.bodies ? work->conditional.count : 0;
}

struct simgpu_graph *work_nested(const struct simgpu_work *work, unsigned index)
{
    return work->type == SIMGPU_WORK_GRAPH ? work->graph : work->conditional.bodies[index];
}
