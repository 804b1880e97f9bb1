/* SPDX-License-Identifier: Apache-2.0 */
/* A step that is captured once and then replayed, as engines decode. */
#ifndef EXAMPLES_DECODE_LOOP_STEP_GRAPH_H
#define EXAMPLES_DECODE_LOOP_STEP_GRAPH_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

struct step_graph {
    cudaGraphExec_t executable; /* NULL: nothing was captured yet */
};

/* All report a failure on standard error and return false. Between begin and end the stream must only be given work. */
bool step_graph_begin(cudaStream_t stream);
bool step_graph_end(struct step_graph *graph, cudaStream_t stream);
bool step_graph_launch(const struct step_graph *graph, cudaStream_t stream);
bool step_graph_close(struct step_graph *graph);

#endif
