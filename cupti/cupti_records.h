/* SPDX-License-Identifier: Apache-2.0 */
/* The part of CUPTI's activity records that has never moved, from CUDA 11.7 to 13.5: later versions only add behind it, and
 * a library fills the newest form that it knows. Records are walked by cuptiActivityGetNextRecord(), so no size is needed.
 * tests/cupti compares these with the vendor's structs wherever a header is found. */
#ifndef CUPTI_CUPTI_RECORDS_H
#define CUPTI_CUPTI_RECORDS_H

#include <stddef.h>
#include <stdint.h>

struct cupti_record {
    uint32_t kind;
    uint32_t pad;
};

struct cupti_kernel_record { /* CUpti_ActivityKernel5, the prefix of 6 to 13 */
    uint32_t kind;
    uint8_t cache_config, shared_memory_config;
    uint16_t registers_per_thread;
    uint32_t cache_requested, cache_executed;
    uint64_t start_ns, end_ns, completed_ns;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared_bytes, dynamic_shared_bytes;
    uint32_t local_bytes_per_thread, local_bytes;
    uint32_t correlation_id;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued_ns, submitted_ns;
    uint8_t launch_type, carveout_requested, carveout, pad;
    uint32_t shared_memory_executed;
    uint64_t graph_node_id;
    uint32_t shared_limit_config;
    uint32_t graph_id;
};

enum { CUPTI_SOURCE_NODE_OFFSET = 240 }; /* sourceGraphNodeId, where CUPTI_FIELDS_SOURCE_GRAPH is set */

struct cupti_memcpy_record { /* CUpti_ActivityMemcpy5, the prefix of 6 and 7 */
    uint32_t kind;
    uint8_t copy_kind, source_kind, destination_kind, flags;
    uint64_t bytes;
    uint64_t start_ns, end_ns;
    uint32_t device, context, stream;
    uint32_t correlation_id;
    uint32_t runtime_correlation_id;
    uint32_t pad;
    void *reserved;
    uint64_t graph_node_id;
    uint32_t graph_id;
};

struct cupti_memcpy_peer_record { /* CUpti_ActivityMemcpyPtoP4 */
    uint32_t kind;
    uint8_t copy_kind, source_kind, destination_kind, flags;
    uint64_t bytes;
    uint64_t start_ns, end_ns;
    uint32_t device, context, stream;
    uint32_t source_device, source_context, destination_device, destination_context;
    uint32_t correlation_id;
    void *reserved;
    uint64_t graph_node_id;
    uint32_t graph_id;
};

struct cupti_memset_record { /* CUpti_ActivityMemset4, the prefix of 5 */
    uint32_t kind;
    uint32_t value;
    uint64_t bytes;
    uint64_t start_ns, end_ns;
    uint32_t device, context, stream;
    uint32_t correlation_id;
    uint16_t flags, memory_kind;
    uint32_t pad;
    void *reserved;
    uint64_t graph_node_id;
    uint32_t graph_id;
};

struct cupti_external_record { /* CUpti_ActivityExternalCorrelation */
    uint32_t kind;
    uint32_t external_kind;
    uint64_t external_id;
    uint32_t correlation_id;
    uint32_t reserved;
};

struct cupti_graph_trace_record { /* CUpti_ActivityGraphTrace, the prefix of 2 */
    uint32_t kind;
    uint32_t correlation_id;
    uint64_t start_ns, end_ns;
    uint32_t device, graph_id, context, stream;
    void *reserved;
};

/* Offsets as the debug information of libcupti's 17 releases from 11.7 to 13.5 has them. */
/* clang-format off */
#define CUPTI_AT(record, field, offset) _Static_assert(offsetof(struct record, field) == (offset), #record "." #field)
CUPTI_AT(cupti_kernel_record, registers_per_thread, 6);   CUPTI_AT(cupti_kernel_record, start_ns, 16);
CUPTI_AT(cupti_kernel_record, end_ns, 24);                CUPTI_AT(cupti_kernel_record, device, 40);
CUPTI_AT(cupti_kernel_record, context, 44);               CUPTI_AT(cupti_kernel_record, stream, 48);
CUPTI_AT(cupti_kernel_record, grid, 52);                  CUPTI_AT(cupti_kernel_record, block, 64);
CUPTI_AT(cupti_kernel_record, static_shared_bytes, 76);   CUPTI_AT(cupti_kernel_record, dynamic_shared_bytes, 80);
CUPTI_AT(cupti_kernel_record, correlation_id, 92);        CUPTI_AT(cupti_kernel_record, name, 104);
CUPTI_AT(cupti_kernel_record, launch_type, 136);          CUPTI_AT(cupti_kernel_record, graph_node_id, 144);
CUPTI_AT(cupti_kernel_record, graph_id, 156);             _Static_assert(sizeof(struct cupti_kernel_record) == 160, "");
CUPTI_AT(cupti_memcpy_record, copy_kind, 4);              CUPTI_AT(cupti_memcpy_record, bytes, 8);
CUPTI_AT(cupti_memcpy_record, start_ns, 16);              CUPTI_AT(cupti_memcpy_record, device, 32);
CUPTI_AT(cupti_memcpy_record, stream, 40);                CUPTI_AT(cupti_memcpy_record, correlation_id, 44);
CUPTI_AT(cupti_memcpy_record, graph_node_id, 64);         CUPTI_AT(cupti_memcpy_record, graph_id, 72);
CUPTI_AT(cupti_memcpy_peer_record, correlation_id, 60);   CUPTI_AT(cupti_memcpy_peer_record, graph_node_id, 72);
CUPTI_AT(cupti_memcpy_peer_record, graph_id, 80);
CUPTI_AT(cupti_memset_record, bytes, 8);                  CUPTI_AT(cupti_memset_record, start_ns, 16);
CUPTI_AT(cupti_memset_record, stream, 40);                CUPTI_AT(cupti_memset_record, correlation_id, 44);
CUPTI_AT(cupti_memset_record, graph_node_id, 64);         CUPTI_AT(cupti_memset_record, graph_id, 72);
CUPTI_AT(cupti_external_record, external_id, 8);          CUPTI_AT(cupti_external_record, correlation_id, 16);
CUPTI_AT(cupti_graph_trace_record, correlation_id, 4);    CUPTI_AT(cupti_graph_trace_record, start_ns, 8);
CUPTI_AT(cupti_graph_trace_record, device, 24);           CUPTI_AT(cupti_graph_trace_record, graph_id, 28);
CUPTI_AT(cupti_graph_trace_record, context, 32);          CUPTI_AT(cupti_graph_trace_record, stream, 36);
#undef CUPTI_AT
/* clang-format on */

#endif
