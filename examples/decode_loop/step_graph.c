/* SPDX-License-Identifier: Apache-2.0 */
/* Captured in the mode that holds for this thread alone, so that other threads of a program may go on. */
#include "step_graph.h"

#include "multiplier.h"

bool step_graph_begin(cudaStream_t stream)
{
    return multiplier_cuda_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                              "cudaStreamBeginCapture");
}

bool step_graph_end(struct step_graph *graph, cudaStream_t stream)
{
    cudaGraph_t captured = NULL;
    if (!multiplier_cuda_ok(cudaStreamEndCapture(stream, &captured), "cudaStreamEndCapture"))
        return false;
    const bool made = multiplier_cuda_ok(cudaGraphInstantiateWithFlags(&graph->executable, captured, 0),
                                         "cudaGraphInstantiateWithFlags");
    return multiplier_cuda_ok(cudaGraphDestroy(captured), "cudaGraphDestroy") && made;
}

bool step_graph_launch(const struct step_graph *graph, cudaStream_t stream)
{
    return multiplier_cuda_ok(cudaGraphLaunch(graph->executable, stream), "cudaGraphLaunch");
}

bool step_graph_close(struct step_graph *graph)
{
    return !graph->executable || multiplier_cuda_ok(cudaGraphExecDestroy(graph->executable), "cudaGraphExecDestroy");
}
