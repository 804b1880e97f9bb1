/* SPDX-License-Identifier: Apache-2.0 */
/* The vendor types and prototypes of calls about graphs, as vendor_launch.c has those of launches. The headers give some of
 * the names to newer forms: here each stands for itself. */
#ifdef PRELOAD_VENDOR_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#undef cuStreamBeginCapture
#undef cuStreamBeginCaptureToGraph
#undef cuStreamEndCapture
#undef cuGraphInstantiate
#undef cuGraphInstantiateWithParams
#undef cuGraphExecUpdate
#undef cuGraphLaunch
#undef cuGraphAddKernelNode
#undef cuGraphAddNode
#undef cuGraphKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams
#undef cudaStreamBeginCapture
#undef cudaStreamBeginCaptureToGraph
#undef cudaStreamEndCapture
#undef cudaGraphInstantiateWithParams
#undef cudaGraphLaunch
#define ROWS vendor_rows
#else
#define ROWS our_rows
#endif
#include "preload/capture_types.h"
#include "tests/preload/vendor_compare.h"

const struct vendor_row ROWS[] = {
    SIZE(cudaGraph_t),
    SIZE(CUgraphExec),
    SIZE(CUstreamCaptureMode),
    SIZE(CUgraphExecUpdateResult),
    SIZE(struct cudaKernelNodeParams),
    OFFSET(struct cudaKernelNodeParams, func),
    OFFSET(struct cudaKernelNodeParams, gridDim),
    OFFSET(struct cudaKernelNodeParams, blockDim),
    OFFSET(struct cudaKernelNodeParams, sharedMemBytes),
    OFFSET(CUDA_KERNEL_NODE_PARAMS_v1, func),
    OFFSET(CUDA_KERNEL_NODE_PARAMS_v1, gridDimX),
    OFFSET(CUDA_KERNEL_NODE_PARAMS_v1, blockDimZ),
    OFFSET(CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes),
    OFFSET(struct cudaGraphNodeParams, type),
    OFFSET(struct cudaGraphNodeParams, kernel.func),
    OFFSET(struct cudaGraphNodeParams, kernel.gridDim),
    OFFSET(struct cudaGraphNodeParams, kernel.blockDim),
    OFFSET(struct cudaGraphNodeParams, kernel.sharedMemBytes),
    OFFSET(CUgraphNodeParams, type),
    OFFSET(CUgraphNodeParams, kernel.func),
    {0},
};

#ifdef PRELOAD_VENDOR_HEADERS
SAME(VENDOR_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL);
SAME(VENDOR_NODE_CHILD, CU_GRAPH_NODE_TYPE_GRAPH);
SAME(VENDOR_NODE_CONDITIONAL, CU_GRAPH_NODE_TYPE_CONDITIONAL);
SAME(VENDOR_NODE_KERNEL, cudaGraphNodeTypeKernel);
SAME(VENDOR_NODE_CHILD, cudaGraphNodeTypeGraph);

#define GRAPH(result, missing, symbol, parameters, ...) result symbol parameters;
#include "preload/capture_calls.def"
#endif
