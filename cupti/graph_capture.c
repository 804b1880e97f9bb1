/* SPDX-License-Identifier: Apache-2.0 */
/* A launch makes one node, so what its stream ends in is that; a library call makes any number: those are walked back to
 * what was there before it. All memory is fixed; what does not fit is counted and stays nobody's. */
#include "cupti/graph_capture.h"

#include <errno.h>
#include <string.h>

#include "cupti/cupti_types.h"
#include "cupti/graph_ids.h"
#include "cupti/graph_nodes.h"
#include "trace/trace_writer.h"

enum {
    CALLS_MOST = 64,         /* library calls under way in captures at one time */
    BEFORE_MOST = 128,       /* streams that a capture joined before one call */
    MADE_MOST = 256,         /* nodes of one call, all kinds */
    DEPENDENCIES_MOST = 128, /* of one node, fewer than that */
    IS_CAPTURING = 1,
    EDGE_BYTES = 8, /* CUgraphEdgeData */
};
/* What says that a capture goes on although its end was asked for: UNMATCHED, WRONG_THREAD. */
enum { CAPTURE_UNMATCHED = 903, CAPTURE_WRONG_THREAD = 908 };

struct frontier {
    uint64_t capture_id;
    void *graph;
    void *const *nodes; /* the driver's, until the stream's next call */
    size_t count;
};

/* What a call found when it began. */
struct call_before {
    _Atomic uint64_t call_id; /* 0: free */
    uint64_t capture_id;
    uint32_t count;
    void *nodes[BEFORE_MOST];
};

_Atomic int graph_capture_ongoing;
_Atomic int graph_capture_asking;
static _Atomic int wanted_now;
static const struct cuda_driver *_Atomic driver;
static struct call_before calls[CALLS_MOST];
static _Atomic uint64_t refused;

/* Looks again after the store, as what it goes by may have changed meanwhile. */
static void asking_renew(void)
{
    int asking;
    do {
        asking = atomic_load(&wanted_now) ? atomic_load(&graph_capture_ongoing) : 0;
        atomic_store(&graph_capture_asking, asking);
    } while (asking != (atomic_load(&wanted_now) ? atomic_load(&graph_capture_ongoing) : 0));
    kernel_timing_renew_attention();
}

void graph_capture_want(const struct cuda_driver *mapped, bool wanted)
{
    if (mapped)
        atomic_store(&driver, mapped);
    atomic_store(&wanted_now,
                 wanted && mapped && (mapped->cuStreamGetCaptureInfo_v3 || mapped->cuStreamGetCaptureInfo_v2));
    asking_renew();
}

void graph_capture_begun(void)
{
    atomic_fetch_add(&graph_capture_ongoing, 1);
    asking_renew();
}

void graph_capture_ended(int status)
{
    int ongoing = atomic_load(&graph_capture_ongoing);
    if (status == CAPTURE_UNMATCHED || status == CAPTURE_WRONG_THREAD)
        return;
    while (ongoing > 0 && !atomic_compare_exchange_weak(&graph_capture_ongoing, &ongoing, ongoing - 1))
        continue;
    asking_renew();
}

uint64_t graph_capture_refused(void)
{
    return atomic_load_explicit(&refused, memory_order_relaxed);
}

static void refuse(void)
{
    atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
}

/* ---- what the driver says ---- */

/* The legacy stream can't capture, and asking for it while others do is answered by an error. */
static bool can_capture(const void *stream)
{
    enum { LEGACY = 1 };
    return stream && (uintptr_t)stream != LEGACY;
}

/* Where the driver has edges with data the older form is refused if there are any. */
static bool ask_frontier(void *stream, struct frontier *f)
{
    const struct cuda_driver *d = atomic_load_explicit(&driver, memory_order_acquire);
    const void *edges = NULL;
    int status = 0, result = 1;
    memset(f, 0, sizeof *f);
    if (!d || !can_capture(stream))
        return false;
    if (d->cuStreamGetCaptureInfo_v3)
        result = d->cuStreamGetCaptureInfo_v3(stream, &status, &f->capture_id, &f->graph, &f->nodes, &edges, &f->count);
    else if (d->cuStreamGetCaptureInfo_v2)
        result = d->cuStreamGetCaptureInfo_v2(stream, &status, &f->capture_id, &f->graph, &f->nodes, &f->count);
    return result == 0 && status == IS_CAPTURING;
}

bool graph_capture_is_on(void *stream)
{
    const struct cuda_driver *d = atomic_load_explicit(&driver, memory_order_acquire);
    int status = 0;
    if (atomic_load_explicit(&graph_capture_ongoing, memory_order_acquire) <= 0 || !can_capture(stream) || !d ||
        !d->cuStreamIsCapturing)
        return false;
    return d->cuStreamIsCapturing(stream, &status) == 0 && status != 0;
}

static bool ask_dependencies(void *node, void **nodes, size_t *count)
{
    const struct cuda_driver *d = atomic_load_explicit(&driver, memory_order_acquire);
    unsigned char edges[DEPENDENCIES_MOST * EDGE_BYTES];
    *count = DEPENDENCIES_MOST;
    if (d->cuGraphNodeGetDependencies_v2)
        return d->cuGraphNodeGetDependencies_v2(node, nodes, edges, count) == 0 && *count < DEPENDENCIES_MOST;
    return d->cuGraphNodeGetDependencies && d->cuGraphNodeGetDependencies(node, nodes, count) == 0 &&
           *count < DEPENDENCIES_MOST; /* of more the driver gives as many, and says nothing */
}

static int type_of(void *node)
{
    const struct cuda_driver *d = atomic_load_explicit(&driver, memory_order_acquire);
    int type = -1;
    return d->cuGraphNodeGetType && d->cuGraphNodeGetType(node, &type) == 0 ? type : -1;
}

/* ---- before ---- */

static struct call_before *take_place(uint64_t call_id)
{
    for (unsigned i = 0; i < CALLS_MOST; i++) {
        uint64_t none = 0;
        struct call_before *call = &calls[(call_id + i) % CALLS_MOST];
        if (atomic_load_explicit(&call->call_id, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&call->call_id, &none, call_id))
            return call;
    }
    return NULL;
}

static struct call_before *place_of(uint64_t call_id)
{
    for (unsigned i = 0; i < CALLS_MOST; i++) {
        struct call_before *call = &calls[(call_id + i) % CALLS_MOST];
        if (atomic_load_explicit(&call->call_id, memory_order_relaxed) == call_id)
            return call;
    }
    return NULL;
}

static void give_back(struct call_before *call)
{
    if (call)
        atomic_store_explicit(&call->call_id, 0, memory_order_release);
}

void graph_capture_begin(struct kernel_timing_context *context, void *stream)
{
    struct frontier f;
    int errno_before = errno;
    context->at_end |= KERNEL_TIMING_CAPTURED;
    context->stream = stream;
    if (ask_frontier(stream, &f) && f.count <= BEFORE_MOST) {
        struct call_before *call = take_place(context->call_id);
        if (call) {
            call->capture_id = f.capture_id;
            call->count = (uint32_t)f.count;
            memcpy(call->nodes, f.nodes, f.count * sizeof *f.nodes);
        }
    }
    errno = errno_before;
}

const char *graph_capture_function_name(void *function)
{
    const struct cuda_driver *d = atomic_load_explicit(&driver, memory_order_acquire);
    const char *name = NULL;
    return function && d && d->cuFuncGetName && d->cuFuncGetName(&name, function) == 0 ? name : NULL;
}

void graph_capture_launched(struct kernel_timing_context *context, void *stream, const char *name)
{
    context->stream = stream;
    if (name)
        context->launched = name;
}

/* ---- after ---- */

struct noting {
    uint64_t call_id, name_id;
    uint32_t graph_id, chain;
};

static void note_node(struct noting *noting, void *node)
{
    uint64_t node_id;
    int type = type_of(node);
    struct graph_node_maker maker = {.call_id = noting->call_id, .name_id = noting->name_id, .chain = &noting->chain};
    if (!graph_ids_node_seen(node, noting->graph_id, graph_nodes_numbers(noting->graph_id), &node_id)) {
        refuse();
        return;
    }
    if (type == CUPTI_NODE_GRAPH || type == CUPTI_NODE_CONDITIONAL)
        graph_nodes_set_nested(noting->graph_id);
    if (type == CUPTI_NODE_KERNEL)
        graph_nodes_note(node_id, &maker);
    else
        graph_nodes_number(node_id);
}

static bool is_among(void *const *nodes, size_t count, const void *node)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i] == node)
            return true;
    return false;
}

struct walk {
    void *made[MADE_MOST];
    size_t count;
    bool whole;
};

static void walk_to(struct walk *walk, const struct call_before *before, void *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_among(before->nodes, before->count, nodes[i]) || is_among(walk->made, walk->count, nodes[i]))
            continue;
        if (walk->count == MADE_MOST) {
            walk->whole = false;
            return;
        }
        walk->made[walk->count++] = nodes[i];
    }
}

/* Everything between the two, or nothing: half of it could be another's. */
static void note_walked(struct noting *noting, const struct call_before *before, const struct frontier *f)
{
    struct walk walk = {.count = 0, .whole = true};
    walk_to(&walk, before, f->nodes, f->count);
    for (size_t i = 0; i < walk.count && walk.whole; i++) {
        void *dependencies[DEPENDENCIES_MOST];
        size_t count;
        if (ask_dependencies(walk.made[i], dependencies, &count))
            walk_to(&walk, before, dependencies, count);
        else
            walk.whole = false;
    }
    if (!walk.whole) {
        refuse();
        return;
    }
    for (size_t i = walk.count; i-- > 0;) /* in the order in which they run, so our own numbers follow it */
        note_node(noting, walk.made[i]);
}

static uint64_t name_of(const struct kernel_timing_context *context)
{
    struct trace_thread *thread = context->launched ? trace_thread_now() : NULL;
    return thread ? trace_name_intern(thread, context->launched) : 0;
}

static void note_made(struct kernel_timing_context *context, const struct call_before *before, enum trace_owner owner,
                      uint64_t owner_id)
{
    struct frontier f;
    if (!ask_frontier(context->stream, &f) || !f.count)
        return;
    struct noting noting = {.call_id = context->call_id, .graph_id = graph_ids_graph_seen(f.graph)};
    if (!noting.graph_id) {
        refuse();
    } else if (trace_owner_is_launch(owner)) {
        noting.name_id = name_of(context);
        if (f.count == 1)
            note_node(&noting, f.nodes[0]);
        else
            refuse();
    } else if (before && before->capture_id == f.capture_id) {
        note_walked(&noting, before, &f);
    } else {
        refuse();
    }
    graph_nodes_publish(noting.chain, context->call_id, owner, owner_id, 0);
}

void graph_capture_end(struct kernel_timing_context *context, enum trace_owner owner, uint64_t owner_id)
{
    int errno_before = errno;
    struct call_before *before = place_of(context->call_id);
    if (owner != TRACE_OWNER_NONE && graph_nodes_open())
        note_made(context, before, owner, owner_id);
    give_back(before);
    context->launched = NULL;
    errno = errno_before;
}
