/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: what a node's kernel says of itself, when nodes are announced, and whether long replays stay healthy. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/gpu/probe.h"

enum { NODES = 3, REPLAYS = 4, ENTER = CUPTI_API_ENTER };

static void start(void)
{
    gpu_load();
    cupti_load();
    gpu_init();
    int result = cupti_subscribe();
    if (result == 0)
        result = cupti_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    if (result) {
        fprintf(stderr, "probe: CUPTI refused with %d\n", result);
        exit(1);
    }
    cupti_launch_callbacks();
    cupti_callback(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
    cupti_callback(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
}

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec = NULL;
    if (gpu.cuGraphInstantiateWithFlags(&exec, graph, 0) != CUDA_SUCCESS)
        exit(1);
    return exec;
}

static void replay(CUgraphExec exec, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        gpu.cuGraphLaunch(exec, gpu.stream);
    gpu_synchronize();
    cupti_flush();
}

static bool ids_of_graph(CUgraph graph, uint64_t ids[NODES])
{
    CUgraphNode nodes[NODES];
    size_t count = NODES;
    if (gpu.cuGraphGetNodes(graph, nodes, &count) != CUDA_SUCCESS || count != NODES)
        return false;
    for (unsigned i = 0; i < NODES; i++)
        if (cupti.cuptiGetGraphNodeId(nodes[i], &ids[i]) != CUPTI_SUCCESS)
            return false;
    return true;
}

static int graph_records(void)
{
    uint64_t captured[NODES] = {0};
    start();
    CUgraph graph = gpu_capture(NODES);
    CUgraphExec exec = instantiate(graph);
    bool ids = ids_of_graph(graph, captured);
    cupti_forget();
    replay(exec, REPLAYS);
    unsigned launch_ids = 0, same_low = 0, high_is_graph = 0, graph_set = 0;
    for (unsigned i = 0; i < heard.kernel_count; i++) {
        const struct kernel *k = &heard.kernels[i];
        launch_ids += event_find(CUPTI_CB_DOMAIN_DRIVER_API, 514, ENTER, k->correlation_id) != NULL;
        graph_set += k->graph_id != 0;
        high_is_graph += k->node_id >> 32 == k->graph_id;
        for (unsigned n = 0; ids && n < NODES; n++)
            same_low += (uint32_t)captured[n] == (uint32_t)k->node_id;
    }
    uint32_t first_graph = heard.kernels[0].graph_id;
    bool captured_high_is_exec = ids && captured[0] >> 32 == first_graph;
    gpu.cuGraphExecDestroy(exec);
    exec = instantiate(graph);
    unsigned before = heard.kernel_count;
    replay(exec, 1);
    answer_begin("graph_records");
    answer_number("kernels", before);
    answer_number("expected_kernels", NODES * REPLAYS);
    answer_number("correlation_is_graph_launch", launch_ids);
    answer_number("graph_id_set", graph_set);
    answer_number("node_id_high_word_is_graph_id", high_is_graph);
    answer_number("node_id_low_word_as_captured", same_low);
    answer_bool("captured_id_names_the_exec", captured_high_is_exec);
    answer_bool("graph_id_reused_after_destroy",
                heard.kernel_count > before && heard.kernels[before].graph_id == first_graph);
    return answer_holds(before == NODES * REPLAYS && launch_ids == before && graph_set == before);
}

static int graph_callbacks(void)
{
    start();
    cupti_forget();
    CUgraph graph = gpu_capture(NODES);
    unsigned created = 0, inside_launch = 0, own_thread = 0, depth = 0;
    uint64_t created_ids[NODES] = {0};
    for (unsigned i = 0; i < heard.event_count; i++) {
        const struct event *e = &heard.events[i];
        if (e->domain == CUPTI_CB_DOMAIN_DRIVER_API)
            depth = e->site == ENTER;
        if (e->domain != CUPTI_CB_DOMAIN_RESOURCE || e->cbid != CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)
            continue;
        if (created < NODES)
            created_ids[created] = e->node_id;
        created++;
        inside_launch += depth;
        own_thread += e->tid == (int)syscall(SYS_gettid);
    }
    cupti_forget();
    instantiate(graph);
    unsigned cloned = 0, with_original = 0;
    for (unsigned i = 0; i < heard.event_count; i++) {
        const struct event *e = &heard.events[i];
        if (e->domain != CUPTI_CB_DOMAIN_RESOURCE || e->cbid != CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
            continue;
        cloned++;
        for (unsigned n = 0; n < NODES; n++)
            with_original += e->original_id && e->original_id == created_ids[n];
    }
    answer_begin("graph_callbacks");
    answer_number("captured_nodes", NODES);
    answer_number("created", created);
    answer_number("created_inside_the_launch", inside_launch);
    answer_number("created_on_the_capturing_thread", own_thread);
    answer_number("cloned_at_instantiate", cloned);
    answer_number("cloned_with_a_captured_original", with_original);
    return answer_end();
}

static void replay_for(CUgraphExec exec, uint64_t for_ns, bool flush, const char *tag)
{
    char key[64];
    size_t free_before = 0, free_after = 0, total = 0, dropped = 0;
    gpu_synchronize();
    cupti_flush();
    cupti_forget();
    gpu.cuMemGetInfo(&free_before, &total);
    uint64_t until = monotonic_ns() + for_ns, flush_at = monotonic_ns();
    unsigned long launches = 0;
    while (monotonic_ns() < until) {
        for (unsigned i = 0; i < 50; i++, launches++)
            gpu.cuGraphLaunch(exec, gpu.stream);
        gpu_synchronize();
        if (flush && monotonic_ns() > flush_at) {
            cupti.cuptiActivityFlushAll(0);
            flush_at = monotonic_ns() + 200000000;
        }
    }
    gpu.cuMemGetInfo(&free_after, &total);
    cupti_flush();
    cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
    snprintf(key, sizeof key, "%s_kernels", tag), answer_number(key, heard.kernel_count);
    snprintf(key, sizeof key, "%s_launches", tag), answer_number(key, (long long)launches);
    snprintf(key, sizeof key, "%s_invalid", tag), answer_number(key, heard.invalid_kernels);
    snprintf(key, sizeof key, "%s_dropped", tag), answer_number(key, (long long)dropped);
    snprintf(key, sizeof key, "%s_device_bytes_grown", tag);
    answer_number(key, (long long)free_before - (long long)free_after);
}

/* Do long replays with only kernels recorded eat device memory, and do copies or flushing help? */
static int replay_memory(void)
{
    enum { LONG_GRAPH = 200 };
    uint64_t each_ns = probe_quick ? 200000000ull : 20000000000ull;
    start();
    CUgraph graph = gpu_capture(LONG_GRAPH);
    CUgraphExec exec = instantiate(graph);
    answer_begin("replay_memory");
    replay_for(exec, each_ns, false, "kernels_only");
    replay_for(exec, each_ns, true, "flushed");
    cupti_record(CUPTI_ACTIVITY_KIND_MEMCPY);
    cupti_record(CUPTI_ACTIVITY_KIND_MEMSET);
    replay_for(exec, each_ns, true, "with_copies");
    return answer_end();
}

const struct question graph_questions[] = {
    {"graph_records", "what a graph's kernel records say, and whether ids are reused", graph_records},
    {"graph_callbacks", "when nodes are announced, on which thread, with which original", graph_callbacks},
    {"replay_memory", "whether long replays grow device memory or lose timestamps", replay_memory},
    {NULL, NULL, NULL},
};
