/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations against the vendor's headers, by the compiler. Built wherever a toolkit or a header package is found; that
 * it builds is the test. Newer headers keep the older record structs, so the prefix is compared with each that is there. */
#include <cupti.h>
#include <stddef.h>
#include <stdio.h>

#include "cupti/cupti_records.h"
#include "cupti/cupti_types.h"

/* clang-format off */
#define SAME(ours, field, theirs, their_field)                                                                         \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field), #theirs "." #their_field " moved");   \
    _Static_assert(sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->their_field),                            \
                   #theirs "." #their_field " has another size")
#define AT(ours, field, theirs, their_field)                                                                           \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field), #theirs "." #their_field " moved")

#define KERNEL(theirs)                                                                                                 \
    SAME(cupti_kernel_record, kind, theirs, kind);                                                                     \
    SAME(cupti_kernel_record, registers_per_thread, theirs, registersPerThread);                                       \
    SAME(cupti_kernel_record, start_ns, theirs, start);                                                                \
    SAME(cupti_kernel_record, end_ns, theirs, end);                                                                    \
    SAME(cupti_kernel_record, completed_ns, theirs, completed);                                                        \
    SAME(cupti_kernel_record, device, theirs, deviceId);                                                               \
    SAME(cupti_kernel_record, context, theirs, contextId);                                                             \
    SAME(cupti_kernel_record, stream, theirs, streamId);                                                               \
    AT(cupti_kernel_record, grid[0], theirs, gridX);                                                                   \
    AT(cupti_kernel_record, grid[1], theirs, gridY);                                                                   \
    AT(cupti_kernel_record, grid[2], theirs, gridZ);                                                                   \
    AT(cupti_kernel_record, block[0], theirs, blockX);                                                                 \
    AT(cupti_kernel_record, block[1], theirs, blockY);                                                                 \
    AT(cupti_kernel_record, block[2], theirs, blockZ);                                                                 \
    SAME(cupti_kernel_record, static_shared_bytes, theirs, staticSharedMemory);                                        \
    SAME(cupti_kernel_record, dynamic_shared_bytes, theirs, dynamicSharedMemory);                                      \
    SAME(cupti_kernel_record, local_bytes_per_thread, theirs, localMemoryPerThread);                                   \
    SAME(cupti_kernel_record, correlation_id, theirs, correlationId);                                                  \
    SAME(cupti_kernel_record, grid_id, theirs, gridId);                                                                \
    SAME(cupti_kernel_record, name, theirs, name);                                                                     \
    SAME(cupti_kernel_record, queued_ns, theirs, queued);                                                              \
    SAME(cupti_kernel_record, launch_type, theirs, launchType);                                                        \
    SAME(cupti_kernel_record, graph_node_id, theirs, graphNodeId);                                                     \
    SAME(cupti_kernel_record, graph_id, theirs, graphId);                                                              \
    _Static_assert(sizeof(struct cupti_kernel_record) <= sizeof(theirs), #theirs " is shorter than the prefix")

#define MEMCPY(theirs)                                                                                                 \
    SAME(cupti_memcpy_record, copy_kind, theirs, copyKind);                                                            \
    SAME(cupti_memcpy_record, bytes, theirs, bytes);                                                                   \
    SAME(cupti_memcpy_record, start_ns, theirs, start);                                                                \
    SAME(cupti_memcpy_record, end_ns, theirs, end);                                                                    \
    SAME(cupti_memcpy_record, device, theirs, deviceId);                                                               \
    SAME(cupti_memcpy_record, stream, theirs, streamId);                                                               \
    SAME(cupti_memcpy_record, correlation_id, theirs, correlationId);                                                  \
    SAME(cupti_memcpy_record, graph_node_id, theirs, graphNodeId);                                                     \
    SAME(cupti_memcpy_record, graph_id, theirs, graphId)

#define MEMSET(theirs)                                                                                                 \
    SAME(cupti_memset_record, bytes, theirs, bytes);                                                                   \
    SAME(cupti_memset_record, start_ns, theirs, start);                                                                \
    SAME(cupti_memset_record, end_ns, theirs, end);                                                                    \
    SAME(cupti_memset_record, device, theirs, deviceId);                                                               \
    SAME(cupti_memset_record, stream, theirs, streamId);                                                               \
    SAME(cupti_memset_record, correlation_id, theirs, correlationId);                                                  \
    SAME(cupti_memset_record, graph_node_id, theirs, graphNodeId);                                                     \
    SAME(cupti_memset_record, graph_id, theirs, graphId)

KERNEL(CUpti_ActivityKernel5);
KERNEL(CUpti_ActivityKernel6);
KERNEL(CUpti_ActivityKernel7);
MEMCPY(CUpti_ActivityMemcpy5);
MEMSET(CUpti_ActivityMemset4);
#if CUPTI_API_VERSION >= 18
KERNEL(CUpti_ActivityKernel8);
#endif
#if CUPTI_API_VERSION >= 20 /* 12.0 and 12.1 have 9 too, but 11.8's number */
KERNEL(CUpti_ActivityKernel9);
#endif
#if CUPTI_API_VERSION >= 26
MEMCPY(CUpti_ActivityMemcpy6);
#endif
#if CUPTI_API_VERSION >= 130001
KERNEL(CUpti_ActivityKernel10);
#endif
#if CUPTI_API_VERSION >= 130101
KERNEL(CUpti_ActivityKernel11);
#endif
#if CUPTI_API_VERSION >= 130301
KERNEL(CUpti_ActivityKernel12);
#endif
#if CUPTI_API_VERSION >= 130401
KERNEL(CUpti_ActivityKernel13);
MEMCPY(CUpti_ActivityMemcpy7);
MEMSET(CUpti_ActivityMemset5);
#endif

SAME(cupti_memcpy_peer_record, correlation_id, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(cupti_memcpy_peer_record, stream, CUpti_ActivityMemcpyPtoP4, streamId);
SAME(cupti_memcpy_peer_record, graph_node_id, CUpti_ActivityMemcpyPtoP4, graphNodeId);
SAME(cupti_memcpy_peer_record, graph_id, CUpti_ActivityMemcpyPtoP4, graphId);
SAME(cupti_external_record, external_kind, CUpti_ActivityExternalCorrelation, externalKind);
SAME(cupti_external_record, external_id, CUpti_ActivityExternalCorrelation, externalId);
SAME(cupti_external_record, correlation_id, CUpti_ActivityExternalCorrelation, correlationId);
SAME(cupti_graph_trace_record, correlation_id, CUpti_ActivityGraphTrace, correlationId);
SAME(cupti_graph_trace_record, start_ns, CUpti_ActivityGraphTrace, start);
SAME(cupti_graph_trace_record, end_ns, CUpti_ActivityGraphTrace, end);
SAME(cupti_graph_trace_record, device, CUpti_ActivityGraphTrace, deviceId);
SAME(cupti_graph_trace_record, graph_id, CUpti_ActivityGraphTrace, graphId);
SAME(cupti_graph_trace_record, context, CUpti_ActivityGraphTrace, contextId);
SAME(cupti_graph_trace_record, stream, CUpti_ActivityGraphTrace, streamId);
#if CUPTI_API_VERSION >= 21
SAME(cupti_graph_trace_record, end_ns, CUpti_ActivityGraphTrace2, end);
SAME(cupti_graph_trace_record, graph_id, CUpti_ActivityGraphTrace2, graphId);
SAME(cupti_graph_trace_record, stream, CUpti_ActivityGraphTrace2, streamId);
#endif
SAME(cupti_callback_data, callback_site, CUpti_CallbackData, callbackSite);
SAME(cupti_callback_data, function_name, CUpti_CallbackData, functionName);
SAME(cupti_callback_data, function_params, CUpti_CallbackData, functionParams);
SAME(cupti_callback_data, symbol_name, CUpti_CallbackData, symbolName);
SAME(cupti_callback_data, context, CUpti_CallbackData, context);
SAME(cupti_callback_data, correlation_data, CUpti_CallbackData, correlationData);
SAME(cupti_callback_data, correlation_id, CUpti_CallbackData, correlationId);
SAME(cupti_callback_data, function_return_value, CUpti_CallbackData, functionReturnValue);
SAME(cupti_graph_data, graph, CUpti_GraphData, graph);
SAME(cupti_graph_data, original_graph, CUpti_GraphData, originalGraph);
SAME(cupti_graph_data, node, CUpti_GraphData, node);
SAME(cupti_graph_data, original_node, CUpti_GraphData, originalNode);
SAME(cupti_graph_data, node_type, CUpti_GraphData, nodeType);
SAME(cupti_graph_data, graph_exec, CUpti_GraphData, graphExec);
SAME(cupti_resource_data, context, CUpti_ResourceData, context);
SAME(cupti_resource_data, handle, CUpti_ResourceData, resourceHandle);
SAME(cupti_resource_data, graph, CUpti_ResourceData, resourceDescriptor);
#if CUPTI_API_VERSION >= 130401
_Static_assert(offsetof(CUpti_ActivityKernel13, sourceGraphNodeId) == CUPTI_SOURCE_NODE_OFFSET, "sourceGraphNodeId");
#endif

#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
VALUE(CUPTI_OK, CUPTI_SUCCESS);
VALUE(CUPTI_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
VALUE(CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
VALUE(CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
VALUE(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
VALUE(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
VALUE(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
VALUE(CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
VALUE(CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VALUE(CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN);
VALUE(CUPTI_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(CUPTI_SITE_ENTER, CUPTI_API_ENTER);
VALUE(CUPTI_SITE_EXIT, CUPTI_API_EXIT);
VALUE(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(CUPTI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
VALUE(CUPTI_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
VALUE(CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(CUPTI_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
VALUE(CUPTI_EXTERNAL_CUSTOM2, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2);
VALUE(CUPTI_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
VALUE(CUPTI_CBID_cuLaunchKernel_ptsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
VALUE(CUPTI_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
VALUE(CUPTI_CBID_cuLaunchKernelEx_ptsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);
VALUE(CUPTI_CBID_cuLaunchCooperativeKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
VALUE(CUPTI_CBID_cuLaunchCooperativeKernel_ptsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
VALUE(CUPTI_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RUNTIME_API);
VALUE(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
VALUE(CUPTI_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
VALUE(CUPTI_CBID_cuGraphInstantiate, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate);
VALUE(CUPTI_CBID_cuGraphInstantiate_v2, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate_v2);
VALUE(CUPTI_CBID_cuGraphInstantiateWithFlags, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags);
VALUE(CUPTI_CBID_cuGraphExecUpdate, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate);
VALUE(CUPTI_CBID_cudaGraphInstantiate_v10000, CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v10000);
VALUE(CUPTI_CBID_cudaGraphInstantiateWithFlags, CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiateWithFlags_v11040);
VALUE(CUPTI_CBID_cudaGraphExecUpdate, CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecUpdate_v10020);
VALUE(CUPTI_CBID_cuGraphExecKernelNodeSetParams, CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams);
VALUE(CUPTI_CBID_cudaGraphExecKernelNodeSetParams, CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecKernelNodeSetParams_v10010);
VALUE(CUPTI_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL);
#if CUPTI_API_VERSION >= 20
VALUE(CUPTI_CBID_cuGraphExecKernelNodeSetParams_v2, CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2);
VALUE(CUPTI_CBID_cuGraphExecNodeSetParams, CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams);
VALUE(CUPTI_CBID_cudaGraphExecNodeSetParams, CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecNodeSetParams_v12020);
VALUE(CUPTI_CBID_cuGraphInstantiateWithParams, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams);
VALUE(CUPTI_CBID_cuGraphInstantiateWithParams_ptsz, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz);
VALUE(CUPTI_CBID_cuGraphExecUpdate_v2, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2);
VALUE(CUPTI_CBID_cudaGraphInstantiate_v12000, CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v12000);
VALUE(CUPTI_CBID_cudaGraphInstantiateWithParams, CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiateWithParams_v12000);
VALUE(CUPTI_CBID_cudaGraphInstantiateWithParams_ptsz, CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiateWithParams_ptsz_v12000);
#endif
VALUE(CUPTI_CBID_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
VALUE(CUPTI_CBID_GRAPHNODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
VALUE(CUPTI_CBID_GRAPHNODE_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
VALUE(CUPTI_CBID_GRAPHEXEC_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
#if CUPTI_API_VERSION >= 130001
VALUE(CUPTI_CBID_GRAPH_NODE_UPDATED, CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED);
VALUE(CUPTI_NODE_CONDITIONAL, CU_GRAPH_NODE_TYPE_CONDITIONAL);
#endif
VALUE(CUPTI_NODE_GRAPH, CU_GRAPH_NODE_TYPE_GRAPH);
VALUE(CUPTI_CBID_cuGraphLaunch_ptsz, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz);

/* Each function that we look up is one of theirs. */
#define FUNCTION(name, needed, parameters) { #name, sizeof(&name) },
static const struct { const char *name; size_t pointer_bytes; } functions[] = {
#include "cupti/cupti_functions.def"
#if CUPTI_API_VERSION >= 130301
#include "cupti/shared_functions.def"
#endif
};
#undef FUNCTION
/* clang-format on */

int main(void)
{
    printf("CUPTI_API_VERSION %d: %zu functions declared, records and constants agree\n", (int)CUPTI_API_VERSION,
           sizeof functions / sizeof *functions);
    return 0;
}
