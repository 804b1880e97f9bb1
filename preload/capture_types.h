/* SPDX-License-Identifier: Apache-2.0 */
/* The vendor types of graphs that the wrappers of capture_calls.def need, as cublas_types.h has those of calls. */
#ifndef PRELOAD_CAPTURE_TYPES_H
#define PRELOAD_CAPTURE_TYPES_H

#include "preload/cublas_types.h"

#ifndef PRELOAD_VENDOR_HEADERS
typedef struct CUgraph_st *cudaGraph_t, *CUgraph;
typedef struct CUgraphNode_st *cudaGraphNode_t, *CUgraphNode;
typedef struct CUgraphExec_st *cudaGraphExec_t, *CUgraphExec;
typedef int CUstreamCaptureMode;
typedef int CUgraphExecUpdateResult;
typedef struct cudaGraphEdgeData_st cudaGraphEdgeData;
typedef struct CUgraphEdgeData_st CUgraphEdgeData;
typedef struct cudaGraphInstantiateParams_st cudaGraphInstantiateParams;
typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS_st CUDA_GRAPH_INSTANTIATE_PARAMS;
typedef struct CUgraphExecUpdateResultInfo_st CUgraphExecUpdateResultInfo;
enum cudaStreamCaptureMode { VENDOR_CAPTURE_GLOBAL = 0 };
struct cudaKernelNodeParams {
    void *func;
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams, **extra;
};
struct cudaGraphNodeParams { /* CUgraphNodeParams lies alike */
    int type;
    int reserved0[3];
    struct cudaKernelNodeParams kernel; /* the first part of all its forms */
};
typedef struct CUDA_KERNEL_NODE_PARAMS_st {
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;
typedef struct CUDA_KERNEL_NODE_PARAMS_v2_st {
    CUDA_KERNEL_NODE_PARAMS_v1 first;
    void *kern, *ctx;
} CUDA_KERNEL_NODE_PARAMS;
typedef struct cudaGraphNodeParams CUgraphNodeParams;

/* What any version has behind the first arguments. */
#define CAPTURE_REST_3   uintptr_t rest1, uintptr_t rest2, uintptr_t rest3
#define CAPTURE_PASS_3   rest1, rest2, rest3
#define CAPTURE_REST_2   uintptr_t rest1, uintptr_t rest2
#define CAPTURE_PASS_2   rest1, rest2
#define CAPTURE_ADD_REST uintptr_t rest1, uintptr_t rest2, uintptr_t rest3
#define CAPTURE_ADD_PASS rest1, rest2, rest3
#else /* 12's and 13's */
#define CAPTURE_REST_3 unsigned long long rest1
#define CAPTURE_REST_2 cudaGraphExecUpdateResultInfo *rest1
#if CUDART_VERSION >= 13000
#define CAPTURE_ADD_REST const cudaGraphEdgeData *rest1, size_t rest2, struct cudaGraphNodeParams *rest3
#else
#define CAPTURE_ADD_REST size_t rest1, struct cudaGraphNodeParams *rest2
#endif
#endif

enum vendor_node_type { VENDOR_NODE_KERNEL = 0, VENDOR_NODE_CHILD = 4, VENDOR_NODE_CONDITIONAL = 13 };

#endif
