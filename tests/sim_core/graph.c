/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: a hundred launches against the ledger, building by hand, copies, updates, and what nodes really do. */
#include "ledger_reader.h"

#include "sim/core/simgpu.h"

#define LEDGER "graph.ledger"
static const void *kernels[2];
static const dim3 one = {1, 1, 1};
static cudaStream_t stream;

static cudaGraph_t captured(unsigned count)
{
    cudaGraph_t graph;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (unsigned i = 0; i < count; i++)
        OK(cudaLaunchKernel(kernels[i % 2], (dim3){i + 1, 1, 1}, one, NULL, 0, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

static void hundred_launches_are_all_there(void **state)
{
    (void)state;
    enum { NODES = 24, LAUNCHES = 100 };
    cudaGraph_t graph = captured(NODES);
    cudaGraphExec_t exec;
    cudaGraphNode_t nodes[NODES];
    size_t count = NODES, before = ledger_count(LEDGER, "kernel");
    OK(cudaGraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, NODES);
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cudaGraphUpload(exec, stream));
    for (int i = 0; i < LAUNCHES; i++)
        OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));

    uint32_t exec_id = simgpu_exec_id((struct simgpu_exec *)exec);
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    assert_int_equal(json_array_size(lines), NODES * LAUNCHES);
    uint64_t last_end = 0, total_ns = 0, correlation = 0;
    for (size_t i = 0; i < NODES * LAUNCHES; i++) {
        const json_t *line = json_array_get(lines, i);
        size_t node = i % NODES;
        assert_string_equal(text_of(line, "name"), node % 2 ? "odd" : "even");
        assert_int_equal(json_integer_value(json_array_get(json_object_get(line, "grid"), 0)), node + 1);
        assert_int_equal(number_of(line, "graph"), exec_id);
        /* The executable's id above, the template's local number below. */
        assert_int_equal(number_of(line, "node"),
                         (uint64_t)exec_id << 32 | (uint32_t)simgpu_node_id((struct simgpu_node *)nodes[node]));
        assert_true(number_of(line, "start") >= last_end);
        last_end = number_of(line, "end");
        total_ns += last_end - number_of(line, "start");
        if (node == 0)
            assert_int_not_equal(number_of(line, "correlation"), correlation);
        else
            assert_int_equal(number_of(line, "correlation"), correlation);
        correlation = number_of(line, "correlation");
    }
    assert_int_equal(total_ns, (uint64_t)NODES * LAUNCHES * 2000);
    json_decref(lines);
    OK(cudaGraphExecDestroy(exec));
    assert_int_equal(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
    OK(cudaGraphDestroy(graph));
    cudaGetLastError();
}

static int host_calls;

static void count_host_call(void *step)
{
    host_calls += *(int *)step;
}

static void built_by_hand_it_really_works(void **state)
{
    (void)state;
    cudaGraph_t graph, child;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, copy, host, nested, inner;
    int step = 3;
    unsigned back[4] = {0};
    void *device;
    OK(cudaMalloc(&device, sizeof back));
    struct cudaMemsetParams fill_params = {
        .dst = device, .value = 0x01020304, .elementSize = 4, .width = 4, .height = 1};
    struct cudaHostNodeParams host_params = {.fn = count_host_call, .userData = &step};
    struct cudaKernelNodeParams kernel_params = {.func = (void *)kernels[0], .gridDim = one, .blockDim = one};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&child, 0));
    OK(cudaGraphAddKernelNode(&inner, child, NULL, 0, &kernel_params));
    OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &fill_params));
    OK(cudaGraphAddHostNode(&host, graph, &fill, 1, &host_params));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &host, 1, back, device, sizeof back, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddChildGraphNode(&nested, graph, &copy, 1, child));
    size_t before = ledger_count(LEDGER, "kernel");
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    assert_int_equal(host_calls, 6);
    for (int i = 0; i < 4; i++)
        assert_int_equal(back[i], 0x01020304);
    assert_int_equal(ledger_count(LEDGER, "kernel"), before + 2);
    assert_int_equal(ledger_count(LEDGER, "memset"), 2);

    OK(cudaGraphNodeSetEnabled(exec, fill, 0));
    memset(back, 0, sizeof back);
    OK(cudaMemset(device, 0, sizeof back));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    assert_int_equal(back[0], 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(child));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(device));
}

static void cycles_and_strangers_are_refused(void **state)
{
    (void)state;
    cudaGraph_t graph, other;
    cudaGraphExec_t exec;
    cudaGraphNode_t a, b, stranger;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&other, 0));
    OK(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    OK(cudaGraphAddEmptyNode(&stranger, other, NULL, 0));
    assert_int_equal(cudaGraphAddEmptyNode(&stranger, graph, &stranger, 1), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphAddDependencies(graph, &a, &b, NULL, 1), cudaErrorInvalidValue); /* there already */
    OK(cudaGraphAddDependencies(graph, &b, &a, NULL, 1));
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
    OK(cudaGraphRemoveDependencies(graph, &b, &a, NULL, 1));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroyNode(a));
    size_t count;
    OK(cudaGraphNodeGetDependencies(b, NULL, NULL, &count));
    assert_int_equal(count, 0);
    OK(cudaGraphDestroy(graph));
    assert_int_equal(cudaGraphDestroy(graph), cudaErrorInvalidValue);
    OK(cudaGraphDestroy(other));
    cudaGetLastError();
}

static void edges_added_backwards_still_order(void **state)
{
    (void)state;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t late, early;
    struct cudaKernelNodeParams params = {.func = (void *)kernels[0], .gridDim = one, .blockDim = one};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&late, graph, NULL, 0, &params));
    params.func = (void *)kernels[1];
    OK(cudaGraphAddKernelNode(&early, graph, NULL, 0, &params));
    OK(cudaGraphAddDependencies(graph, &early, &late, NULL, 1));
    size_t before = ledger_count(LEDGER, "kernel");
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    assert_string_equal(text_of(json_array_get(lines, 0), "name"), "odd");
    assert_int_equal(number_of(json_array_get(lines, 1), "start"), number_of(json_array_get(lines, 0), "end"));
    json_decref(lines);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

static void updates_take_what_has_the_same_shape(void **state)
{
    (void)state;
    cudaGraph_t graph = captured(3), longer = captured(4), same;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    assert_int_equal(cudaGraphExecUpdate(exec, longer, &info), cudaErrorGraphExecUpdateFailure);
    assert_int_equal(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 3; i++)
        OK(cudaLaunchKernel(kernels[1], (dim3){9, 9, 9}, one, NULL, 0, stream));
    OK(cudaStreamEndCapture(stream, &same));
    OK(cudaGraphExecUpdate(exec, same, &info));
    size_t before = ledger_count(LEDGER, "kernel");
    OK(cudaGraphLaunch(exec, stream));
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    assert_int_equal(json_array_size(lines), 3);
    assert_string_equal(text_of(json_array_get(lines, 0), "name"), "odd");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(json_array_get(lines, 2), "grid"), 2)), 9);
    json_decref(lines);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(longer));
    OK(cudaGraphDestroy(same));
    cudaGetLastError();
}

static void clones_are_their_own(void **state)
{
    (void)state;
    cudaGraph_t graph = captured(2), clone;
    cudaGraphNode_t node, twin;
    size_t count = 1;
    OK(cudaGraphGetNodes(graph, &node, &count));
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&twin, node, clone));
    assert_ptr_not_equal(node, twin);
    assert_int_equal((uint32_t)simgpu_node_id((struct simgpu_node *)node),
                     (uint32_t)simgpu_node_id((struct simgpu_node *)twin));
    OK(cudaGraphDestroy(graph));
    struct cudaKernelNodeParams params;
    OK(cudaGraphKernelNodeGetParams(twin, &params));
    const char *name;
    OK(cudaFuncGetName(&name, params.func));
    assert_string_equal(name, "even");
    OK(cudaGraphDestroy(clone));
}

static int destroyed;

static void destroy_object(void *data)
{
    *(int *)data = 1;
}

static void user_objects_live_as_long_as_graphs(void **state)
{
    (void)state;
    cudaGraph_t graph = captured(1);
    cudaGraphExec_t exec;
    cudaUserObject_t object;
    OK(cudaUserObjectCreate(&object, &destroyed, destroy_object, 1, cudaUserObjectNoDestructorSync));
    OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    OK(cudaDeviceSynchronize());
    assert_int_equal(destroyed, 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaDeviceSynchronize());
    assert_int_equal(destroyed, 1);
}

static void launching_while_capturing_nests(void **state)
{
    (void)state;
    cudaGraph_t inner = captured(2), outer;
    cudaGraphExec_t inner_exec, outer_exec;
    cudaGraphNode_t node;
    enum cudaGraphNodeType type;
    size_t count = 1, before = ledger_count(LEDGER, "kernel");
    OK(cudaGraphInstantiate(&inner_exec, inner, 0));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudaGraphLaunch(inner_exec, stream));
    OK(cudaStreamEndCapture(stream, &outer));
    OK(cudaGraphGetNodes(outer, &node, &count));
    OK(cudaGraphNodeGetType(node, &type));
    assert_int_equal(type, cudaGraphNodeTypeGraph);
    OK(cudaGraphInstantiate(&outer_exec, outer, 0));
    OK(cudaGraphLaunch(outer_exec, stream));
    assert_int_equal(ledger_count(LEDGER, "kernel"), before + 2);
    OK(cudaGraphExecDestroy(outer_exec));
    OK(cudaGraphExecDestroy(inner_exec));
    OK(cudaGraphDestroy(outer));
    OK(cudaGraphDestroy(inner));
}

/* A body of COUNT kernels, captured into GRAPH. */
static void fill_body(cudaGraph_t graph, unsigned count)
{
    cudaGraph_t same;
    OK(cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal));
    for (unsigned i = 0; i < count; i++)
        OK(cudaLaunchKernel(kernels[1], (dim3){i + 1, 1, 1}, one, NULL, 0, stream));
    OK(cudaStreamEndCapture(stream, &same));
    assert_ptr_equal(same, graph);
}

static cudaGraph_t *add_conditional(cudaGraph_t graph, enum cudaGraphConditionalNodeType type, unsigned value,
                                    unsigned bodies)
{
    cudaGraphNode_t node;
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional};
    params.conditional.type = type;
    params.conditional.size = bodies;
    OK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, value, cudaGraphCondAssignDefault));
#if CUDART_VERSION >= 13000
    OK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
#else
    OK(cudaGraphAddNode(&node, graph, NULL, 0, &params));
#endif
    enum cudaGraphNodeType got;
    OK(cudaGraphNodeGetType(node, &got));
    assert_int_equal(got, cudaGraphNodeTypeConditional);
    return params.conditional.phGraph_out;
}

static size_t kernels_of_one_launch(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    size_t before = ledger_count(LEDGER, "kernel");
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaGraphExecDestroy(exec));
    return ledger_count(LEDGER, "kernel") - before;
}

/* By hand: a WHILE runs its 2 kernels 3 times (the unit device), an IF its first body of 1 or its second of 4, a SWITCH the
 * body of its value, or none. */
static void conditions_keep_their_defaults(void **state)
{
    (void)state;
    static const struct {
        enum cudaGraphConditionalNodeType type;
        unsigned value, bodies, sizes[3];
        size_t kernels;
    } rows[] = {{cudaGraphCondTypeWhile, 1, 1, {2}, 6},       {cudaGraphCondTypeWhile, 0, 1, {2}, 0},
                {cudaGraphCondTypeIf, 1, 2, {1, 4}, 1},       {cudaGraphCondTypeIf, 0, 2, {1, 4}, 4},
                {cudaGraphCondTypeIf, 0, 1, {1}, 0},          {cudaGraphCondTypeSwitch, 2, 3, {1, 2, 5}, 5},
                {cudaGraphCondTypeSwitch, 3, 3, {1, 2, 5}, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cudaGraph_t graph = captured(1);
        cudaGraph_t *bodies = add_conditional(graph, rows[i].type, rows[i].value, rows[i].bodies);
        for (unsigned k = 0; k < rows[i].bodies; k++)
            fill_body(bodies[k], rows[i].sizes[k]);
        assert_int_equal(kernels_of_one_launch(graph), rows[i].kernels + 1);
        OK(cudaGraphDestroy(graph));
    }
    cudaGraph_t graph = captured(1);
    cudaGraphNode_t node;
    struct cudaGraphNodeParams wrong = {.type = cudaGraphNodeTypeConditional};
    wrong.conditional.type = cudaGraphCondTypeWhile;
    wrong.conditional.size = 1;
#if CUDART_VERSION >= 13000
    assert_int_equal(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &wrong), cudaErrorInvalidValue);
#else
    assert_int_equal(cudaGraphAddNode(&node, graph, NULL, 0, &wrong), cudaErrorInvalidValue);
#endif
    OK(cudaGraphDestroy(graph));
    cudaGetLastError();
}

/* What is inside of nodes gets ids of the executable after its own, which stay when it is updated. */
static void children_are_numbered_in_the_executable(void **state)
{
    (void)state;
    cudaGraph_t graph = captured(2), child = captured(3), other = captured(2);
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    OK(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    OK(cudaGraphAddChildGraphNode(&node, other, NULL, 0, child));
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    uint64_t exec_id = simgpu_exec_id((struct simgpu_exec *)exec);
    for (int updated = 0; updated < 2; updated++) {
        size_t before = ledger_count(LEDGER, "kernel");
        OK(cudaGraphLaunch(exec, stream));
        OK(cudaStreamSynchronize(stream));
        json_t *lines = ledger_lines(LEDGER, "kernel", before);
        assert_int_equal(json_array_size(lines), 5);
        for (unsigned i = 0; i < 5; i++) /* two own ones, the child's node is local 2, what it holds follows */
            assert_int_equal(number_of(json_array_get(lines, i), "node"), exec_id << 32 | (i < 2 ? i : i + 1));
        json_decref(lines);
        cudaGraphExecUpdateResultInfo info;
        OK(cudaGraphExecUpdate(exec, other, &info));
    }
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(child));
    OK(cudaGraphDestroy(other));
}

cudaError_t cudaGraphNodeGetToolsId(cudaGraphNode_t node, unsigned long long *id);

static void tools_ids_are_those_of_records(void **state)
{
    (void)state;
    cudaGraph_t graph = captured(2);
    cudaGraphNode_t nodes[2];
    size_t count = 2;
    unsigned long long id;
    OK(cudaGraphGetNodes(graph, nodes, &count));
    for (unsigned i = 0; i < 2; i++) {
        OK(cudaGraphNodeGetToolsId(nodes[i], &id));
        assert_int_equal(id, (uint64_t)simgpu_graph_id((struct simgpu_graph *)graph) << 32 | i);
    }
    assert_int_equal(cudaGraphNodeGetToolsId(nodes[0], NULL), cudaErrorInvalidValue);
    OK(cudaGraphDestroy(graph));
    assert_int_equal(cudaGraphNodeGetToolsId(nodes[0], &id), cudaErrorInvalidValue);
}

int main(void)
{
    ledger_use(LEDGER);
    kernels[0] = stub_of("even");
    kernels[1] = stub_of("odd");
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hundred_launches_are_all_there),
        cmocka_unit_test(built_by_hand_it_really_works),
        cmocka_unit_test(cycles_and_strangers_are_refused),
        cmocka_unit_test(edges_added_backwards_still_order),
        cmocka_unit_test(updates_take_what_has_the_same_shape),
        cmocka_unit_test(clones_are_their_own),
        cmocka_unit_test(user_objects_live_as_long_as_graphs),
        cmocka_unit_test(launching_while_capturing_nests),
        cmocka_unit_test(conditions_keep_their_defaults),
        cmocka_unit_test(children_are_numbered_in_the_executable),
        cmocka_unit_test(tools_ids_are_those_of_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
