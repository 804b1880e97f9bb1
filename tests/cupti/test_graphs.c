/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as CUPTI may tell of them, one scenario a process: what is captured, copied, updated and replayed, and whose the
 * kernels of the replays are then in the trace. */
#include <string.h>

#include "tests/cupti/fake_cupti.h"
#include "tests/cupti/host.h"

enum { CREATED = 13, DESTROYED = 14, EXEC_DESTROYED = 19, CLONED = 20, UPDATED = 22, ENTER = 0, EXIT = 1 };
enum { DRIVER = 1, RUNTIME = 2, INSTANTIATE = 643, UPDATE = 696, RUNTIME_UPDATE = 335, GRAPH_NODE = 4 };

static uint32_t graph_2 = 2, exec_9 = 9;

static uint64_t node(uint32_t graph, uint32_t number)
{
    return (uint64_t)graph << 32 | number;
}

static uint64_t capture(uint64_t node_id, uint64_t owner_id)
{
    uint64_t call = next_call_id();
    kernel_timing_call_begin(call_context(), call);
    fake_cupti_launch_node("gemm", &node_id);
    kernel_timing_call_end(call_context(), TRACE_OWNER_CALL, owner_id);
    return call;
}

static void created(uint64_t node_id, uint32_t type)
{
    fake_cupti_graph(CREATED, &(struct fake_graph_data){.node = &node_id, .node_type = type});
}

static void told(uint32_t cbid, uint64_t node_id, uint64_t original_id)
{
    fake_cupti_graph(cbid, &(struct fake_graph_data){.node = &node_id, .original_node = &original_id, .exec = &exec_9});
}

static void check_owned(const struct trace_content *c, uint32_t correlation, uint64_t call, uint64_t owner_id)
{
    const struct trace_kernel *k = kernel_of(c, correlation);
    CHECK(k->owner == TRACE_OWNER_CALL && k->owner_id == owner_id && trace_call_without_copy(k->call_id) == call &&
          k->join == TRACE_JOIN_GRAPH_NODE);
}

static void check_nobody(const struct trace_content *c, uint32_t correlation, enum trace_join join)
{
    const struct trace_kernel *k = kernel_of(c, correlation);
    CHECK(k->owner == TRACE_OWNER_NONE && k->owner_id == 0 && k->call_id == 0 && k->join == join);
}

static void updates(int domain, uint32_t cbid, uint32_t correlation, int result)
{
    const void *params[2] = {&exec_9, &graph_2};
    fake_cupti_side(domain, cbid, ENTER, correlation, params, 0);
    if (domain == RUNTIME) {
        fake_cupti_side(DRIVER, UPDATE, ENTER, correlation, params, 0);
        fake_cupti_side(DRIVER, UPDATE, EXIT, correlation, params, result);
    }
    fake_cupti_side(domain, cbid, EXIT, correlation, params, result);
}

/* ---- scenarios ---- */

static void replays(void)
{
    struct trace_content c;
    start_on();
    uint64_t call = capture(node(1, 0), 501);
    uint64_t other = capture(node(1, 1), 502);
    created(node(1, 2), 0); /* in no call: the program built it */
    fake_cupti_side(DRIVER, INSTANTIATE, ENTER, 50, NULL, 0);
    for (uint32_t i = 0; i < 3; i++) {
        created(node(9, i), 0);
        told(CLONED, node(9, i), node(1, i));
        created(node(9, i), 0);
    }
    created(node(9, 3), 0);
    fake_cupti_side(DRIVER, INSTANTIATE, EXIT, 50, NULL, 0);
    told(DESTROYED, node(1, 0), 0);
    run_node(61, node(9, 0), "gemm");
    run_node(62, node(9, 0), "gemm");
    run_node(63, node(9, 1), "gemm");
    run_node(64, node(9, 2), "mine");
    run_node(65, node(9, 3), "unseen");  /* of what was that a copy? */
    run_node(66, node(9, 1), "another"); /* parameters were set to run it */
    fake_cupti_graph(EXEC_DESTROYED, &(struct fake_graph_data){.exec = &exec_9});
    finish_and_read(&c);
    check_owned(&c, 61, call, 501);
    check_owned(&c, 62, call, 501);
    check_owned(&c, 63, other, 502);
    check_nobody(&c, 64, TRACE_JOIN_GRAPH_NODE);
    check_nobody(&c, 65, TRACE_JOIN_NONE);
    check_nobody(&c, 66, TRACE_JOIN_NONE);
    CHECK(c.kernel_count == 6 && c.counters.kernels_unjoined == 2);
    CHECK(!strstr(content_note(&c, TRACE_NOTE_TIMING_ON)->text, "nodes of graphs"));
}

static void before_end_of_call(void)
{
    struct trace_content c;
    uint64_t id = node(9, 0), call;
    start_with((struct kernel_timing_settings){.flush_period_ms = 10});
    call = next_call_id();
    kernel_timing_call_begin(call_context(), call);
    fake_cupti_launch_node("gemm", &id);
    run_node(61, id, "gemm");
    fake_cupti_hand_back();
    kernel_timing_call_end(call_context(), TRACE_OWNER_LAUNCH, 7);
    uint64_t failed = node(9, 1), failed_call = next_call_id();
    kernel_timing_call_begin(call_context(), failed_call);
    fake_cupti_launch_node("gemm", &failed);
    kernel_timing_call_end(call_context(), TRACE_OWNER_NONE, 0);
    run_node(62, failed, "gemm");
    finish_and_read(&c);
    const struct trace_kernel *k = kernel_of(&c, 61);
    CHECK(k->owner == TRACE_OWNER_LAUNCH && k->owner_id == 7 && k->call_id == call && k->join == TRACE_JOIN_GRAPH_NODE);
    k = kernel_of(&c, 62);
    CHECK(k->owner == TRACE_OWNER_NONE && k->call_id == failed_call && c.counters.kernels_unjoined == 1);
}

/* An executable of graph 1 is updated to graph 2: told of nodes or not, by the driver's call or the runtime's around it. */
static void updated(bool nodes_told, bool reversed, int domain, uint32_t cbid)
{
    struct trace_content c;
    start_on();
    uint64_t first = capture(node(1, 0), 501), second = capture(node(2, nodes_told ? 5 : 0), 502);
    told(CLONED, node(9, 0), node(1, 0));
    run_node(69, node(9, 0), "gemm");
    updates(domain, cbid, 65, 910); /* it fails: all stays */
    run_node(66, node(9, 0), "gemm");
    if (nodes_told) {
        const void *params[2] = {&exec_9, &graph_2};
        fake_cupti_side(RUNTIME, RUNTIME_UPDATE, ENTER, 70, params, 0);
        fake_cupti_side(DRIVER, UPDATE, ENTER, 70, params, 0);
        if (reversed)
            told(UPDATED, node(2, 5), node(9, 0));
        else
            told(UPDATED, node(9, 0), node(2, 5));
        fake_cupti_side(DRIVER, UPDATE, EXIT, 70, params, 0);
        fake_cupti_side(RUNTIME, RUNTIME_UPDATE, EXIT, 70, params, 0);
    } else {
        updates(domain, cbid, 70, 0);
    }
    run_node(71, node(9, 0), "gemm");
    finish_and_read(&c);
    check_owned(&c, 69, first, 501);
    check_owned(&c, 66, first, 501);
    check_owned(&c, 71, second, 502);
    CHECK(!content_note(&c, TRACE_NOTE_GRAPH_NODES) && c.counters.kernels_unjoined == 0);
}

static void updated_by_driver(void)
{
    updated(false, false, DRIVER, UPDATE);
}

static void updated_by_runtime(void)
{
    updated(false, false, RUNTIME, RUNTIME_UPDATE);
}

static void updated_by_nodes(void)
{
    updated(true, false, DRIVER, UPDATE);
}

static void updated_by_nodes_reversed(void)
{
    updated(true, true, DRIVER, UPDATE);
}

static void check_distrust(uint64_t first_node)
{
    struct trace_content c;
    updates(DRIVER, UPDATE, 70, 0);
    run_node(71, first_node, "gemm");
    fake_cupti_launch(LAUNCH); /* so that a flush is due */
    finish_and_read(&c);
    check_nobody(&c, 71, TRACE_JOIN_NONE);
    CHECK(c.counters.kernels_unjoined == 1 && content_note(&c, TRACE_NOTE_GRAPH_NODES));
}

/* Nodes of child graphs have numbers of their own. */
static void update_of_nested(void)
{
    fake_cupti_set_version(28, 208);
    start_on();
    CHECK(!fake_cupti_callback_enabled(3, UPDATED) && fake_cupti_callback_enabled(3, CLONED));
    capture(node(1, 0), 501);
    created(node(1, 1), GRAPH_NODE);
    told(CLONED, node(9, 0), node(1, 0));
    told(CLONED, node(9, 1), node(1, 1));
    check_distrust(node(9, 0));
}

/* Before CUDA 12.3 nobody tells which executable it is; nor does this driver. */
static void update_of_unknown(void)
{
    exec_9 = 0;
    fake_cupti_set_version(20, 208);
    fake_cupti_set_result("cuptiGetGraphExecId", 1);
    start_on();
    capture(node(1, 0), 501);
    told(CLONED, node(9, 0), node(1, 0));
    check_distrust(node(9, 0));
}

static void source_node(void)
{
    struct trace_content c;
    fake_cupti_set_version(130401, 248);
    start_on();
    uint64_t call = capture(node(1, 0), 501), second = capture(node(2, 0), 502);
    fake_cupti_kernel(&(struct fake_kernel){.correlation_id = 61,
                                            .name = "gemm",
                                            .start_ns = some_time_ns,
                                            .end_ns = some_time_ns + 1,
                                            .graph_id = 9,
                                            .node_id = node(9, 40), /* renumbered, and nobody says how */
                                            .source_node_id = node(1, 0)});
    told(CLONED, node(9, 0), node(2, 0));
    fake_cupti_kernel(&(struct fake_kernel){.correlation_id = 62,
                                            .name = "gemm",
                                            .start_ns = some_time_ns,
                                            .end_ns = some_time_ns + 1,
                                            .graph_id = 9,
                                            .node_id = node(9, 0),
                                            .source_node_id = node(3, 0)}); /* unknown: by its own */
    finish_and_read(&c);
    check_owned(&c, 61, call, 501);
    check_owned(&c, 62, second, 502);
}

static void not_told(const char *refusing)
{
    struct trace_content c;
    fake_cupti_set_result(refusing, 27);
    start_on();
    capture(node(9, 0), 501);
    run_node(61, node(9, 0), "gemm");
    finish_and_read(&c);
    check_nobody(&c, 61, TRACE_JOIN_NONE);
    CHECK(c.counters.kernels_unjoined == 1);
}

static void callbacks_refused(void)
{
    not_told("cuptiEnableCallback");
}

static void ids_refused(void)
{
    not_told("cuptiGetGraphNodeId");
}

static const struct scenario scenarios[] = {
    {"replays", replays},
    {"before_end_of_call", before_end_of_call},
    {"updated_by_driver", updated_by_driver},
    {"updated_by_runtime", updated_by_runtime},
    {"updated_by_nodes", updated_by_nodes},
    {"updated_by_nodes_reversed", updated_by_nodes_reversed},
    {"update_of_nested", update_of_nested},
    {"update_of_unknown", update_of_unknown},
    {"source_node", source_node},
    {"callbacks_refused", callbacks_refused},
    {"ids_refused", ids_refused},
};

int main(int argc, char **argv)
{
    return host_run(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
}
