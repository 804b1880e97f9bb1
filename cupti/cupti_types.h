/* SPDX-License-Identifier: Apache-2.0 */
/* The few constants and structs of CUPTI's callback side that we use, our own declarations. All have kept their value and
 * layout from CUDA 11.7 to 13.5; tests/cupti compares them with the vendor's headers where these are found. */
#ifndef CUPTI_CUPTI_TYPES_H
#define CUPTI_CUPTI_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
enum cupti_result {
    CUPTI_OK = 0,
    CUPTI_INVALID_PARAMETER = 1,
    CUPTI_MAX_LIMIT_REACHED = 12,
    CUPTI_NOT_COMPATIBLE = 14,
    CUPTI_NOT_INITIALIZED = 15,
    CUPTI_HARDWARE_BUSY = 26,
    CUPTI_NOT_SUPPORTED = 27,
    CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED = 33,
    CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
    CUPTI_UNKNOWN = 999,
};

enum cupti_domain { CUPTI_DOMAIN_DRIVER_API = 1, CUPTI_DOMAIN_RUNTIME_API = 2, CUPTI_DOMAIN_RESOURCE = 3 };
enum cupti_site { CUPTI_SITE_ENTER = 0, CUPTI_SITE_EXIT = 1 };

enum cupti_kind {
    CUPTI_KIND_MEMCPY = 1,
    CUPTI_KIND_MEMSET = 2,
    CUPTI_KIND_KERNEL = 3,
    CUPTI_KIND_DRIVER = 4,
    CUPTI_KIND_CONCURRENT_KERNEL = 10,
    CUPTI_KIND_MEMCPY2 = 22,
    CUPTI_KIND_EXTERNAL_CORRELATION = 39,
    CUPTI_KIND_GRAPH_TRACE = 51,
};

/* Kineto pushes CUSTOM0 and CUSTOM1; this one is free. */
enum cupti_external_kind { CUPTI_EXTERNAL_CUSTOM2 = 5 };

/* Driver entry points that put kernels on the GPU: each is announced once, on the launching thread, whatever library or
 * runtime it came through. */
enum cupti_driver_cbid {
    CUPTI_CBID_cuLaunchKernel = 307,            CUPTI_CBID_cuLaunchKernel_ptsz = 442,
    CUPTI_CBID_cuLaunchCooperativeKernel = 477, CUPTI_CBID_cuLaunchCooperativeKernel_ptsz = 478,
    CUPTI_CBID_cuLaunchKernelEx = 652,          CUPTI_CBID_cuLaunchKernelEx_ptsz = 653,
    CUPTI_CBID_cuGraphLaunch = 514,             CUPTI_CBID_cuGraphLaunch_ptsz = 515,
};

/* Calls that make executables of graphs and change them. The runtime's make the driver's inside, with the same correlation
 * id, but no document promises that. */
enum cupti_graph_cbid {
    CUPTI_CBID_cuGraphInstantiate = 513,           CUPTI_CBID_cuGraphInstantiate_v2 = 578,
    CUPTI_CBID_cuGraphInstantiateWithFlags = 643,
    CUPTI_CBID_cuGraphInstantiateWithParams = 656, CUPTI_CBID_cuGraphInstantiateWithParams_ptsz = 657,
    CUPTI_CBID_cuGraphExecUpdate = 561,            CUPTI_CBID_cuGraphExecUpdate_v2 = 696,
    CUPTI_CBID_cuGraphExecKernelNodeSetParams = 538, CUPTI_CBID_cuGraphExecKernelNodeSetParams_v2 = 692,
    CUPTI_CBID_cuGraphExecNodeSetParams = 714,
};
enum cupti_runtime_cbid {
    CUPTI_CBID_cudaGraphInstantiate_v10000 = 310,  CUPTI_CBID_cudaGraphInstantiate_v12000 = 443,
    CUPTI_CBID_cudaGraphInstantiateWithFlags = 418,
    CUPTI_CBID_cudaGraphInstantiateWithParams = 436, CUPTI_CBID_cudaGraphInstantiateWithParams_ptsz = 437,
    CUPTI_CBID_cudaGraphExecUpdate = 335,
    CUPTI_CBID_cudaGraphExecKernelNodeSetParams = 326, CUPTI_CBID_cudaGraphExecNodeSetParams = 447,
};

enum cupti_resource_cbid {
    CUPTI_CBID_GRAPHNODE_CREATED = 13,
    CUPTI_CBID_GRAPHNODE_DESTROY_STARTING = 14,
    CUPTI_CBID_GRAPHEXEC_DESTROY_STARTING = 19,
    CUPTI_CBID_GRAPHNODE_CLONED = 20,
    CUPTI_CBID_GRAPH_NODE_UPDATED = 22, /* from CUDA 13.0 */
};

/* CUgraphNodeType: kernels, and those whose nodes lie in a graph of their own. */
enum cupti_node_type { CUPTI_NODE_KERNEL = 0, CUPTI_NODE_GRAPH = 4, CUPTI_NODE_CONDITIONAL = 13 };
/* clang-format on */

struct cupti_callback_data {
    uint32_t callback_site;
    const char *function_name;
    const void *function_params;
    void *function_return_value;
    const char *symbol_name;
    void *context;
    uint32_t context_uid;
    uint64_t *correlation_data;
    uint32_t correlation_id;
};
_Static_assert(offsetof(struct cupti_callback_data, correlation_id) == 64, "correlationId");
_Static_assert(sizeof(struct cupti_callback_data) == 72, "callback data");

struct cupti_graph_data { /* CUpti_GraphData */
    void *graph, *original_graph;
    void *node, *original_node;
    uint32_t node_type;
    void *dependency;
    void *graph_exec;
};
struct cupti_resource_data { /* CUpti_ResourceData */
    void *context;
    void *handle;
    const struct cupti_graph_data *graph;
};
_Static_assert(offsetof(struct cupti_graph_data, node_type) == 32, "nodeType");
_Static_assert(offsetof(struct cupti_graph_data, graph_exec) == 48, "graphExec");
_Static_assert(sizeof(struct cupti_graph_data) == 56 && sizeof(struct cupti_resource_data) == 24, "resource data");

struct cupti_graph_update_params { /* what all forms of cuGraphExecUpdate's and cudaGraphExecUpdate's begin with */
    void *exec, *graph;
};

struct cupti_graph_instantiate_params { /* the same of cuGraphInstantiate's and cudaGraphInstantiate's */
    void **exec;
    void *graph;
};
struct cupti_graph_launch_params { /* cuGraphLaunch's */
    void *exec, *stream;
};

typedef void cupti_callback(void *user, int domain, uint32_t cbid, const void *data);
typedef void cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid_size);
/* Those of a subscriber of its own; the last argument tells of the buffer. */
typedef void cupti_buffer_requested_v2(uint8_t **buffer, size_t *size, size_t *max_records, void *info);
typedef void cupti_buffer_completed_v2(uint8_t *buffer, size_t size, size_t valid_size, void *info);

#endif
