/* SPDX-License-Identifier: Apache-2.0 */
/* A program that works by CUDA graphs: `e2e_graphs MODE REPLAYS`, modes in the table at the end. Prints how many nodes its
 * graphs have, so that a run without rooftap can be compared; each step checks its result. */
#include "gemms.h"
#include "program.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gemms gemms;
static int replays;

static void one_stub(void)
{
}

static void other_stub(void)
{
}

static void launch_on(cudaStream_t stream)
{
    MUST(cudaLaunchKernel((const void *)one_stub, (dim3){3, 1, 1}, (dim3){32, 1, 1}, NULL, 0, stream));
}

static void count_nodes(cudaGraph_t graph)
{
    size_t nodes = 0;
    MUST(cudaGraphGetNodes(graph, NULL, &nodes));
    printf("%zu nodes\n", nodes);
}

static void begin(void)
{
    MUST(cudaStreamBeginCapture(gemms.stream, cudaStreamCaptureModeGlobal));
}

static cudaGraph_t end(void)
{
    cudaGraph_t graph;
    MUST(cudaStreamEndCapture(gemms.stream, &graph));
    count_nodes(graph);
    return graph;
}

/* Two GEMMs of rows M, a kernel, and one through cublasLt. */
static cudaGraph_t captured(int m)
{
    begin();
    MUST(gemms_ex(&gemms, m, 64, 32));
    launch_on(gemms.stream);
    MUST(gemms_ex(&gemms, m, 16, 48));
    MUST(gemms_lt(&gemms, m, 24, 40));
    return end();
}

static cudaGraphExec_t instantiated(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void replay(cudaGraphExec_t exec, int times)
{
    for (int i = 0; i < times; i++)
        MUST(cudaGraphLaunch(exec, gemms.stream));
}

static void update(cudaGraphExec_t exec, cudaGraph_t graph)
{
    cudaGraphExecUpdateResultInfo info;
    MUST(cudaGraphExecUpdate(exec, graph, &info));
}

/* ---- modes ---- */

static void run_eager(void)
{
    for (int i = 0; i < replays; i++) {
        MUST(gemms_ex(&gemms, 128, 64, 32));
        launch_on(gemms.stream);
    }
}

static void run_captured(void)
{
    cudaGraph_t graph = captured(128);
    cudaGraphExec_t exec = instantiated(graph);
    MUST(cudaGraphDestroy(graph)); /* as frameworks do: the executable stays */
    replay(exec, replays);
    MUST(cudaStreamSynchronize(gemms.stream));
    MUST(cudaGraphExecDestroy(exec));
}

/* Nothing waits between replays and updates: records of both come together. */
static void run_updated(void)
{
    cudaGraph_t first = captured(128), second = captured(256), third = captured(128);
    cudaGraphExec_t exec = instantiated(first);
    replay(exec, replays);
    update(exec, second);
    replay(exec, replays + 1);
    update(exec, third);
    replay(exec, replays + 2);
    update(exec, second);
    MUST(cudaGraphDestroy(second));
    replay(exec, replays + 3);
    MUST(cudaGraphExecDestroy(exec)); /* replays are still under way */
}

static void run_child(void)
{
    cudaGraph_t inner = captured(96), outer;
    cudaGraphNode_t node, after;
    MUST(cudaGraphCreate(&outer, 0));
    MUST(cudaGraphAddChildGraphNode(&node, outer, NULL, 0, inner));
    MUST(cudaGraphAddChildGraphNode(&after, outer, &node, 1, inner));
    count_nodes(outer);
    MUST(cudaGraphDestroy(inner));
    replay(instantiated(outer), replays);
}

/* A graph that is launched into a capture becomes a child of it. */
static void run_nested(void)
{
    cudaGraphExec_t inner = instantiated(captured(96));
    begin();
    MUST(gemms_ex(&gemms, 32, 64, 32));
    MUST(cudaGraphLaunch(inner, gemms.stream));
    replay(instantiated(end()), replays);
}

static struct gemms forked;

static void run_forked(void)
{
    cudaEvent_t fork, join;
    MUST(!gemms_open(&forked));
    MUST(cudaEventCreate(&fork));
    MUST(cudaEventCreate(&join));
    begin();
    MUST(gemms_ex(&gemms, 128, 64, 32));
    MUST(cudaEventRecord(fork, gemms.stream));
    MUST(cudaStreamWaitEvent(forked.stream, fork, 0));
    MUST(gemms_ex(&forked, 48, 64, 32));
    MUST(gemms_ex(&gemms, 80, 64, 32));
    launch_on(forked.stream);
    MUST(cudaEventRecord(join, forked.stream));
    MUST(cudaStreamWaitEvent(gemms.stream, join, 0));
    MUST(gemms_ex(&gemms, 112, 64, 32));
    replay(instantiated(end()), replays);
}

static void run_twice(void)
{
    cudaGraph_t graph = captured(128), clone;
    cudaGraphExec_t first = instantiated(graph), second = instantiated(graph);
    MUST(cudaGraphClone(&clone, graph));
    MUST(cudaGraphDestroy(graph));
    cudaGraphExec_t third = instantiated(clone);
    for (int i = 0; i < replays; i++) {
        replay(first, 1);
        replay(second, 2);
        replay(third, 1);
    }
}

static void run_explicit(void)
{
    cudaGraph_t graph;
    cudaGraphNode_t first, second;
    struct cudaKernelNodeParams params = {.func = (void *)other_stub, .gridDim = {2, 1, 1}, .blockDim = {64, 1, 1}};
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddKernelNode(&first, graph, NULL, 0, &params));
    params.func = (void *)one_stub;
    MUST(cudaGraphAddKernelNode(&second, graph, &first, 1, &params));
    count_nodes(graph);
    replay(instantiated(graph), replays);
    MUST(gemms_ex(&gemms, 64, 32, 16));
}

/* The second node of a captured graph is made to run another kernel: that is none of the launch's. */
static void run_set_params(void)
{
    begin();
    launch_on(gemms.stream);
    MUST(gemms_ex(&gemms, 128, 64, 32));
    cudaGraph_t graph = end();
    cudaGraphNode_t nodes[2];
    size_t count = 2;
    MUST(cudaGraphGetNodes(graph, nodes, &count));
    cudaGraphExec_t exec = instantiated(graph);
    replay(exec, replays);
    struct cudaKernelNodeParams params = {.func = (void *)other_stub, .gridDim = {2, 1, 1}, .blockDim = {64, 1, 1}};
    MUST(cudaGraphExecKernelNodeSetParams(exec, nodes[0], &params));
    replay(exec, replays + 1);
}

/* The body of a WHILE is captured like any graph, and runs as often as the simulated GPU lets it (3 times). */
static void run_conditional(void)
{
    cudaGraph_t graph, body;
    cudaGraphNode_t node;
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional};
    begin();
    MUST(gemms_ex(&gemms, 128, 64, 32));
    graph = end();
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    MUST(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1, cudaGraphCondAssignDefault));
#if CUDART_VERSION >= 13000
    MUST(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
#else
    MUST(cudaGraphAddNode(&node, graph, NULL, 0, &params));
#endif
    body = params.conditional.phGraph_out[0];
    MUST(cudaStreamBeginCaptureToGraph(gemms.stream, body, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    MUST(gemms_ex(&gemms, 48, 64, 32));
    launch_on(gemms.stream);
    end();
    replay(instantiated(graph), replays);
}

/* Launched by the driver's function, whose handle tells no name, into a capture that is never replayed. */
static void run_unplayed(void)
{
    typedef int launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                       void **);
    cudaFunction_t function;
    enum cudaDriverEntryPointQueryResult found;
    launch *entry = NULL;
    MUST(cudaGetFuncBySymbol(&function, (const void *)other_stub));
    MUST(cudaGetDriverEntryPointByVersion("cuLaunchKernel", (void **)&entry, 12000, cudaEnableDefault, &found));
    begin();
    MUST(gemms_ex(&gemms, 128, 64, 32));
    MUST(entry(function, 5, 1, 1, 64, 1, 1, 0, gemms.stream, NULL, NULL));
    instantiated(end());
    MUST(gemms_ex(&gemms, 64, 32, 16));
}

static void run_recreated(void)
{
    for (int i = 0; i < replays; i++) {
        cudaGraph_t graph = captured(16 + 16 * (i % 4));
        cudaGraphExec_t exec = instantiated(graph);
        MUST(cudaGraphDestroy(graph));
        replay(exec, 2);
        MUST(cudaGraphExecDestroy(exec));
    }
}

static void *capture_in_thread(void *argument)
{
    struct gemms own;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int m = 16 * (1 + (int)(intptr_t)argument);
    MUST(!gemms_open(&own));
    MUST(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 1; i <= 20; i++)
        MUST(gemms_ex(&own, m, 8 * i, 32));
    MUST(cudaStreamEndCapture(own.stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < replays; i++)
        MUST(cudaGraphLaunch(exec, own.stream));
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[4];
    for (intptr_t i = 0; i < 4; i++)
        MUST(pthread_create(&threads[i], NULL, capture_in_thread, (void *)i));
    for (int i = 0; i < 4; i++)
        MUST(pthread_join(threads[i], NULL));
}

/* clang-format off */
static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"eager", run_eager},           {"captured", run_captured},   {"updated", run_updated},
    {"child", run_child},           {"nested", run_nested},       {"forked", run_forked},
    {"twice", run_twice},           {"explicit", run_explicit},   {"set_params", run_set_params},
    {"recreated", run_recreated},   {"unplayed", run_unplayed},   {"threads", run_threads},     {"conditional", run_conditional},
};
/* clang-format on */

int main(int count, char **arguments)
{
    static char one[] = "one_kernel", other[] = "other_kernel";
    for (size_t i = 0; count == 3 && i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(modes[i].name, arguments[1]) != 0)
            continue;
        replays = atoi(arguments[2]);
        __cudaRegisterFunction(NULL, (const char *)one_stub, one, one, -1, NULL, NULL, NULL, NULL, NULL);
        __cudaRegisterFunction(NULL, (const char *)other_stub, other, other, -1, NULL, NULL, NULL, NULL, NULL);
        if (!gemms_open(&gemms)) {
            fprintf(stderr, "no GPU\n");
            return 3;
        }
        modes[i].run();
        MUST(cudaDeviceSynchronize());
        return 0;
    }
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        fprintf(stderr, "e2e_graphs %s REPLAYS\n", modes[i].name);
    return 2;
}
