/* SPDX-License-Identifier: Apache-2.0 */
/* A program whose kernels may begin before the one before them has ended: `e2e_programmatic direct|graph COUNT REPLAYS`.
 * COUNT kernels launched so, between two launched plainly; in a graph, replayed REPLAYS times. Checks that what describes a
 * launch is as it was when the launch returns. */
#include "program.h"

#include <string.h>

static void first_stub(void)
{
}

static void chained_stub(void)
{
}

static cudaStream_t stream;

static void launch_plainly(void)
{
    MUST(cudaLaunchKernel((const void *)first_stub, (dim3){3, 1, 1}, (dim3){32, 1, 1}, NULL, 0, stream));
}

static void launch_chained(void)
{
    cudaLaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {
        .gridDim = {5, 1, 1}, .blockDim = {64, 1, 1}, .stream = stream, .attrs = &attribute, .numAttrs = 1};
    const cudaLaunchAttribute attribute_before = attribute;
    const cudaLaunchConfig_t config_before = config;
    MUST(cudaLaunchKernelExC(&config, (const void *)chained_stub, NULL));
    MUST(memcmp(&attribute, &attribute_before, sizeof attribute) || memcmp(&config, &config_before, sizeof config));
}

static void launch_all(int count)
{
    launch_plainly();
    for (int i = 0; i < count; i++)
        launch_chained();
    launch_plainly();
}

static void replay(int count, int replays)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    launch_all(count);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    for (int i = 0; i < replays; i++)
        MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaGraphExecDestroy(exec));
}

int main(int count, char **words)
{
    static char first[] = "_Z5firstv", chained[] = "_Z7chainedv";
    if (count != 4)
        return 2;
    __cudaRegisterFunction(NULL, (const char *)first_stub, first, first, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(NULL, (const char *)chained_stub, chained, chained, -1, NULL, NULL, NULL, NULL, NULL);
    MUST(cudaStreamCreate(&stream));
    if (!strcmp(words[1], "graph"))
        replay(atoi(words[2]), atoi(words[3]));
    else
        launch_all(atoi(words[2]));
    MUST(cudaStreamSynchronize(stream));
    puts("launched as described");
    return 0;
}
