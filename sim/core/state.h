/* SPDX-License-Identifier: Apache-2.0 */
/* What the core's files share among themselves: one lock over all state, and the structs behind the handles.
 * Observers and host functions run outside the lock, large copies too. */
#ifndef SIM_CORE_STATE_H
#define SIM_CORE_STATE_H

#include "sim/core/image.h"
#include "sim/core/object.h"
#include "sim/core/simgpu.h"
#include "sim/core/work.h"

#include <pthread.h>

void core_lock(void);
void core_unlock(void);
void core_wait(pthread_cond_t *changed); /* lets the lock go meanwhile */

/* ---- nodes and sets of them ---- */

struct node_set {
    struct simgpu_node **items;
    unsigned count, capacity;
};
bool node_set_add(struct node_set *set, struct simgpu_node *node); /* once; false: out of memory */
bool node_set_copy(struct node_set *to, const struct node_set *from);
bool node_set_contains(const struct node_set *set, const struct simgpu_node *node);
void node_set_clear(struct node_set *set); /* and gives its memory back */

struct simgpu_node {
    struct object object;
    uint32_t local_id;
    struct simgpu_graph *graph;
    struct node_set dependencies;
    struct simgpu_node *mirror; /* scratch: while cloning, the copy; while walking, itself once reached */
    uint64_t start_ns, end_ns;  /* scratch of a graph's launch */
    struct simgpu_work work;
    bool disabled;
    uint64_t inlined_id; /* in an executable's child graphs and bodies: its id there; 0: not so */
    uint64_t source_id;  /* of an executable's node: the one that it was made or last updated from */
};

struct simgpu_graph {
    struct object object;
    uint32_t id, next_local_id;
    struct node_set nodes; /* in order of creation: a valid order of execution, as edges are checked to keep it one */
    struct simgpu_node *parent; /* the child-graph node that owns this graph */
    bool of_exec, inlined;      /* inlined: inside of a node of an executable's */
    struct user_reference *references;
};

struct simgpu_exec {
    struct object object;
    struct simgpu_graph *graph; /* the executable's own copy; its id is the executable's */
    struct simgpu_node **order; /* the copy's nodes so that dependencies come first */
    uint64_t flags;
};

/* ---- contexts ---- */

struct context {
    struct object object;
    uint32_t id;
    int device; /* ordinal */
    bool primary;
    bool told;      /* of a primary one: the observer was */
    unsigned peers; /* a bit for each device whose memory it may reach */
    struct simgpu_stream *legacy;
    uint64_t legacy_tail_ns, blocking_tail_ns, last_end_ns; /* of its own streams */
};
/* The thread's; without one the first device's primary one, which programs needn't have asked for. NULL: out of memory. */
struct context *context_current(void);
uint32_t context_primary_id(int device); /* 0: not made yet */

/* ---- streams, events, captures ---- */

struct capture {
    uint64_t id;
    int mode;
    bool invalidated, borrowed; /* borrowed: the graph is the program's own */
    struct simgpu_graph *graph;
    struct simgpu_stream *origin;
    pthread_t thread;
    struct capture *next;
};

struct simgpu_stream {
    struct object object;
    uint32_t id;
    unsigned flags;
    int priority;
    bool legacy, is_default; /* legacy: the context's default one; is_default: that, or a thread's */
    struct context *context;
    struct simgpu_stream *next_of_thread;
    uint64_t tail_ns, ticket;
    uint64_t tail_kernel_ns; /* start of the kernel that was given last; 0: what was given last is no kernel */
    struct capture *capture;
    struct node_set frontier; /* while capturing: what the next node depends on */
};

struct simgpu_event {
    struct object object;
    unsigned flags;
    int device; /* ordinal */
    bool recorded;
    uint64_t time_ns, ticket, capture_id;
    struct node_set nodes; /* recorded in a capture */
};

struct simgpu_kernel {
    struct object object;
    char *name;
    struct simgpu_module *module;
    struct simgpu_kernel *next;      /* of the same hash */
    const void *fat_binary;          /* not looked into yet; NULL: nothing to look into any more */
    int ptx_version, binary_version; /* 0: the device's */
    bool compiled;                   /* its parameters are told by a cubin or by its name, not by PTX text */
    int param_count;                 /* -1: unknown */
    struct image_param *params;
    int registers, max_threads;
    size_t static_shared_bytes, dynamic_shared_limit;
    int attribute[32]; /* as last set; the meaning is the front ends' */
    uint32_t attribute_set;
};

struct user_object;
struct user_reference {
    struct user_object *object;
    unsigned count;
    struct user_reference *next;
};

extern struct object_pool core_streams, core_events, core_graphs, core_nodes, core_execs, core_kernels;

/* ---- timeline ---- */

bool clock_is_real(void);
uint64_t timeline_now(void);             /* the later of the wall clock and what the host has waited for */
void timeline_reached(uint64_t time_ns); /* the host has waited for it */
uint64_t timeline_ready(const struct simgpu_stream *stream); /* when new work of the stream can start */
void timeline_occupy(struct simgpu_stream *stream, uint64_t end_ns);
void timeline_add(const struct simgpu_activity *activity);
void timeline_sleep_until(uint64_t time_ns); /* real clock only; lock not held */

/* ---- what is enqueued ---- */

struct work_place { /* where and when a piece of work ran */
    struct simgpu_stream *stream;
    const struct simgpu_node *node; /* of an executable graph, or NULL */
    uint32_t graph_id;
    uint32_t iteration; /* of the innermost WHILE around it, from 0 */
    uint64_t start_ns, end_ns;
};
/* Runs WORK (copies, fills and host functions really, kernels in time only): timeline, ledger, activity. Lock held. */
int work_run(const struct simgpu_work *work, const struct work_place *place);
/* A launch of the executable GRAPH_ID as a whole, for the observer. Lock held. */
void work_tell_graph(const struct simgpu_stream *stream, uint32_t graph_id, uint64_t start_ns, uint64_t end_ns);
uint64_t work_duration(const struct simgpu_work *work);
/* When it runs that could from READY_NS on; KERNEL_BEFORE_NS: of the kernel that it waits for the start, or when it was
 * asked for if that is later; 0: it waits for none. */
void work_span(const struct simgpu_work *work, uint64_t kernel_before_ns, uint64_t ready_ns, uint64_t *start_ns,
               uint64_t *end_ns);
int work_copy(struct simgpu_work *to, const struct simgpu_work *from); /* owns what it points to */
void work_release(struct simgpu_work *work);

/* Executes in order, on the core's own thread, what must come after a host function. Lock held. */
int executor_push(const struct simgpu_work *work, uint64_t *ticket);
bool executor_done(uint64_t ticket);
uint64_t executor_last(void);
void executor_wait(uint64_t ticket);               /* lock not held */
void work_perform(const struct simgpu_work *work); /* moves the bytes or calls the function */

/* ---- captures ---- */

int capture_add(struct simgpu_stream *stream, const struct simgpu_work *work, struct simgpu_node **added);
/* Work on a stream that isn't capturing: refused if it would tie a capture to the legacy stream (and SPOILs that). */
int capture_implicit(const struct simgpu_stream *stream, bool spoil);
struct capture *capture_by_id(uint64_t id);
int capture_wait(struct simgpu_stream *stream, struct simgpu_event *event, unsigned flags);
void event_mark(struct simgpu_event *event, uint64_t time_ns, uint64_t ticket);
void capture_stream_gone(struct simgpu_stream *stream);
void streams_of_context_gone(const struct context *context);

/* ---- graphs ---- */

struct simgpu_graph *graph_new(void);
void graph_free(struct simgpu_graph *graph);
struct simgpu_node *graph_add(struct simgpu_graph *graph, struct simgpu_node *const *dependencies, size_t count,
                              const struct simgpu_work *work);
void graph_free_node(struct simgpu_node *node);
struct simgpu_graph *graph_clone(const struct simgpu_graph *graph, bool of_exec);
/* An executable's graph: nodes keep their local ids, those inside of nodes are numbered after them. */
struct simgpu_graph *graph_instantiate(const struct simgpu_graph *graph);
bool graph_inlining_is_told(void);
struct simgpu_node **graph_order(const struct simgpu_graph *graph); /* NULL: a cycle, or out of memory */

/* What a node holds inside: none, a child graph, or a conditional's bodies. */
unsigned work_nested_count(const struct simgpu_work *work);
struct simgpu_graph *work_nested(const struct simgpu_work *work, unsigned index);
int conditional_check(struct simgpu_conditional *conditional);
int conditional_copy(struct simgpu_conditional *to, const struct simgpu_conditional *from); /* makes or clones bodies */
void conditional_release(struct simgpu_conditional *conditional);
void conditional_forget(uint32_t graph_id);

bool graph_retain(struct simgpu_graph *graph, struct user_object *object, unsigned count);
void graph_drop_references(struct simgpu_graph *graph);

/* Checks WORK before it is enqueued or made a node, and completes it. */
int work_check(struct simgpu_work *work);
int kernel_check(const struct simgpu_kernel_launch *launch);
/* Looks into the image of a registered kernel, once. Lock held. */
void kernel_resolve(struct simgpu_kernel *kernel);

/* Notices to the observer, gathered under the lock and told after it. */
void notice(enum simgpu_graph_event event, struct simgpu_graph *graph, struct simgpu_graph *original_graph,
            struct simgpu_node *node, struct simgpu_node *original_node, struct simgpu_exec *exec);

/* ---- ledger ---- */

void ledger_start(void);
void ledger_work(const struct simgpu_work *work, const struct work_place *place, uint32_t correlation);
void ledger_note(const char *type, const char *key, const char *text);
uint64_t ledger_current_call(void);

/* ---- api doors ---- */

uint32_t api_correlation(void); /* of the thread's outermost door, or a fresh one */
const struct simgpu_observer *api_observer(void);
void *api_enter_observer(void); /* NULL: already inside an observer's callback */
void api_leave_observer(void);
/* Tells of a context, stream or module; lock not held. The notice of an end comes while the thing still is. */
void api_resource(const struct simgpu_resource_notice *notice);

#endif
