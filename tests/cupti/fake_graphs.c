/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of libcuda.so.1's stand-in. */
#include "tests/cupti/fake_graphs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, STREAMS = 16, NODES = 4096, EDGES = 320, GRAPHS = 64, FUNCTIONS = 32 };

struct node {
    uint64_t id; /* first: handles are addresses of ids, as fake_cupti.h has them */
    int type;
    unsigned count;
    void *dependencies[EDGES];
};

struct graph {
    uint32_t id; /* likewise */
    uint32_t nodes;
};

struct stream {
    struct graph *graph; /* NULL: does not capture */
    uint64_t capture_id;
    void *frontier[EDGES];
    size_t count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node nodes[NODES];
static struct graph graphs[GRAPHS];
static struct stream streams[STREAMS];
static unsigned node_count, graph_count, stream_count, capturing, offences;
static uint64_t last_capture;
static unsigned layout = 1;
static struct {
    const char *name;
    unsigned calls;
} functions[FUNCTIONS];

FAKE_API int cuStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *id, void **graph, void *const **deps,
                                       const void **edges, size_t *count);
FAKE_API int cuGraphNodeGetDependencies_v2(void *node, void **deps, void *edges, size_t *count);
FAKE_API int cuGraphNodeGetType(void *node, int *type);
FAKE_API int cuGraphGetId(void *graph, uint32_t *id);
FAKE_API int cuGraphNodeGetToolsId(void *node, uint64_t *id);
FAKE_API int cuGraphChildGraphNodeGetGraph(void *node, void **graph);

/* What may be asked while a stream captures. */
static bool is_harmless(const char *name)
{
    static const char *const names[] = {
        "cuStreamGetCaptureInfo_v3", "cuGraphNodeGetDependencies_v2", "cuGraphNodeGetType", "cuGraphGetId",
        "cuGraphNodeGetToolsId",     "cuStreamIsCapturing",           "cuptiGetGraphId",    "cuptiGetGraphNodeId"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

FAKE_API void fake_graphs_note(const char *name)
{
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    if (capturing && !is_harmless(name))
        offences++;
    while (i < FUNCTIONS - 1 && functions[i].name && strcmp(functions[i].name, name) != 0)
        i++;
    functions[i].name = name;
    functions[i].calls += capturing != 0;
    pthread_mutex_unlock(&lock);
}

FAKE_API unsigned fake_graphs_calls(const char *name)
{
    for (unsigned i = 0; i < FUNCTIONS && functions[i].name; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].calls;
    return 0;
}

FAKE_API unsigned fake_graphs_offences(void)
{
    return offences;
}

FAKE_API void fake_graphs_set_layout(unsigned shift)
{
    layout = shift;
}

/* ---- the program ---- */

FAKE_API void *fake_graphs_stream(void)
{
    return &streams[stream_count++];
}

static struct graph *graph_new(void)
{
    struct graph *graph = &graphs[graph_count++];
    if (graph_count > GRAPHS)
        abort();
    graph->id = 100 + graph_count;
    return graph;
}

FAKE_API void fake_graphs_begin(void *handle)
{
    struct stream *stream = handle;
    stream->graph = graph_new();
    stream->capture_id = ++last_capture;
    stream->count = 0;
    fake_cuda_set_capturing(stream, 1);
    capturing++;
}

FAKE_API void *fake_graphs_end(void *handle)
{
    struct stream *stream = handle;
    struct graph *graph = stream->graph;
    for (unsigned i = 0; i < STREAMS; i++)
        if (streams[i].graph == graph)
            streams[i].graph = NULL;
    fake_cuda_set_capturing(stream, 0);
    capturing--;
    return graph;
}

FAKE_API void *fake_graphs_add(void *handle, int type)
{
    struct stream *stream = handle;
    struct node *node = &nodes[node_count++];
    if (node_count > NODES)
        abort();
    node->type = type;
    node->id = (uint64_t)stream->graph->id * layout << 32 | stream->graph->nodes++;
    node->count = (unsigned)stream->count;
    memcpy(node->dependencies, stream->frontier, stream->count * sizeof(void *));
    stream->frontier[0] = node;
    stream->count = 1;
    return node;
}

FAKE_API void fake_graphs_fork(void *to_handle, void *from_handle)
{
    struct stream *to = to_handle, *from = from_handle;
    if (!to->graph)
        to->count = 0;
    to->graph = from->graph;
    to->capture_id = from->capture_id;
    for (size_t i = 0; i < from->count; i++)
        to->frontier[to->count++] = from->frontier[i];
}

FAKE_API void *fake_graphs_graph(void *stream)
{
    return ((struct stream *)stream)->graph;
}

FAKE_API uint32_t fake_graphs_id(void *graph)
{
    return ((struct graph *)graph)->id;
}

FAKE_API uint64_t fake_graphs_node_id(void *node)
{
    return ((struct node *)node)->id;
}

FAKE_API void *fake_graphs_executable(void *graph)
{
    struct graph *executable = graph_new();
    executable->nodes = ((struct graph *)graph)->nodes;
    return executable;
}

/* ---- the driver ---- */

int cuStreamGetCaptureInfo_v3(void *handle, int *status, uint64_t *id, void **graph, void *const **deps,
                              const void **edges, size_t *count)
{
    struct stream *stream = handle;
    fake_graphs_note(__func__);
    if (stream < streams || stream >= streams + STREAMS)
        return INVALID_VALUE;
    *status = stream->graph != NULL;
    if (!stream->graph)
        return SUCCESS;
    *id = stream->capture_id;
    *graph = stream->graph;
    *deps = stream->frontier;
    *edges = NULL;
    *count = stream->count;
    return SUCCESS;
}

int cuGraphNodeGetDependencies_v2(void *handle, void **deps, void *edges, size_t *count)
{
    struct node *node = handle;
    (void)edges;
    fake_graphs_note(__func__);
    size_t given = node->count < *count ? node->count : *count;
    memcpy(deps, node->dependencies, given * sizeof *deps);
    *count = given; /* as the driver has it: where there was less room, what there was */
    return SUCCESS;
}

int cuGraphNodeGetType(void *node, int *type)
{
    fake_graphs_note(__func__);
    *type = ((struct node *)node)->type;
    return SUCCESS;
}

int cuGraphGetId(void *graph, uint32_t *id)
{
    fake_graphs_note(__func__);
    *id = ((struct graph *)graph)->id;
    return SUCCESS;
}

int cuGraphNodeGetToolsId(void *node, uint64_t *id)
{
    fake_graphs_note(__func__);
    *id = ((struct node *)node)->id;
    return SUCCESS;
}

int cuGraphChildGraphNodeGetGraph(void *node, void **graph)
{
    (void)node, (void)graph;
    fake_graphs_note(__func__);
    return INVALID_VALUE;
}
