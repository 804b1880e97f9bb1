/* SPDX-License-Identifier: Apache-2.0 */
/* User objects: counted references, held by programs and by graphs; the last one gone runs the program's destructor
 * on the core's thread, as the vendor's documentation says of its own. */
#include "sim/core/graph.h"
#include "sim/core/state.h"

#include <stdlib.h>

struct user_object {
    struct object object;
    void *data;
    void (*destroy)(void *data);
    int64_t count;
};

static struct object_pool objects = OBJECT_POOL(user_object);

static void change(struct user_object *object, int64_t by)
{
    object->count += by;
    if (object->count > 0)
        return;
    struct simgpu_work work = {.type = SIMGPU_WORK_HOST, .host = {.function = object->destroy, .data = object->data}};
    uint64_t ticket;
    executor_push(&work, &ticket);
    object_free(&objects, object);
}

int simgpu_user_object_create(void *data, void (*destroy)(void *data), unsigned count, struct user_object **created)
{
    if (!destroy || !count || count > INT32_MAX)
        return SIMGPU_INVALID_VALUE;
    core_lock();
    struct user_object *object = object_new(&objects);
    if (object) {
        object->data = data;
        object->destroy = destroy;
        object->count = count;
    }
    core_unlock();
    *created = object;
    return object ? SIMGPU_SUCCESS : SIMGPU_OUT_OF_MEMORY;
}

int simgpu_user_object_count(struct user_object *object, int by)
{
    core_lock();
    bool known = object_valid(&objects, object) && object->count + by >= 0;
    if (known)
        change(object, by);
    core_unlock();
    return known ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

static struct user_reference **reference_of(struct simgpu_graph *graph, const struct user_object *object)
{
    struct user_reference **link = &graph->references;
    while (*link && (*link)->object != object)
        link = &(*link)->next;
    return link;
}

static bool hold(struct simgpu_graph *graph, struct user_object *object, unsigned count)
{
    struct user_reference **link = reference_of(graph, object);
    if (!*link)
        *link = calloc(1, sizeof **link);
    if (!*link)
        return false;
    (*link)->object = object;
    (*link)->count += count;
    return true;
}

bool graph_retain(struct simgpu_graph *graph, struct user_object *object, unsigned count)
{
    if (!hold(graph, object, count))
        return false;
    object->count += count;
    return true;
}

void graph_drop_references(struct simgpu_graph *graph)
{
    while (graph->references) {
        struct user_reference *reference = graph->references;
        graph->references = reference->next;
        change(reference->object, -(int64_t)reference->count);
        free(reference);
    }
}

int simgpu_graph_hold(struct simgpu_graph *graph, struct user_object *object, unsigned count, bool move)
{
    core_lock();
    int result = SIMGPU_INVALID_VALUE;
    if (object_valid(&core_graphs, graph) && object_valid(&objects, object) && count)
        result = (move ? hold : graph_retain)(graph, object, count) ? SIMGPU_SUCCESS : SIMGPU_OUT_OF_MEMORY;
    core_unlock();
    return result;
}

int simgpu_graph_let_go(struct simgpu_graph *graph, struct user_object *object, unsigned count)
{
    core_lock();
    struct user_reference **link =
        object_valid(&core_graphs, graph) && object_valid(&objects, object) ? reference_of(graph, object) : NULL;
    bool known = link && *link && (*link)->count >= count;
    if (known) {
        struct user_reference *reference = *link;
        reference->count -= count;
        if (!reference->count) {
            *link = reference->next;
            free(reference);
        }
        change(object, -(int64_t)count);
    }
    core_unlock();
    return known ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}
