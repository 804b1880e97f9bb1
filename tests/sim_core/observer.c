/* SPDX-License-Identifier: Apache-2.0 */
/* What an observer is told: each door, launches twice with one correlation id, each activity once and as the ledger
 * has it, each graph event; and nothing of its own calls. */
#include "ledger_reader.h"

#include "sim/core/simgpu.h"

#define __CUDA_API_VERSION_INTERNAL /* the parameter structs speak of old types too */
#include <cuda.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <generated_cuda_meta.h>

#define LEDGER "observer.ledger"
enum { MOST = 4096 };

static struct seen {
    enum simgpu_domain domain;
    bool exit;
    uint32_t cbid, correlation;
    char function[64], symbol[32];
    int result;
} calls[MOST];
static size_t call_count;
static struct simgpu_activity activities[MOST];
static size_t activity_count;
static struct simgpu_graph_notice notices[MOST];
static size_t notice_count;
static bool calls_back;
static unsigned launch_grid;

static void note_call(struct simgpu_api_call *call, bool exit)
{
    struct seen *seen = &calls[call_count++];
    *seen =
        (struct seen){.domain = call->domain, .exit = exit, .cbid = call->cbid, .correlation = call->correlation_id};
    snprintf(seen->function, sizeof seen->function, "%s", call->function);
    snprintf(seen->symbol, sizeof seen->symbol, "%s", call->symbol ? call->symbol : "");
    if (exit)
        seen->result = *(int *)call->return_value;
    if (call->domain == SIMGPU_DRIVER_API && call->cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
        launch_grid = ((const cuLaunchKernel_params *)call->params)->gridDimX;
    if (calls_back) {
        int device;
        cudaGetDevice(&device);
    }
}

static void on_enter(struct simgpu_api_call *call)
{
    call->correlation_data = 1000 + call->cbid;
    note_call(call, false);
}

static void on_exit_call(struct simgpu_api_call *call)
{
    assert_int_equal(call->correlation_data, 1000 + call->cbid);
    assert_true(call->end_ns >= call->start_ns && call->start_ns);
    note_call(call, true);
}

static void on_activity(const struct simgpu_activity *activity)
{
    activities[activity_count++] = *activity;
}

static void on_graph(const struct simgpu_graph_notice *notice)
{
    notices[notice_count++] = *notice;
}

static const struct simgpu_observer observer = {
    .api_enter = on_enter, .api_exit = on_exit_call, .activity = on_activity, .graph = on_graph};

static const void *kernel;
static cudaStream_t stream;
static const dim3 one = {1, 1, 1};

static int setup(void **state)
{
    (void)state;
    simgpu_observe(NULL);
    cudaDeviceSynchronize();
    call_count = activity_count = notice_count = 0;
    calls_back = false;
    simgpu_observe(&observer);
    return 0;
}

static void every_door_is_seen(void **state)
{
    (void)state;
    void *memory;
    OK(cudaMalloc(&memory, 5));
    assert_int_equal(cudaFree((void *)16), cudaErrorInvalidValue);
    assert_int_equal(call_count, 4);
    assert_int_equal(calls[0].domain, SIMGPU_RUNTIME_API);
    assert_int_equal(calls[0].cbid, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020);
    assert_string_equal(calls[0].function, "cudaMalloc_v3020");
    assert_true(calls[1].exit && calls[1].result == 0);
    assert_int_equal(calls[0].correlation, calls[1].correlation);
    assert_int_equal(calls[3].result, cudaErrorInvalidValue);
    assert_int_not_equal(calls[2].correlation, calls[0].correlation);
    OK(cudaFree(memory));
    cudaGetLastError();
}

static void launches_nest_a_driver_call(void **state)
{
    (void)state;
    size_t before = ledger_count(LEDGER, "kernel");
    OK(cudaLaunchKernel(kernel, (dim3){11, 1, 1}, one, NULL, 0, stream));
    assert_int_equal(call_count, 4);
    assert_int_equal(calls[0].cbid, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
    assert_string_equal(calls[0].symbol, "observed");
    assert_int_equal(calls[1].domain, SIMGPU_DRIVER_API);
    assert_int_equal(calls[1].cbid, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
    assert_string_equal(calls[1].function, "cuLaunchKernel");
    assert_string_equal(calls[1].symbol, "observed");
    assert_int_equal(launch_grid, 11);
    assert_true(calls[2].exit && calls[2].domain == SIMGPU_DRIVER_API);
    assert_true(calls[3].exit && calls[3].domain == SIMGPU_RUNTIME_API);
    for (int i = 1; i < 4; i++)
        assert_int_equal(calls[i].correlation, calls[0].correlation);

    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributePriority};
    cudaLaunchConfig_t config = {.gridDim = one, .blockDim = one, .stream = stream, .attrs = &attribute, .numAttrs = 1};
    OK(cudaLaunchKernelExC(&config, kernel, NULL));
    assert_int_equal(calls[5].cbid, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
    OK(cudaLaunchCooperativeKernel(kernel, one, one, NULL, 0, stream));
    assert_int_equal(calls[9].cbid, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);

    assert_int_equal(activity_count, 0); /* nobody has waited yet */
    OK(cudaStreamSynchronize(stream));
    json_t *lines = ledger_lines(LEDGER, "kernel", before);
    assert_int_equal(activity_count, 3);
    assert_int_equal(json_array_size(lines), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *line = json_array_get(lines, i);
        assert_int_equal(activities[i].kind, SIMGPU_ACTIVITY_KERNEL);
        assert_string_equal(activities[i].name, "observed");
        assert_int_equal(activities[i].correlation_id, calls[4 * i].correlation);
        assert_int_equal(number_of(line, "correlation"), calls[4 * i].correlation);
        assert_int_equal(number_of(line, "start"), activities[i].start_ns);
        assert_int_equal(number_of(line, "end"), activities[i].end_ns);
        assert_int_equal(number_of(line, "stream"), activities[i].stream);
    }
    json_decref(lines);
}

static void graphs_tell_of_their_nodes(void **state)
{
    (void)state;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, stream));
    OK(cudaLaunchKernel(kernel, one, one, NULL, 0, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    assert_int_equal(notice_count, 3);
    assert_int_equal(notices[0].event, SIMGPU_GRAPH_CREATED);
    assert_int_equal(notices[1].event, SIMGPU_NODE_CREATED);
    assert_ptr_equal(notices[1].graph, graph);
    assert_int_equal(notices[1].node_type, cudaGraphNodeTypeKernel);
    struct simgpu_node *original = notices[1].node;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    assert_int_equal(notice_count, 6);
    assert_int_equal(notices[3].event, SIMGPU_NODE_CLONED);
    assert_ptr_equal(notices[3].original_node, original);
    assert_int_equal(notices[5].event, SIMGPU_EXEC_CREATED);
    assert_ptr_equal(notices[5].exec, exec);
    uint64_t clone_id = simgpu_node_id(notices[3].node);
    assert_int_equal(clone_id >> 32, simgpu_exec_id(notices[5].exec));
    assert_int_equal((uint32_t)clone_id, (uint32_t)simgpu_node_id(original));

    call_count = 0;
    OK(cudaGraphLaunch(exec, stream));
    assert_int_equal(calls[1].domain, SIMGPU_DRIVER_API);
    assert_int_equal(calls[1].cbid, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
    OK(cudaStreamSynchronize(stream));
    assert_int_equal(activity_count, 3); /* the two and the launch as a whole */
    assert_int_equal(activities[2].kind, SIMGPU_ACTIVITY_GRAPH);
    assert_int_equal(activities[2].start_ns, activities[0].start_ns);
    assert_int_equal(activities[2].end_ns, activities[1].end_ns);
    assert_int_equal(activities[2].correlation_id, activities[0].correlation_id);
    assert_int_equal(activities[2].graph_id, activities[0].graph_id);
    assert_int_equal(activities[0].graph_node_id, clone_id);
    assert_int_equal(activities[0].graph_id, clone_id >> 32);
    for (int i = 0; i < 2; i++) /* one launch, one correlation id */
        assert_int_equal(activities[i].correlation_id, calls[0].correlation);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    assert_int_equal(notices[6].event, SIMGPU_EXEC_DESTROYED);
}

static void copies_and_fills_are_activities(void **state)
{
    (void)state;
    void *memory;
    char host[8] = "";
    OK(cudaMalloc(&memory, 8));
    OK(cudaMemcpy(memory, host, 8, cudaMemcpyHostToDevice));
    OK(cudaMemset(memory, 9, 6));
    OK(cudaDeviceSynchronize());
    assert_int_equal(activity_count, 2);
    assert_int_equal(activities[0].kind, SIMGPU_ACTIVITY_MEMCPY);
    assert_int_equal(activities[0].bytes, 8);
    assert_int_equal(activities[0].copy_kind, 1);
    assert_int_equal(activities[1].kind, SIMGPU_ACTIVITY_MEMSET);
    assert_int_equal(activities[1].bytes, 6);
    assert_int_equal(activities[1].value, 9);
    OK(cudaFree(memory));
}

static void its_own_calls_are_not_observed(void **state)
{
    (void)state;
    int device;
    calls_back = true;
    OK(cudaGetDevice(&device));
    assert_int_equal(call_count, 2);
}

static void late_activities_wait_for_their_time(void **state)
{
    (void)state;
    struct simgpu_dims dims = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct simgpu_kernel *slow = simgpu_kernel_by_name("slow");
    OK(simgpu_launch(simgpu_stream_of(stream, 0), slow, &dims, NULL, 3600 * 1000000000ull, 307));
    assert_int_equal(calls[0].cbid,
                     CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel); /* a library's launch: the driver's alone */
    simgpu_deliver();
    assert_int_equal(activity_count, 0);
    OK(cudaStreamSynchronize(stream)); /* an hour later, at once */
    assert_int_equal(activity_count, 1);
    assert_int_equal(activities[0].end_ns - activities[0].start_ns, 3600 * 1000000000ull);
}

static void library_calls_own_their_kernels(void **state)
{
    (void)state;
    struct simgpu_dims dims = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct simgpu_stream *where = simgpu_stream_of(stream, 0);
    size_t kernels = ledger_count(LEDGER, "kernel"), library_calls = ledger_count(LEDGER, "call");
    uint64_t outer = simgpu_ledger_call_begin("outerCall"), inner = simgpu_ledger_call_begin("innerCall");
    OK(simgpu_launch(where, simgpu_kernel_by_name("gemm"), &dims, NULL, 100, 307));
    simgpu_ledger_call_end(inner, "\"m\":3,\"A\":\"0x7f00\"", 0);
    OK(simgpu_launch(where, simgpu_kernel_by_name("gemm"), &dims, NULL, 100, 307));
    simgpu_ledger_call_end(outer, NULL, -14);
    json_t *lines = ledger_lines(LEDGER, "kernel", kernels);
    assert_int_equal(number_of(json_array_get(lines, 0), "call"), inner);
    assert_int_equal(number_of(json_array_get(lines, 1), "call"), outer);
    json_decref(lines);
    lines = ledger_lines(LEDGER, "call", library_calls);
    const json_t *first = json_array_get(lines, 0), *second = json_array_get(lines, 1);
    assert_string_equal(text_of(first, "function"), "innerCall");
    assert_int_equal(number_of(first, "outer"), outer);
    assert_true(json_is_true(json_object_get(first, "nested")));
    assert_int_equal(number_of(json_object_get(first, "args"), "m"), 3);
    assert_int_equal((int)json_integer_value(json_object_get(second, "status")), -14);
    assert_false(json_is_true(json_object_get(second, "nested")));
    json_decref(lines);
    OK(cudaDeviceSynchronize());
}

int main(void)
{
    ledger_use(LEDGER);
    kernel = stub_of("observed");
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))
        return 1;
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(every_door_is_seen),
        TEST(launches_nest_a_driver_call),
        TEST(graphs_tell_of_their_nodes),
        TEST(copies_and_fills_are_activities),
        TEST(its_own_calls_are_not_observed),
        TEST(late_activities_wait_for_their_time),
        TEST(library_calls_own_their_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
