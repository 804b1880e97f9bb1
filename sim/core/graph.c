/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as data: nodes, edges, copies. An executable's own graph keeps the local ids of the one it was made from. */
#include "sim/core/graph.h"
#include "sim/core/state.h"

#include <stdlib.h>
#include <string.h>

struct object_pool core_graphs = OBJECT_POOL(simgpu_graph);
struct object_pool core_nodes = OBJECT_POOL(simgpu_node);

static uint32_t last_id; /* graphs and executables count together and no number comes back */

/* ---- sets ---- */

bool node_set_contains(const struct node_set *set, const struct simgpu_node *node)
{
    for (unsigned i = 0; i < set->count; i++)
        if (set->items[i] == node)
            return true;
    return false;
}

static bool append(struct node_set *set, struct simgpu_node *node)
{
    if (set->count == set->capacity) {
        unsigned capacity = set->capacity ? 2 * set->capacity : 4;
        struct simgpu_node **grown = realloc(set->items, capacity * sizeof *grown);
        if (!grown)
            return false;
        set->items = grown;
        set->capacity = capacity;
    }
    set->items[set->count++] = node;
    return true;
}

bool node_set_add(struct node_set *set, struct simgpu_node *node)
{
    return node_set_contains(set, node) || append(set, node);
}

bool node_set_copy(struct node_set *to, const struct node_set *from)
{
    to->count = 0;
    for (unsigned i = 0; i < from->count; i++)
        if (!append(to, from->items[i]))
            return false;
    return true;
}

void node_set_clear(struct node_set *set)
{
    free(set->items);
    *set = (struct node_set){0};
}

static void node_set_remove(struct node_set *set, const struct simgpu_node *node)
{
    for (unsigned i = 0; i < set->count; i++)
        if (set->items[i] == node) {
            memmove(&set->items[i], &set->items[i + 1], (--set->count - i) * sizeof *set->items);
            return;
        }
}

/* ---- inside the lock ---- */

static bool instantiating; /* an executable's graph is being made: what is inside of nodes becomes part of it */

/* SIMGPU_GRAPH_INLINE=silent: nobody is told which ids an executable gives to what its child graphs and bodies held. */
bool graph_inlining_is_told(void)
{
    static int told = -1;
    if (told < 0) {
        const char *setting = getenv("SIMGPU_GRAPH_INLINE");
        told = !setting || strcmp(setting, "silent") != 0;
    }
    return told;
}

static void inline_nested(struct simgpu_graph *graph, const struct simgpu_work *work)
{
    for (unsigned i = 0; i < work_nested_count(work); i++) {
        struct simgpu_graph *nested = work_nested(work, i);
        nested->inlined = true;
        for (unsigned k = 0; k < nested->nodes.count; k++) {
            struct simgpu_node *node = nested->nodes.items[k];
            node->inlined_id = (uint64_t)graph->id << 32 | graph->next_local_id++;
            inline_nested(graph, &node->work);
        }
    }
}

struct simgpu_graph *graph_instantiate(const struct simgpu_graph *graph)
{
    instantiating = true;
    struct simgpu_graph *copy = graph_clone(graph, true);
    instantiating = false;
    for (unsigned i = 0; copy && i < copy->nodes.count; i++)
        inline_nested(copy, &copy->nodes.items[i]->work);
    return copy;
}

struct simgpu_graph *graph_new(void)
{
    struct simgpu_graph *graph = object_new(&core_graphs);
    if (!graph)
        return NULL;
    graph->id = ++last_id;
    notice(SIMGPU_GRAPH_CREATED, graph, NULL, NULL, NULL, NULL);
    return graph;
}

void graph_free_node(struct simgpu_node *node)
{
    if (!node->inlined_id || graph_inlining_is_told())
        notice(SIMGPU_NODE_DESTROYED, node->graph, NULL, node, NULL, NULL);
    work_release(&node->work);
    node_set_clear(&node->dependencies);
    object_free(&core_nodes, node);
}

void graph_free(struct simgpu_graph *graph)
{
    if (!graph->of_exec && !graph->inlined)
        notice(SIMGPU_GRAPH_DESTROYED, graph, NULL, NULL, NULL, NULL);
    for (unsigned i = 0; i < graph->nodes.count; i++)
        graph_free_node(graph->nodes.items[i]);
    node_set_clear(&graph->nodes);
    graph_drop_references(graph);
    conditional_forget(graph->id);
    object_free(&core_graphs, graph);
}

static struct simgpu_node *insert(struct simgpu_graph *graph, uint32_t local_id, const struct simgpu_work *work)
{
    struct simgpu_node *node = object_new(&core_nodes);
    if (!node)
        return NULL;
    node->local_id = local_id;
    node->graph = graph;
    if (work_copy(&node->work, work) || !append(&graph->nodes, node)) {
        work_release(&node->work);
        object_free(&core_nodes, node);
        return NULL;
    }
    for (unsigned i = 0; i < work_nested_count(&node->work); i++)
        work_nested(&node->work, i)->parent = node;
    return node;
}

struct simgpu_node *graph_add(struct simgpu_graph *graph, struct simgpu_node *const *dependencies, size_t count,
                              const struct simgpu_work *work)
{
    struct simgpu_node *node = insert(graph, graph->next_local_id, work);
    if (!node)
        return NULL;
    graph->next_local_id++;
    for (size_t i = 0; i < count; i++)
        if (!node_set_add(&node->dependencies, dependencies[i])) {
            graph->nodes.count--;
            graph_free_node(node);
            return NULL;
        }
    notice(SIMGPU_NODE_CREATED, graph, NULL, node, NULL, NULL);
    return node;
}

struct simgpu_graph *graph_clone(const struct simgpu_graph *graph, bool of_exec)
{
    struct simgpu_graph *copy = object_new(&core_graphs);
    if (!copy)
        return NULL;
    copy->id = ++last_id;
    copy->next_local_id = graph->next_local_id;
    copy->of_exec = of_exec;
    bool whole = true, quiet = instantiating && !of_exec && !graph_inlining_is_told();
    for (const struct user_reference *r = graph->references; r; r = r->next)
        whole &= graph_retain(copy, r->object, r->count);
    if (!of_exec && !quiet)
        notice(SIMGPU_GRAPH_CLONED, copy, (struct simgpu_graph *)graph, NULL, NULL, NULL);
    for (unsigned i = 0; i < graph->nodes.count && whole; i++) {
        struct simgpu_node *original = graph->nodes.items[i];
        struct simgpu_node *node = insert(copy, original->local_id, &original->work);
        whole = node != NULL;
        if (!node)
            break;
        original->mirror = node;
        node->disabled = original->disabled;
        node->source_id = instantiating ? simgpu_node_id(original) : 0;
        if (!quiet)
            notice(SIMGPU_NODE_CLONED, copy, (struct simgpu_graph *)graph, node, original, NULL);
    }
    for (unsigned i = 0; i < copy->nodes.count && whole; i++) {
        const struct node_set *before = &graph->nodes.items[i]->dependencies;
        for (unsigned k = 0; k < before->count && whole; k++)
            whole = append(&copy->nodes.items[i]->dependencies, before->items[k]->mirror);
    }
    for (unsigned i = 0; i < graph->nodes.count; i++)
        graph->nodes.items[i]->mirror = NULL;
    if (whole)
        return copy;
    graph_free(copy);
    return NULL;
}

struct simgpu_node **graph_order(const struct simgpu_graph *graph)
{
    unsigned count = graph->nodes.count, placed = 0;
    struct simgpu_node **order = malloc((count + 1) * sizeof *order);
    for (bool progress = order != NULL; progress && placed < count;) {
        progress = false;
        for (unsigned i = 0; i < count; i++) {
            struct simgpu_node *node = graph->nodes.items[i];
            bool ready = !node->mirror;
            for (unsigned k = 0; ready && k < node->dependencies.count; k++)
                ready = node->dependencies.items[k]->mirror != NULL;
            if (!ready)
                continue;
            node->mirror = node;
            order[placed++] = node;
            progress = true;
        }
    }
    for (unsigned i = 0; i < count; i++)
        graph->nodes.items[i]->mirror = NULL;
    if (order && placed == count) {
        order[count] = NULL;
        return order;
    }
    free(order);
    return NULL;
}

uint64_t simgpu_node_id(const struct simgpu_node *node)
{
    return node->inlined_id ? node->inlined_id : (uint64_t)node->graph->id << 32 | node->local_id;
}

uint32_t simgpu_graph_id(const struct simgpu_graph *graph)
{
    return graph->id;
}

/* ---- for the front ends ---- */

static bool graph_known(const struct simgpu_graph *graph)
{
    return object_valid(&core_graphs, graph) && !graph->of_exec;
}

static bool node_known(const struct simgpu_node *node)
{
    return object_valid(&core_nodes, node);
}

int simgpu_graph_create(struct simgpu_graph **graph)
{
    core_lock();
    *graph = graph_new();
    core_unlock();
    return *graph ? SIMGPU_SUCCESS : SIMGPU_OUT_OF_MEMORY;
}

int simgpu_graph_destroy(struct simgpu_graph *graph)
{
    core_lock();
    bool ours = graph_known(graph) && !graph->parent;
    if (ours)
        graph_free(graph);
    core_unlock();
    return ours ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

int simgpu_graph_copy(struct simgpu_graph *graph, struct simgpu_graph **copy)
{
    core_lock();
    int result = SIMGPU_INVALID_VALUE;
    if (graph_known(graph)) {
        *copy = graph_clone(graph, false);
        result = *copy ? SIMGPU_SUCCESS : SIMGPU_OUT_OF_MEMORY;
    }
    core_unlock();
    return result;
}

int simgpu_graph_add(struct simgpu_graph *graph, struct simgpu_node *const *dependencies, size_t count,
                     const struct simgpu_work *work, struct simgpu_node **node)
{
    struct simgpu_work checked = *work;
    core_lock();
    int result = graph_known(graph) ? work_check(&checked) : SIMGPU_INVALID_VALUE;
    for (size_t i = 0; i < count && !result; i++)
        if (!node_known(dependencies[i]) || dependencies[i]->graph != graph)
            result = SIMGPU_INVALID_VALUE;
    if (!result) {
        *node = graph_add(graph, dependencies, count, &checked);
        result = *node ? SIMGPU_SUCCESS : SIMGPU_OUT_OF_MEMORY;
    }
    core_unlock();
    return result;
}

/* One more of the list that is being given out, of which NODES takes as many as *ROOM. */
static void give(struct simgpu_node *node, struct simgpu_node **nodes, size_t room, size_t *given)
{
    if (nodes && *given < room)
        nodes[*given] = node;
    ++*given;
}

static void finish(struct simgpu_node **nodes, size_t given, size_t *count)
{
    if (!nodes || given < *count) {
        for (size_t i = given; nodes && i < *count; i++)
            nodes[i] = NULL;
        *count = given;
    }
}

int simgpu_graph_list(struct simgpu_graph *graph, enum simgpu_graph_list which, struct simgpu_node **nodes,
                      size_t *count)
{
    if (!count)
        return SIMGPU_INVALID_VALUE;
    core_lock();
    int result = graph_known(graph) ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    size_t given = 0;
    for (unsigned i = 0; !result && i < graph->nodes.count; i++)
        if (which == SIMGPU_GRAPH_NODES || !graph->nodes.items[i]->dependencies.count)
            give(graph->nodes.items[i], nodes, *count, &given);
    if (!result)
        finish(nodes, given, count);
    core_unlock();
    return result;
}

int simgpu_graph_edges(struct simgpu_graph *graph, struct simgpu_node **from, struct simgpu_node **to, size_t *count)
{
    if (!count || !from != !to)
        return SIMGPU_INVALID_VALUE;
    core_lock();
    int result = graph_known(graph) ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    size_t from_given = 0, to_given = 0;
    for (unsigned i = 0; !result && i < graph->nodes.count; i++) {
        struct simgpu_node *node = graph->nodes.items[i];
        for (unsigned k = 0; k < node->dependencies.count; k++) {
            give(node->dependencies.items[k], from, *count, &from_given);
            give(node, to, *count, &to_given);
        }
    }
    if (!result) {
        size_t room = *count;
        finish(from, from_given, &room);
        finish(to, to_given, count);
    }
    core_unlock();
    return result;
}

int simgpu_node_dependencies(struct simgpu_node *node, struct simgpu_node **nodes, size_t *count)
{
    if (!count)
        return SIMGPU_INVALID_VALUE;
    core_lock();
    int result = node_known(node) ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    size_t given = 0;
    for (unsigned i = 0; !result && i < node->dependencies.count; i++)
        give(node->dependencies.items[i], nodes, *count, &given);
    if (!result)
        finish(nodes, given, count);
    core_unlock();
    return result;
}

int simgpu_node_dependents(struct simgpu_node *node, struct simgpu_node **nodes, size_t *count)
{
    if (!count)
        return SIMGPU_INVALID_VALUE;
    core_lock();
    int result = node_known(node) ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    size_t given = 0;
    for (unsigned i = 0; !result && i < node->graph->nodes.count; i++)
        if (node_set_contains(&node->graph->nodes.items[i]->dependencies, node))
            give(node->graph->nodes.items[i], nodes, *count, &given);
    if (!result)
        finish(nodes, given, count);
    core_unlock();
    return result;
}

int simgpu_graph_connect(struct simgpu_graph *graph, struct simgpu_node *const *from, struct simgpu_node *const *to,
                         size_t count, bool remove)
{
    core_lock();
    int result = graph_known(graph) ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    for (size_t i = 0; i < count && !result; i++)
        if (!node_known(from[i]) || !node_known(to[i]) || from[i]->graph != graph || to[i]->graph != graph ||
            from[i] == to[i] || node_set_contains(&to[i]->dependencies, from[i]) != remove)
            result = SIMGPU_INVALID_VALUE;
    for (size_t i = 0; i < count && !result; i++) {
        if (remove)
            node_set_remove(&to[i]->dependencies, from[i]);
        else if (!node_set_add(&to[i]->dependencies, from[i]))
            result = SIMGPU_OUT_OF_MEMORY;
    }
    core_unlock();
    return result;
}

int simgpu_node_work(struct simgpu_node *node, struct simgpu_work *work)
{
    core_lock();
    bool known = node_known(node);
    if (known)
        *work = node->work;
    core_unlock();
    return known ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

int simgpu_node_change(struct simgpu_node *node, const struct simgpu_work *work)
{
    struct simgpu_work checked = *work, copy;
    core_lock();
    int result = node_known(node) && node->work.type == work->type ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
    if (!result) { /* a node stays where it was made */
        checked.device = node->work.device;
        checked.context = node->work.context;
        result = work_check(&checked);
    }
    if (!result)
        result = work_copy(&copy, &checked);
    if (!result) {
        work_release(&node->work);
        node->work = copy;
    }
    core_unlock();
    return result;
}

int simgpu_node_destroy(struct simgpu_node *node)
{
    core_lock();
    bool ours = node_known(node) && !node->graph->of_exec;
    if (ours) {
        struct simgpu_graph *graph = node->graph;
        for (unsigned i = 0; i < graph->nodes.count; i++)
            node_set_remove(&graph->nodes.items[i]->dependencies, node);
        node_set_remove(&graph->nodes, node);
        graph_free_node(node);
    }
    core_unlock();
    return ours ? SIMGPU_SUCCESS : SIMGPU_INVALID_VALUE;
}

int simgpu_node_find_in_copy(struct simgpu_node *original, struct simgpu_graph *copy, struct simgpu_node **found)
{
    core_lock();
    int result = SIMGPU_INVALID_VALUE;
    if (node_known(original) && graph_known(copy))
        for (unsigned i = 0; i < copy->nodes.count; i++)
            if (copy->nodes.items[i]->local_id == original->local_id) {
                *found = copy->nodes.items[i];
                result = SIMGPU_SUCCESS;
            }
    core_unlock();
    return result;
}
