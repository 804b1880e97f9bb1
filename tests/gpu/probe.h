/* SPDX-License-Identifier: Apache-2.0 */
/* What the questions of the probe share: the GPU by the driver's API and cuBLAS, both by dlopen; a CUPTI client that keeps all
 * it is told; and a line of JSON for each answer. */
#ifndef TESTS_GPU_PROBE_H
#define TESTS_GPU_PROBE_H

#include <cuda.h>
#include <cupti.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- the answer: one JSON object a line ---- */
void answer_begin(const char *question);
void answer_number(const char *key, long long value);
void answer_real(const char *key, double value);
void answer_text(const char *key, const char *value);
void answer_bool(const char *key, bool value);
/* "holds": what rooftap relies on is so. Ends the line. A question without such a claim ends with answer_end(). */
int answer_holds(bool holds);
int answer_end(void);

/* ---- the GPU (probe_gpu.c): exits 77 if there is none ---- */

/* Macros of cuda.h turn cuMemAlloc into cuMemAlloc_v2, so each is bound in the version of the headers. */
#define DRIVER_FUNCTIONS(F)                                                                                            \
    F(cuInit)                                                                                                          \
    F(cuDriverGetVersion)                                                                                              \
    F(cuDeviceGet)                                                                                                     \
    F(cuDeviceGetName)                                                                                                 \
    F(cuDeviceGetAttribute)                                                                                            \
    F(cuDevicePrimaryCtxRetain)                                                                                        \
    F(cuCtxSetCurrent)                                                                                                 \
    F(cuCtxGetDevice)                                                                                                  \
    F(cuCtxSynchronize)                                                                                                \
    F(cuModuleLoadData)                                                                                                \
    F(cuModuleGetFunction)                                                                                             \
    F(cuLaunchKernel)                                                                                                  \
    F(cuMemAlloc)                                                                                                      \
    F(cuMemGetInfo)                                                                                                    \
    F(cuMemsetD8Async)                                                                                                 \
    F(cuStreamCreate)                                                                                                  \
    F(cuStreamSynchronize)                                                                                             \
    F(cuStreamBeginCapture)                                                                                            \
    F(cuStreamEndCapture)                                                                                              \
    F(cuGraphInstantiateWithFlags)                                                                                     \
    F(cuGraphLaunch)                                                                                                   \
    F(cuGraphExecDestroy)                                                                                              \
    F(cuGraphDestroy)                                                                                                  \
    F(cuGraphGetNodes)                                                                                                 \
    F(cuEventCreate)                                                                                                   \
    F(cuEventRecord)                                                                                                   \
    F(cuEventSynchronize)                                                                                              \
    F(cuEventElapsedTime)

struct gpu {
#define F(name) __typeof__(name) *name;
    DRIVER_FUNCTIONS(F)
#undef F
    CUdevice device;
    CUcontext context;
    CUfunction empty; /* a kernel that does nothing */
    CUstream stream;
    bool simulated;
    char name[256];
    int driver_version;
};
extern struct gpu gpu;

void gpu_load(void); /* binds; calls nothing */
void gpu_init(void); /* cuInit, context, stream, kernel */
void gpu_launch(unsigned count);
CUgraph gpu_capture(unsigned kernels);
void gpu_synchronize(void);
bool gemm_open(void);                         /* false: no cuBLAS here */
bool gemm_call(void);                         /* one bf16 GEMM, 512 cubed, on the stream */
void *library_open(const char *const *names); /* first that loads; NULL */

uint64_t monotonic_ns(void);
uint64_t realtime_ns(void);

/* ---- the CUPTI client (probe_cupti.c) ---- */

#define CUPTI_FUNCTIONS(F)                                                                                             \
    F(cuptiGetVersion)                                                                                                 \
    F(cuptiSubscribe)                                                                                                  \
    F(cuptiEnableCallback)                                                                                             \
    F(cuptiEnableDomain)                                                                                               \
    F(cuptiActivityRegisterCallbacks)                                                                                  \
    F(cuptiActivityEnable)                                                                                             \
    F(cuptiActivityDisable)                                                                                            \
    F(cuptiActivityFlushAll)                                                                                           \
    F(cuptiActivityGetNextRecord)                                                                                      \
    F(cuptiActivityGetNumDroppedRecords)                                                                               \
    F(cuptiActivityPushExternalCorrelationId)                                                                          \
    F(cuptiActivityPopExternalCorrelationId)                                                                           \
    F(cuptiGetTimestamp)                                                                                               \
    F(cuptiGetGraphNodeId)

struct cupti_api {
#define F(name) __typeof__(name) *name;
    CUPTI_FUNCTIONS(F)
#undef F
    void *handle;
    CUpti_SubscriberHandle subscriber;
    uint32_t version;
};
extern struct cupti_api cupti;

enum { EVENTS_MAX = 65536, KERNELS_MAX = 65536 };

struct event { /* one callback */
    uint32_t domain, cbid, site, correlation_id;
    int tid;
    uint64_t node_id, original_id; /* of graph node callbacks */
    uint32_t params[16];           /* the first bytes of functionParams of launches */
};
struct kernel {
    uint32_t correlation_id, graph_id, grid[3];
    uint64_t node_id, start_ns, end_ns;
};
struct external {
    uint32_t correlation_id;
    uint64_t id;
};
struct heard { /* everything; counts go on past the arrays */
    struct event *events;
    struct kernel *kernels;
    struct external *externals;
    _Atomic unsigned event_count, kernel_count, external_count;
    _Atomic unsigned buffers, invalid_kernels, api_records, other_records;
    _Atomic int completing_tid;
};
extern struct heard heard;

void cupti_load(void);                     /* dlopen and bind; exits 77 if there is none */
int cupti_subscribe(void);                 /* after cuInit */
int cupti_record(CUpti_ActivityKind kind); /* registers the buffer callbacks at the first kind */
void cupti_callback(CUpti_CallbackDomain domain, uint32_t cbid);
void cupti_launch_callbacks(void);
void cupti_flush(void);
void cupti_forget(void); /* what was heard */
const struct event *event_find(uint32_t domain, uint32_t cbid, uint32_t site, uint32_t correlation_id); /* 0 any */

/* ---- questions ---- */
struct question {
    const char *name;
    const char *asks;
    int (*answer)(void); /* exit status */
};
extern const struct question join_questions[], graph_questions[], cost_questions[];
extern bool probe_quick; /* few repetitions: on the simulator */

#endif
