/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated GPU: one core, many front ends. libsimgpu.so holds all state; libcuda, libcudart, libcublas, libcupti and
 * the rest are thin libraries that translate a vendor's interface to the calls below.
 *
 * A kernel does nothing; it occupies its stream for a modelled time. Copies and memsets are real. Every launch and every
 * library call goes to the ledger, apart from anything that CUPTI's front end sees. All functions are thread-safe.
 * Results are CUresult values (the runtime's numbers agree for all that are used here). */
#ifndef SIM_CORE_SIMGPU_H
#define SIM_CORE_SIMGPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMGPU_API __attribute__((visibility("default")))

enum simgpu_result { /* CUresult numbers */
                     SIMGPU_SUCCESS = 0,
                     SIMGPU_INVALID_VALUE = 1,
                     SIMGPU_OUT_OF_MEMORY = 2,
                     SIMGPU_NOT_INITIALIZED = 3,
                     SIMGPU_INVALID_CONTEXT = 201,
                     SIMGPU_INVALID_HANDLE = 400,
                     SIMGPU_NOT_FOUND = 500,
                     SIMGPU_NOT_READY = 600,
                     SIMGPU_LAUNCH_FAILED = 719,
                     SIMGPU_NOT_SUPPORTED = 801,
                     SIMGPU_CAPTURE_UNSUPPORTED = 900,
                     SIMGPU_CAPTURE_INVALIDATED = 901,
                     SIMGPU_CAPTURE_UNJOINED = 904,
                     SIMGPU_CAPTURE_ISOLATION = 905,
                     SIMGPU_INVALID_IMAGE = 200,
                     SIMGPU_FILE_NOT_FOUND = 301,
                     SIMGPU_ILLEGAL_STATE = 401,
                     SIMGPU_HOST_MEMORY_ALREADY_REGISTERED = 712,
                     SIMGPU_HOST_MEMORY_NOT_REGISTERED = 713,
                     SIMGPU_CAPTURE_MERGE = 902,
                     SIMGPU_CAPTURE_UNMATCHED = 903,
                     SIMGPU_CAPTURE_IMPLICIT = 906,
                     SIMGPU_CAPTURED_EVENT = 907,
                     SIMGPU_CAPTURE_WRONG_THREAD = 908,
                     SIMGPU_GRAPH_EXEC_UPDATE_FAILURE = 910,
                     SIMGPU_INVALID_CLUSTER_SIZE = 912,
                     SIMGPU_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
                     SIMGPU_INVALID_CONFIGURATION = 9, /* the runtime's number; the driver says 1 */
};

/* ---- the device: a text file of `key = value` lines, path in SIMGPU_DEVICE; without it the `unit` device ---- */

struct simgpu_peak {
    char path[24];
    double flops_per_second;
}; /* path: bf16 fp16 tf32 fp32 fp64 fp8 int8 fp4 */

/* A kernel that moves FACTOR times its PARAMETER-th (from 0) parameter in bytes, an integer of 8 bytes: its time is
 * startup_ns and the bytes at the device's bandwidth, of which fewer than BLOCKS blocks use their share only. */
struct simgpu_byte_kernel {
    char name[64];
    unsigned parameter;
    double factor;
    unsigned blocks;
};

/* A kernel that sorts or chooses: it writes rows of int32 to where a pointer leads, each with all numbers below LIMIT.
 * POINTER and ROWS, an int that says how many, are numbers of its parameters, from 0. */
struct simgpu_index_kernel {
    char name[64];
    unsigned pointer, rows, limit;
};

struct simgpu_device {
    char name[128];         /* key `name`; programs see "Simulated <name>" */
    uint32_t pci_device_id; /* key pci_device_id, 0x2684 */
    int sm_count, compute_major, compute_minor, clock_khz;
    uint64_t memory_bytes;
    double bytes_per_second;
    struct simgpu_peak peak[16];               /* keys flops_per_second.<path> */
    double gemm_efficiency;                    /* 0.80 */
    uint64_t startup_ns;                       /* 2000 */
    uint64_t other_kernel_ns;                  /* 2000 */
    uint64_t programmatic_overlap_ns;          /* 0; so early a kernel starts whose launch allows it */
    unsigned gemm_tile_m, gemm_tile_n;         /* gemm_tile = 64x64 */
    unsigned gemm_kernels;                     /* 1; 2 adds a split-K reduce kernel after each GEMM */
    bool gemm_nested;                          /* cublas*gemm* reach the GPU by a cublasLtMatmul call through the PLT */
    double gemm_slowdown;                      /* 1; factor on the time of each GEMM's kernel */
    uint64_t gemm_fail_every;                  /* 0: none; N: each Nth GEMM that would launch a kernel fails instead */
    struct simgpu_byte_kernel byte_kernels[4]; /* those with a name */
    struct simgpu_index_kernel index_kernels[4]; /* likewise */
    unsigned graph_iterations;                   /* 3; of each WHILE body of a graph whose condition holds */
    char cupti[8];                               /* the release that CUPTI behaves as; empty: its headers' */
    int driver_version;                          /* 1000 * major + 10 * minor; 0: that of the headers */
    int held_clock_khz;                          /* what NVML reads as the SM clock; 0: clock_khz */
    int power_mw, temperature_c;                 /* what NVML reads; negative: it can't */
    uint64_t throttle_reasons;                   /* what NVML reads: nvmlClocksThrottleReasons bits */
    int memory_bus_bits, l2_bytes;               /* attributes; the memory clock follows from bus and bandwidth */
    int devices;                                 /* 1; so many equal ones are in the machine */
};
enum { SIMGPU_DEVICES_MOST = 8 };
SIMGPU_API const struct simgpu_device *simgpu_device(void);
SIMGPU_API double simgpu_peak_flops(const char *path); /* 0: the device has no such path */

/* ---- faults: SIMGPU_FAULT="cublasGemmEx:14,cudaMalloc:2,cuptiSubscribe:39,..." name:code[:nth] ----
 * Each front end asks at its door; 0: no fault. ":nth" fails only the nth call of that name. "name:block" blocks an hour. */
SIMGPU_API int simgpu_fault(const char *function);
/* Asked by FUNCTION before a GEMM's kernel is launched; true: it is the device's gemm_fail_every-th one of the process. */
SIMGPU_API bool simgpu_gemm_fails(const char *function);

/* Not implemented: says NAME once on standard error (and in the ledger), and the caller returns its NotSupported. */
SIMGPU_API void simgpu_not_supported(const char *name);
/* The same where the user needs to know more: CONSEQUENCE ends the line. */
SIMGPU_API void simgpu_not_supported_because(const char *name, const char *consequence);

/* ---- kernels ---- */

struct simgpu_kernel; /* by name; registered functions, module functions and library-made ones */
SIMGPU_API struct simgpu_kernel *simgpu_kernel_by_name(const char *name); /* made at first use */
SIMGPU_API const char *simgpu_kernel_name(const struct simgpu_kernel *kernel);
/* Parameter sizes and offsets as far as its image or its name tell; -1 count: unknown. */
SIMGPU_API int simgpu_kernel_param_count(struct simgpu_kernel *kernel);
SIMGPU_API bool simgpu_kernel_param(struct simgpu_kernel *kernel, int index, size_t *offset, size_t *size);

struct simgpu_dims {
    unsigned grid[3], block[3], cluster[3];
    size_t shared_bytes;
};

struct simgpu_stream;
/* Handles as programs pass them: NULL and 1 legacy, 2 per-thread (ptds != 0 makes NULL per-thread), else a simgpu_stream. */
SIMGPU_API struct simgpu_stream *simgpu_stream_of(void *handle, int per_thread_default);
SIMGPU_API uint32_t simgpu_stream_id(const struct simgpu_stream *stream);

/* Time of a GEMM-like kernel: max(flops/peak, bytes/bandwidth)/efficiency + startup. */
SIMGPU_API uint64_t simgpu_work_ns(double flops, double bytes, const char *path);

/* Enqueues or, while the stream captures, adds a node. DURATION_NS 0: other_kernel_ns. DRIVER_CBID: which driver launch the
 * CUPTI observer is told of (307 cuLaunchKernel, 652 cuLaunchKernelEx, ...). ARGS: array of parameter addresses or NULL. */
SIMGPU_API int simgpu_launch(struct simgpu_stream *stream, struct simgpu_kernel *kernel, const struct simgpu_dims *dims,
                             void **args, uint64_t duration_ns, uint32_t driver_cbid);

/* ---- the ledger: JSON lines in SIMGPU_LEDGER (a %p in the path becomes the pid); SIMGPU_LEDGER_MODE=aggregate sums ---- */

/* One cuBLAS/cuBLASLt call as made, before anything is done with it: FIELDS is the inside of a JSON object with all
 * arguments ("\"m\":3584,\"n\":1,..."); STATUS what will be returned. Nested calls say nested:true themselves.
 * Kernels launched by this thread between begin and end carry the call's ledger id. */
SIMGPU_API uint64_t simgpu_ledger_call_begin(const char *function);
SIMGPU_API void simgpu_ledger_call_end(uint64_t id, const char *fields, int status);
/* SIMGPU_LEDGER_MODE=api: a line for a call of any function, as it returns. Runtime and driver come by simgpu_api_exit. */
struct simgpu_api_call;
SIMGPU_API void simgpu_ledger_api(const struct simgpu_api_call *call, int64_t status);

/* ---- what the CUPTI front end observes; one observer, set once, never on the path of the ledger ---- */

enum simgpu_domain { SIMGPU_DRIVER_API = 1, SIMGPU_RUNTIME_API = 2 }; /* CUPTI's numbers */

/* One parameter of a function, for the ledger's mode api. CLASS is GCC's __builtin_classify_type, of what a pointer leads to
 * as well, where the function writes one value there. */
struct simgpu_parameter {
    const char *name;
    uint16_t class, bytes, result_class, result_bytes; /* result_bytes 0: no result */
};
#define SIMGPU_PARAMETER(name)                                                                                         \
    {                                                                                                                  \
#name, __builtin_classify_type(name), sizeof(name), 0, 0                                                       \
    }
#define SIMGPU_RESULT(name)                                                                                            \
    {                                                                                                                  \
#name, __builtin_classify_type(name), sizeof(name), __builtin_classify_type(*(name)), sizeof(*(name))          \
    }

struct simgpu_api_call {
    enum simgpu_domain domain;
    uint32_t cbid;
    const char *function;                      /* as CUPTI names it, "cudaMalloc_v3020" */
    const void *params;                        /* the public params struct, or NULL */
    const struct simgpu_parameter *parameters; /* NULL: not told */
    const void *const *passed;                 /* where each argument lies */
    unsigned parameter_count;
    void *return_value;        /* at exit: pointer to the result */
    const char *symbol;        /* launches: kernel name */
    uint32_t correlation_id;   /* a driver call nested in a runtime call has the same */
    uint64_t correlation_data; /* CUPTI's correlationData points here */
    uint64_t start_ns, end_ns;
    void *context;
};

struct simgpu_activity {
    enum {
        SIMGPU_ACTIVITY_KERNEL = 1,
        SIMGPU_ACTIVITY_MEMCPY,
        SIMGPU_ACTIVITY_MEMSET,
        SIMGPU_ACTIVITY_GRAPH /* a launch of an executable as a whole, after all that was in it */
    } kind;
    uint32_t correlation_id, device, context, stream, graph_id;
    uint64_t graph_node_id, source_node_id; /* source: the template's node that it was made or last updated from */
    uint32_t iteration;                     /* of the innermost WHILE around it, from 0 */
    uint64_t start_ns, end_ns;              /* CLOCK_REALTIME based */
    const char *name;                       /* lives as long as the process */
    struct simgpu_dims dims;
    uint64_t bytes;
    int copy_kind;                                             /* CUpti_ActivityMemcpyKind */
    uint32_t from_device, from_context, to_device, to_context; /* of a copy between devices, whose kind is 10 */
    int value;                                                 /* memset */
    int registers;
    size_t static_shared_bytes;
};

enum simgpu_graph_event {
    SIMGPU_GRAPH_CREATED = 1,
    SIMGPU_GRAPH_DESTROYED,
    SIMGPU_NODE_CREATED,
    SIMGPU_NODE_DESTROYED,
    SIMGPU_NODE_CLONED,
    SIMGPU_EXEC_CREATED,
    SIMGPU_EXEC_DESTROYED,
    SIMGPU_GRAPH_CLONED,
    SIMGPU_NODE_UPDATED,   /* node of an executable; original_node: what it became as */
    SIMGPU_NODE_SET_PARAMS /* node of an executable */
};
struct simgpu_graph;
struct simgpu_node;
struct simgpu_exec;
struct simgpu_graph_notice {
    enum simgpu_graph_event event;
    struct simgpu_graph *graph, *original_graph;
    struct simgpu_node *node, *original_node;
    struct simgpu_exec *exec;
    int node_type; /* CUgraphNodeType */
};
SIMGPU_API uint64_t simgpu_node_id(const struct simgpu_node *node);
SIMGPU_API uint32_t simgpu_graph_id(const struct simgpu_graph *graph);
SIMGPU_API uint32_t simgpu_exec_id(const struct simgpu_exec *exec);

/* Contexts, streams and modules; CUPTI's resource domain. Called on the thread that did it, inside the API call. */
enum simgpu_resource_event {
    SIMGPU_INIT_FINISHED = 1,
    SIMGPU_CONTEXT_CREATED,
    SIMGPU_CONTEXT_DESTROYED,
    SIMGPU_STREAM_CREATED,
    SIMGPU_STREAM_DESTROYED,
    SIMGPU_MODULE_LOADED,
    SIMGPU_MODULE_UNLOADED
};
struct simgpu_resource_notice {
    enum simgpu_resource_event event;
    void *context; /* as programs see it, CUcontext */
    void *stream;  /* as programs see it, CUstream */
    uint32_t module_id;
    const void *cubin; /* NULL: unknown */
    size_t cubin_bytes;
};

struct simgpu_observer {
    void (*api_enter)(struct simgpu_api_call *call);
    void (*api_exit)(struct simgpu_api_call *call);
    void (*activity)(const struct simgpu_activity
                         *activity); /* when the item has ended on the timeline, on a synchronising or polling thread */
    void (*graph)(const struct simgpu_graph_notice *notice);
    void (*resource)(const struct simgpu_resource_notice *notice); /* may be NULL, as each of these */
};
SIMGPU_API void simgpu_observe(const struct simgpu_observer *observer); /* NULL: no more */
/* Delivers to the observer all activities that ended by now. */
SIMGPU_API void simgpu_deliver(void);
/* CUPTI's flush: on the virtual clock, whatever was enqueued has ended. Waits until other threads have delivered too;
 * not to be called while delivering. */
SIMGPU_API void simgpu_flush(void);

/* API doors for generated wrappers: enter gives the correlation id (a nested call keeps its outer one). */
SIMGPU_API void simgpu_api_enter(struct simgpu_api_call *call);
SIMGPU_API void simgpu_api_exit(struct simgpu_api_call *call, void *return_value);

/* Wall clock of the simulation: CLOCK_REALTIME ns. Kernels end on a modelled timeline that may run ahead of it: SIMGPU_CLOCK=
 * virtual (default): synchronising does not wait, the timeline just moves on; =real: synchronising sleeps until it is so late. */
SIMGPU_API uint64_t simgpu_now_ns(void);

/* The driver front end's cuInit: returns the result and, in the first successful call of a process, loads
 * CUDA_INJECTION64_PATH and calls its InitializeInjection(), as the real driver does. Fails (3) in a forked child of an
 * initialised process. Notes pid and time in the ledger. */
SIMGPU_API int simgpu_init(void);

#endif
