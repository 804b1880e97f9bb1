/* SPDX-License-Identifier: Apache-2.0 */
/* Our own numbers stand in one table by handle, whatever it is a handle of: two that live are never equal. */
#include "cupti/graph_ids.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "cupti/reserved_memory.h"

enum { OWN_MOST = 1 << 18, OWN_PROBES = 256, OWN_FIRST = (int)0x80000000u };

struct own_id {
    _Atomic(void *) handle;
    _Atomic uint64_t id; /* 0: forgotten */
};

static _Atomic(struct own_id *) own_ids;
static _Atomic uint32_t last_own;
static _Atomic int source;
static _Atomic int layout_differs;
static const struct cupti_library *_Atomic cupti;
static const struct cuda_driver *_Atomic driver;

static bool driver_tells(const struct cuda_driver *d)
{
    return d && d->cuGraphNodeGetToolsId && d->cuGraphGetId && d->cuGraphExecGetId;
}

static bool map_own(void)
{
    if (atomic_load(&own_ids))
        return true;
    void *table = reserved_memory_map(OWN_MOST * sizeof(struct own_id));
    struct own_id *none = NULL;
    if (table && !atomic_compare_exchange_strong(&own_ids, &none, table))
        munmap(table, OWN_MOST * sizeof(struct own_id));
    return table != NULL;
}

enum graph_ids_source graph_ids_open(const struct cupti_library *library, const struct cuda_driver *mapped)
{
    enum graph_ids_source now = graph_ids_source();
    bool gone = now == GRAPH_IDS_CUPTI ? !library : now == GRAPH_IDS_DRIVER && !driver_tells(mapped);
    if (gone) {
        now = GRAPH_IDS_NONE; /* CUPTI is another's from now on */
        atomic_store(&source, GRAPH_IDS_NONE);
    }
    bool asks_cupti = library && library->cuptiGetGraphNodeId && library->cuptiGetGraphId;
    if (mapped)
        atomic_store(&driver, mapped);
    if (asks_cupti && (now == GRAPH_IDS_NONE || now == GRAPH_IDS_DRIVER)) {
        atomic_store(&cupti, library);
        atomic_store(&source, GRAPH_IDS_CUPTI);
    } else if (now == GRAPH_IDS_NONE && driver_tells(mapped)) {
        atomic_store(&source, GRAPH_IDS_DRIVER);
    } else if (now == GRAPH_IDS_NONE && map_own()) {
        atomic_store(&source, GRAPH_IDS_OWN);
    }
    return graph_ids_source();
}

enum graph_ids_source graph_ids_source(void)
{
    return (enum graph_ids_source)atomic_load_explicit(&source, memory_order_acquire);
}

bool graph_ids_layout_differs(void)
{
    return atomic_load_explicit(&layout_differs, memory_order_relaxed) != 0;
}

/* ---- our own ---- */

static struct own_id *own_line(void *handle, bool take)
{
    struct own_id *table = atomic_load_explicit(&own_ids, memory_order_acquire);
    uint64_t at = (uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15ull >> 32;
    for (unsigned i = 0; table && handle && i < OWN_PROBES; i++) {
        struct own_id *line = &table[(at + i) & (OWN_MOST - 1)];
        void *there = atomic_load_explicit(&line->handle, memory_order_acquire);
        if (there == handle)
            return line;
        if (!there && (!take || atomic_compare_exchange_strong(&line->handle, &there, handle) || there == handle))
            return take ? line : NULL;
    }
    return NULL;
}

static uint64_t own_find(void *handle)
{
    struct own_id *line = own_line(handle, false);
    return line ? atomic_load_explicit(&line->id, memory_order_acquire) : 0;
}

static bool own_set(void *handle, uint64_t id)
{
    struct own_id *line = own_line(handle, true);
    if (line)
        atomic_store_explicit(&line->id, id, memory_order_release);
    return line != NULL;
}

static uint32_t own_seen(void *handle)
{
    uint32_t id = (uint32_t)own_find(handle);
    if (id)
        return id;
    id = (uint32_t)OWN_FIRST | (atomic_fetch_add(&last_own, 1) + 1);
    return own_set(handle, id) ? id : 0;
}

void graph_ids_forget(void *handle)
{
    struct own_id *line = graph_ids_source() == GRAPH_IDS_OWN ? own_line(handle, false) : NULL;
    if (line)
        atomic_store_explicit(&line->id, 0, memory_order_release);
}

/* ---- whoever gives them out ---- */

uint32_t graph_ids_graph(void *graph)
{
    uint32_t id = 0;
    switch (graph ? graph_ids_source() : GRAPH_IDS_NONE) {
    case GRAPH_IDS_CUPTI:
        return atomic_load(&cupti)->cuptiGetGraphId(graph, &id) == 0 ? id : 0;
    case GRAPH_IDS_DRIVER:
        return atomic_load(&driver)->cuGraphGetId(graph, &id) == 0 ? id : 0;
    case GRAPH_IDS_OWN:
        return (uint32_t)own_find(graph);
    default:
        return 0;
    }
}

/* CUPTI tells executables from 12.3 on, the driver from 13.1 on. */
uint32_t graph_ids_executable(void *executable)
{
    enum graph_ids_source from = executable ? graph_ids_source() : GRAPH_IDS_NONE;
    const struct cupti_library *library = from == GRAPH_IDS_CUPTI ? atomic_load(&cupti) : NULL;
    const struct cuda_driver *mapped = atomic_load(&driver);
    uint32_t id = 0;
    if (from == GRAPH_IDS_OWN)
        return (uint32_t)own_find(executable);
    if (library && library->cuptiGetGraphExecId && library->cuptiGetGraphExecId(executable, &id) == 0)
        return id;
    bool asks = from != GRAPH_IDS_NONE && mapped && mapped->cuGraphExecGetId;
    return asks && mapped->cuGraphExecGetId(executable, &id) == 0 ? id : 0;
}

bool graph_ids_node(void *node, uint64_t *id)
{
    *id = 0;
    switch (node ? graph_ids_source() : GRAPH_IDS_NONE) {
    case GRAPH_IDS_CUPTI:
        return atomic_load(&cupti)->cuptiGetGraphNodeId(node, id) == 0 && *id;
    case GRAPH_IDS_DRIVER:
        return atomic_load(&driver)->cuGraphNodeGetToolsId(node, id) == 0 && *id;
    case GRAPH_IDS_OWN:
        return (*id = own_find(node)) != 0;
    default:
        return false;
    }
}

uint32_t graph_ids_graph_seen(void *graph)
{
    return graph && graph_ids_source() == GRAPH_IDS_OWN ? own_seen(graph) : graph_ids_graph(graph);
}

uint32_t graph_ids_executable_seen(void *executable)
{
    return executable && graph_ids_source() == GRAPH_IDS_OWN ? own_seen(executable) : graph_ids_executable(executable);
}

bool graph_ids_node_seen(void *node, uint32_t graph_id, uint32_t number, uint64_t *id)
{
    bool known = graph_ids_node(node, id);
    if (graph_ids_source() != GRAPH_IDS_OWN) {
        if (known && graph_id && (uint32_t)(*id >> 32) != graph_id)
            atomic_store_explicit(&layout_differs, 1, memory_order_relaxed);
        return known;
    }
    if (known && (uint32_t)(*id >> 32) == graph_id)
        return true;
    *id = (uint64_t)graph_id << 32 | number;
    return graph_id && own_set(node, *id);
}
