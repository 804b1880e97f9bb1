/* SPDX-License-Identifier: Apache-2.0 */
/* A CUPTI client as a profiler is one, and a program for it to look at; what the cases of this folder share. */
#ifndef TESTS_SIM_CUPTI_CLIENT_H
#define TESTS_SIM_CUPTI_CLIENT_H

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_LIMIT = 200000, CALLBACK_LIMIT = 200000 };

struct seen_record { /* of any kind, copied out of its buffer */
    CUpti_ActivityKind kind;
    uint64_t start, end, graph_node_id, bytes, external_id;
    uint32_t correlation_id, stream, graph_id, external_kind, cbid, thread_id;
    int32_t grid[3];
    const char *name;
};

struct seen_callback {
    CUpti_CallbackDomain domain;
    uint32_t cbid, correlation_id;
    CUpti_ApiCallbackSite site;
    const char *function, *symbol;
    uint64_t correlation_data; /* as found at exit */
    uint64_t node_id, original_node_id;
    uint32_t graph_id, exec_id;
};

struct client {
    struct seen_record *records;
    struct seen_callback *callbacks;
    size_t record_count, callback_count, buffers_requested, buffers_completed;
    size_t buffer_bytes; /* of each buffer given out */
    bool refuse_buffers;
    CUpti_SubscriberHandle subscriber;
};
extern struct client client;

#define CHECK_CUPTI(call) assert_int_equal((call), CUPTI_SUCCESS)
#define CHECK_CUDA(call)  assert_int_equal((call), cudaSuccess)

void client_start(void); /* subscribes and registers buffers of 64 KiB */
void client_stop(void);
size_t client_buffers_completed(void); /* while a worker may be completing one */
size_t client_count(CUpti_ActivityKind kind);
const struct seen_record *client_nth(CUpti_ActivityKind kind, size_t n);
void client_dump_kernels(void); /* into the file named by SIM_CUPTI_RECORDS, if it is set */

/* Launches kernel number WHICH (0 to 2) with GRID blocks. */
cudaError_t program_launch(int which, unsigned grid, cudaStream_t stream);

#endif
