/* SPDX-License-Identifier: Apache-2.0 */
/* Captures that CUPTI does not tell of, one scenario a process: which nodes are found to be whose by what streams say, what
 * becomes of them, and that nothing else is called meanwhile (I09). The driver's stand-in counts each call. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/cuda_driver.h"
#include "cupti/graph_calls.h"
#include "cupti/graph_capture.h"
#include "cupti/graph_launches.h"
#include "tests/cupti/fake_graphs.h"
#include "tests/cupti/host.h"
#include "trace/trace_writer.h"

enum { UPDATE = 696, SET_PARAMS = 692, ENTER = 0, EXIT = 1, DRIVER = 1, CREATED = 13, CHAIN_MOST = 300 };

static void *stream;

static void begin_capture(void)
{
    if (!stream)
        stream = fake_graphs_stream();
    fake_graphs_begin(stream);
    graph_capture_begun();
}

static void *end_capture(void)
{
    void *graph = fake_graphs_end(stream);
    graph_capture_ended(0);
    CHECK(fake_graphs_offences() == 0);
    return graph;
}

static void begin(void)
{
    start_with((struct kernel_timing_settings){.graphs = KERNEL_TIMING_GRAPHS_CAPTURE});
    CHECK(!fake_cupti_callback_enabled(3, CREATED));
    begin_capture();
}

/* A library call that makes COUNT kernel nodes in a row, with a fill between the first two. */
static uint64_t call(uint64_t owner_id, unsigned count)
{
    uint64_t call_id = next_call_id();
    kernel_timing_enter(call_context(), stream, call_id);
    for (unsigned i = 0; i < count; i++) {
        if (i == 1)
            fake_graphs_add(stream, FAKE_NODE_MEMSET);
        fake_graphs_add(stream, FAKE_NODE_KERNEL);
    }
    kernel_timing_call_end(call_context(), TRACE_OWNER_CALL, owner_id);
    return call_id;
}

static uint64_t launch_named(uint64_t owner_id, const char *name)
{
    uint64_t call_id = next_call_id();
    kernel_timing_enter(call_context(), NULL, call_id); /* a config: its stream is known after it */
    fake_graphs_add(stream, FAKE_NODE_KERNEL);
    graph_capture_launched(call_context(), stream, name);
    kernel_timing_call_end(call_context(), TRACE_OWNER_LAUNCH_VALUES, owner_id);
    return call_id;
}

static void *instantiated(void *graph)
{
    void *executable = fake_graphs_executable(graph);
    graph_calls_instantiated(call_context(), graph, executable);
    return executable;
}

static uint64_t node_of(void *executable, uint32_t number)
{
    return (uint64_t)fake_graphs_id(executable) << 32 | number;
}

static void check_owned(const struct trace_content *c, uint32_t correlation, enum trace_owner owner, uint64_t call_id,
                        uint64_t owner_id)
{
    const struct trace_kernel *k = kernel_of(c, correlation);
    CHECK(k->owner == owner && k->owner_id == owner_id && trace_call_without_copy(k->call_id) == call_id &&
          k->join == TRACE_JOIN_GRAPH_NODE);
}

static void check_nobody(const struct trace_content *c, uint32_t correlation)
{
    const struct trace_kernel *k = kernel_of(c, correlation);
    CHECK(k->owner == TRACE_OWNER_NONE && k->call_id == 0);
}

/* ---- scenarios ---- */

static void walked(void)
{
    struct trace_content c;
    begin();
    uint64_t first = call(501, 3);              /* nodes 0, 1 a fill, 2, 3 */
    fake_graphs_add(stream, FAKE_NODE_KERNEL);  /* 4: of a library that nobody stands in front of */
    uint64_t second = call(502, 1);             /* 5 */
    uint64_t third = launch_named(503, "mine"); /* 6 */
    uint64_t failed = next_call_id();
    kernel_timing_enter(call_context(), stream, failed);
    fake_graphs_add(stream, FAKE_NODE_KERNEL); /* 7 */
    kernel_timing_call_end(call_context(), TRACE_OWNER_NONE, 0);
    call(504, 0);
    void *executable = instantiated(end_capture()), *other = NULL;
    static const enum trace_owner owners[] = {TRACE_OWNER_CALL,          TRACE_OWNER_NONE, TRACE_OWNER_CALL,
                                              TRACE_OWNER_CALL,          TRACE_OWNER_NONE, TRACE_OWNER_CALL,
                                              TRACE_OWNER_LAUNCH_VALUES, TRACE_OWNER_NONE};
    const uint64_t calls[] = {first, 0, first, first, 0, second, third, 0};
    for (uint32_t i = 0; i < 8; i++)
        run_node(60 + i, node_of(executable, i), "mine");
    run_node(80, node_of(executable, 6), "another"); /* parameters were set, unseen */
    begin_capture();
    call(505, 1);
    other = instantiated(end_capture());
    CHECK(fake_graphs_id(other) != fake_graphs_id(executable));
    run_node(81, node_of(other, 0), "gemm");
    finish_and_read(&c);
    for (uint32_t i = 0; i < 8; i++)
        if (owners[i] == TRACE_OWNER_NONE)
            check_nobody(&c, 60 + i);
        else
            check_owned(&c, 60 + i, owners[i], calls[i], calls[i] == first ? 501 : 501 + i - 4);
    check_nobody(&c, 80);
    CHECK(kernel_of(&c, 81)->owner_id == 505 && c.counters.kernels_unjoined == 4);
    CHECK(fake_graphs_calls("cuStreamGetCaptureInfo_v3") > 0 && fake_graphs_calls("cuGraphNodeGetDependencies_v2") > 0);
    CHECK(graph_capture_refused() == 0);
    CHECK(strstr(content_note(&c, TRACE_NOTE_GRAPHS)->text, "what streams capture, numbered by CUPTI"));
}

/* The call forks to a second stream and joins it again, as libraries do inside. */
static void forked(void)
{
    struct trace_content c;
    begin();
    void *side = fake_graphs_stream();
    fake_graphs_add(stream, FAKE_NODE_KERNEL); /* 0: unseen */
    uint64_t call_id = next_call_id();
    kernel_timing_enter(call_context(), stream, call_id);
    fake_graphs_fork(side, stream);
    for (unsigned i = 0; i < 3; i++) {
        fake_graphs_add(side, FAKE_NODE_KERNEL);
        fake_graphs_add(stream, FAKE_NODE_KERNEL);
    }
    fake_graphs_fork(stream, side);
    kernel_timing_call_end(call_context(), TRACE_OWNER_CALL, 501);
    call(502, 1); /* 7: after both */
    void *executable = instantiated(end_capture());
    for (uint32_t i = 0; i < 8; i++)
        run_node(60 + i, node_of(executable, i), "gemm");
    finish_and_read(&c);
    check_nobody(&c, 60);
    for (uint32_t i = 1; i < 7; i++)
        check_owned(&c, 60 + i, TRACE_OWNER_CALL, call_id, 501);
    CHECK(kernel_of(&c, 67)->owner_id == 502);
}

/* More than there is room for: nothing of it is anybody's, and it is counted. */
static void too_many(void)
{
    struct trace_content c;
    begin();
    call(501, CHAIN_MOST);
    uint64_t after = call(502, 2);
    uint64_t call_id = next_call_id();
    kernel_timing_enter(call_context(), NULL, call_id); /* the stream is not known in time */
    fake_graphs_add(stream, FAKE_NODE_KERNEL);
    kernel_timing_call_end(call_context(), TRACE_OWNER_CALL, 503);
    void *executable = instantiated(end_capture());
    run_node(60, node_of(executable, 0), "gemm");
    run_node(61, node_of(executable, CHAIN_MOST), "gemm");
    run_node(62, node_of(executable, CHAIN_MOST + 1), "gemm");
    run_node(63, node_of(executable, CHAIN_MOST + 4), "gemm");
    finish_and_read(&c);
    check_nobody(&c, 60);
    check_nobody(&c, 61);
    check_owned(&c, 62, TRACE_OWNER_CALL, after, 502);
    check_nobody(&c, 63);
    CHECK(graph_capture_refused() == 1 && content_note(&c, TRACE_NOTE_GRAPH_NODES));
}

static void side(uint32_t cbid, uint32_t correlation, void *executable, void *graph)
{
    const void *params[2] = {executable, graph};
    fake_cupti_side(DRIVER, cbid, ENTER, correlation, params, 0);
    fake_cupti_side(DRIVER, cbid, EXIT, correlation, params, 0);
}

/* Late records of what was before an update are told by the correlation ids of CUPTI's callbacks about calls. */
static void changed(void)
{
    struct trace_content c;
    begin();
    uint64_t first = call(501, 1);
    uint64_t launched = launch_named(502, "mine");
    void *graph = end_capture(), *executable = instantiated(graph);
    begin_capture();
    uint64_t second = call(503, 1);
    launch_named(502, "mine");
    void *newer = end_capture();
    run_node(71, node_of(executable, 0), "gemm");
    side(UPDATE, 70, executable, newer);
    run_node(69, node_of(executable, 0), "gemm");
    side(SET_PARAMS, 80, executable, NULL);
    struct launch_owner owner = {.call_id = 900, .owner_id = 901, .owner = TRACE_OWNER_LAUNCH};
    begin_capture();
    void *same_number = NULL;
    fake_graphs_add(stream, FAKE_NODE_KERNEL);
    same_number = fake_graphs_add(stream, FAKE_NODE_KERNEL);
    end_capture();
    graph_calls_kernel_node(call_context(), NULL, same_number, executable, &owner, 0);
    run_node(81, node_of(executable, 1), "theirs");
    run_node(79, node_of(executable, 1), "mine");
    void *clone = fake_graphs_executable(graph);
    graph_calls_cloned(graph, clone);
    void *third = instantiated(clone);
    run_node(82, node_of(third, 0), "gemm");
    finish_and_read(&c);
    check_owned(&c, 69, TRACE_OWNER_CALL, first, 501);
    check_owned(&c, 71, TRACE_OWNER_CALL, second, 503);
    check_owned(&c, 79, TRACE_OWNER_LAUNCH_VALUES, launched, 502);
    check_owned(&c, 81, TRACE_OWNER_LAUNCH, 900, 901);
    check_owned(&c, 82, TRACE_OWNER_CALL, first, 501);
    CHECK(c.counters.kernels_unjoined == 0 && !content_note(&c, TRACE_NOTE_GRAPH_NODES));
}

/* Ids whose upper half is not the graph's own: what goes by numbers is not guessed. */
static void layout_differs(void)
{
    struct trace_content c;
    fake_graphs_set_layout(3);
    begin();
    call(501, 1);
    void *executable = instantiated(end_capture());
    run_node(60, node_of(executable, 0), "gemm");
    finish_and_read(&c);
    check_nobody(&c, 60);
}

/* ---- without times ---- */

/* Threads have blocks of their own. */
static int by_ticks(const void *one, const void *other)
{
    uint64_t a = ((const struct trace_graph_node *)one)->ticks, b = ((const struct trace_graph_node *)other)->ticks;
    return a < b ? -1 : a > b;
}

static int by_time(const void *one, const void *other)
{
    const struct trace_graph_launches *a = one, *b = other;
    return a->launches != b->launches ? (a->launches < b->launches ? -1 : 1) : (int)a->ended - (int)b->ended;
}

static void finish_in_order(struct trace_content *c)
{
    finish_and_read(c);
    qsort(c->graph_nodes, c->graph_node_count, sizeof c->graph_nodes[0], by_ticks);
    qsort(c->graph_launches, c->graph_launches_count, sizeof c->graph_launches[0], by_time);
}

static const struct trace_graph_node *graph_node(const struct trace_content *c, uint64_t node_id, unsigned which)
{
    for (size_t i = 0; i < c->graph_node_count; i++)
        if (c->graph_nodes[i].graph_node_id == node_id && which-- == 0)
            return &c->graph_nodes[i];
    return NULL;
}

static uint64_t launches_of(const struct trace_content *c, uint32_t graph_id, bool *ended)
{
    uint64_t launches = 0;
    *ended = false;
    for (size_t i = 0; i < c->graph_launches_count; i++)
        if (c->graph_launches[i].graph_id == graph_id) {
            CHECK(c->graph_launches[i].launches >= launches && !*ended);
            launches = c->graph_launches[i].launches;
            *ended = c->graph_launches[i].ended;
        }
    return launches;
}

static void launched(void *executable, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        graph_calls_launch_begins(call_context());
        graph_calls_launched(call_context(), executable, stream, true);
    }
}

static void counted(bool own_numbers)
{
    struct trace_content c;
    bool ended;
    start_with((struct kernel_timing_settings){.off = true});
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF);
    if (own_numbers) {
        static struct cuda_driver older;
        older = *cuda_driver_bound();
        older.cuGraphNodeGetToolsId = NULL;
        older.cuGraphGetId = NULL;
        graph_calls_open(NULL, &older, false, true);
    }
    begin_capture();
    uint64_t first = call(501, 2);
    uint64_t named = launch_named(502, "mine");
    void *inner = fake_graphs_executable(fake_graphs_graph(stream));
    graph_calls_launched(call_context(), inner, stream, true); /* into the capture: none */
    void *graph = end_capture(), *executable = instantiated(graph), *unused = instantiated(graph);
    uint32_t id = graph_launches_id(executable), unused_id = graph_launches_id(unused);
    CHECK(id && unused_id && id != unused_id && (id >> 31) == own_numbers && !graph_launches_id(inner));
    launched(executable, 5);
    graph_calls_launched(call_context(), executable, stream, false); /* it failed */
    begin_capture();
    uint64_t second = call(503, 2);
    launch_named(502, "mine");
    void *newer = end_capture();
    graph_calls_updating(executable);
    graph_calls_updated(executable, newer, 0);
    launched(executable, 7);
    graph_calls_executable_goes(executable);
    finish_in_order(&c);
    const struct trace_graph_node *node = graph_node(&c, (uint64_t)id << 32, 0);
    CHECK(node && node->call_id == first && node->owner_id == 501 && node->owner == TRACE_OWNER_CALL &&
          !node->launches);
    node = graph_node(&c, (uint64_t)id << 32, 1);
    CHECK(node && node->call_id == second && node->owner_id == 503 && node->launches == 5);
    node = graph_node(&c, (uint64_t)id << 32 | 3, 0);
    CHECK(node && node->call_id == named && node->owner == TRACE_OWNER_LAUNCH_VALUES && node->owner_id == 502 &&
          node->name_id);
    CHECK(!graph_node(&c, (uint64_t)id << 32 | 3, 1));       /* the same shape again: nothing changed */
    CHECK(!graph_node(&c, (uint64_t)id << 32 | 1, 0));       /* a fill */
    CHECK(graph_node(&c, (uint64_t)unused_id << 32 | 3, 0)); /* never launched, but known */
    CHECK(launches_of(&c, id, &ended) == 12 && ended);
    CHECK(launches_of(&c, unused_id, &ended) == 0 && !ended);
    CHECK(strstr(content_note(&c, TRACE_NOTE_GRAPHS)->text, own_numbers ? "rooftap's own" : "numbered by the driver"));
}

static void counted_by_driver(void)
{
    counted(false);
}

static void counted_by_own_numbers(void)
{
    counted(true);
}

/* Launches that only CUPTI's callback sees, where nobody stands in front of the program's; and both. */
static void counted_by_callback(void)
{
    struct trace_content c;
    bool ended;
    begin();
    call(501, 1);
    void *executable = instantiated(end_capture());
    const void *params[2] = {executable, stream};
    for (unsigned i = 0; i < 3; i++) {
        fake_cupti_side(DRIVER, GRAPH_LAUNCH, ENTER, 60 + i, params, 0);
        fake_cupti_side(DRIVER, GRAPH_LAUNCH, EXIT, 60 + i, params, i == 2 ? 1 : 0); /* the last one fails */
    }
    graph_calls_launch_begins(call_context());
    fake_cupti_side(DRIVER, GRAPH_LAUNCH, ENTER, 70, params, 0);
    fake_cupti_side(DRIVER, GRAPH_LAUNCH, EXIT, 70, params, 0);
    graph_calls_launched(call_context(), executable, stream, true);
    finish_in_order(&c);
    CHECK(launches_of(&c, fake_graphs_id(executable), &ended) == 3);
}

/* CUPTI goes to another client in the middle: what is captured from then on is followed all the same, by the driver. */
static void handed_over(void)
{
    struct trace_content c;
    bool ended;
    start_on();
    CHECK(fake_cupti_callback_enabled(3, CREATED) && !graph_capture_asks());
    kernel_timing_give_up(false, 5 * second_ns);
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF);
    const unsigned asked = fake_cupti_calls("cuptiGetGraphNodeId");
    begin_capture();
    CHECK(graph_capture_asks());
    uint64_t first = call(501, 1);
    void *executable = instantiated(end_capture());
    CHECK(!graph_capture_asks());
    launched(executable, 4);
    finish_in_order(&c);
    const struct trace_graph_node *node = graph_node(&c, node_of(executable, 0), 0);
    CHECK(node && node->call_id == first && node->owner_id == 501);
    CHECK(launches_of(&c, fake_graphs_id(executable), &ended) == 4);
    CHECK(fake_cupti_calls("cuptiGetGraphNodeId") == asked);
    CHECK(strstr(content_note(&c, TRACE_NOTE_GRAPHS)->text, "what streams capture, numbered by the driver"));
}

enum { RACERS = 4, LIVES = 40 };

static uint64_t launches_in(unsigned life)
{
    return 50 + life % 7;
}

/* Handles come back at once, while another thread writes records of what lives. */
static void *make_and_end(void *argument)
{
    static char handles[RACERS][3];
    const uint32_t racer = (uint32_t)(uintptr_t)argument;
    for (unsigned i = 0; i < LIVES; i++) {
        void *handle = &handles[racer][i % 3];
        graph_launches_made(handle, 1000 * (racer + 1) + i);
        for (uint64_t k = 0; k < launches_in(i); k++)
            graph_launches_count(handle);
        graph_launches_ended(trace_thread_get(), handle);
    }
    return NULL;
}

static void counted_in_races(void)
{
    struct trace_content c;
    pthread_t racers[RACERS];
    bool ended;
    start_with((struct kernel_timing_settings){.off = true});
    for (uintptr_t i = 0; i < RACERS; i++)
        CHECK(pthread_create(&racers[i], NULL, make_and_end, (void *)i) == 0);
    for (unsigned i = 0; i < 200; i++)
        graph_launches_write(trace_thread_get(), true);
    for (unsigned i = 0; i < RACERS; i++)
        CHECK(pthread_join(racers[i], NULL) == 0);
    finish_in_order(&c);
    for (uint32_t racer = 0; racer < RACERS; racer++)
        for (unsigned i = 0; i < LIVES; i++)
            CHECK(launches_of(&c, 1000 * (racer + 1) + i, &ended) == launches_in(i) && ended);
    CHECK(graph_launches_refused() == 0);
}

static void whole_graphs(void)
{
    struct trace_content c;
    start_on();
    fake_cupti_graph_run(61, 9, some_time_ns, some_time_ns + 700);
    fake_cupti_graph_run(62, 9, 0, some_time_ns);
    fake_cupti_graph_run(63, 9, some_time_ns + 1, some_time_ns);
    finish_and_read(&c);
    const struct trace_graph_run *run = &c.graph_runs[0];
    CHECK(c.graph_run_count == 1 && c.counters.kernels_invalid == 2 && c.counters.records_unknown == 0);
    CHECK(run->start_ns == some_time_ns && run->end_ns == some_time_ns + 700 && run->correlation_id == 61);
    CHECK(run->graph_id == 9 && run->device == 3 && run->context == 4 && run->stream == 7);
}

static const struct scenario scenarios[] = {
    {"walked", walked},
    {"forked", forked},
    {"too_many", too_many},
    {"changed", changed},
    {"layout_differs", layout_differs},
    {"counted_by_driver", counted_by_driver},
    {"counted_by_own_numbers", counted_by_own_numbers},
    {"counted_by_callback", counted_by_callback},
    {"handed_over", handed_over},
    {"counted_in_races", counted_in_races},
    {"whole_graphs", whole_graphs},
};

int main(int argc, char **argv)
{
    return host_run(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
}
