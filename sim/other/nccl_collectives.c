/* SPDX-License-Identifier: Apache-2.0 */
/* What of NCCL the stand-in does: communicators, groups, and for each collective a kernel named like NCCL's on the caller's
 * stream, as long as a ring takes over the simulated link. No data moves and nobody waits for another rank, so that ranks may
 * be threads, processes, or calls of one group. NCCL's header comes only with the library, so types are written here from its
 * public documentation; kernels' names are as src/device/generate.py of github.com/NVIDIA/nccl makes them. */
#include "sim/core/device.h"
#include "sim/core/stream.h"
#include "sim/core/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API                   SIMGPU_API
#define LINK_BYTES_PER_SECOND 25e9 /* as between the core's devices */
#define STARTUP_NS            5000.0
#define LAUNCH_KERNEL_EX      652 /* CUPTI's number of cuLaunchKernelEx, by which NCCL launches */

enum { SUCCESS = 0, UNHANDLED_CUDA_ERROR = 1, INVALID_ARGUMENT = 4 }; /* ncclResult_t */
enum { UNIQUE_ID_BYTES = 128, CHANNELS = 8, THREADS = 544 };

struct unique_id {
    char internal[UNIQUE_ID_BYTES];
};

struct communicator {
    int ranks, rank, device;
};

/* clang-format off */
static const struct { /* ncclDataType_t */
    const char *name;
    size_t bytes;
} types[] = {{"i8", 1}, {"u8", 1}, {"i32", 4}, {"u32", 4}, {"i64", 8}, {"u64", 8}, {"f16", 2}, {"f32", 4}, {"f64", 8},
             {"bf16", 2}, {"f8e4m3", 1}, {"f8e5m2", 1}};
static const char *const operations[] = {"Sum", "Prod", "MinMax", "MinMax", "SumPostDiv"}; /* ncclRedOp_t */
enum { TYPES = sizeof types / sizeof types[0], OPERATIONS = sizeof operations / sizeof operations[0] };

/* Bytes that a ring moves over each link, of a collective whose largest buffer has one byte. */
enum ring { ALL_REDUCE, GATHER_OR_SCATTER, ONE_WAY };
/* clang-format on */

/* ---- communicators ---- */

static int make(struct communicator **made, int ranks, int rank, int device)
{
    if (!made || ranks < 1 || rank < 0 || rank >= ranks || simgpu_device_board(device) < 0)
        return INVALID_ARGUMENT;
    *made = malloc(sizeof **made);
    if (!*made)
        return UNHANDLED_CUDA_ERROR;
    **made = (struct communicator){ranks, rank, device};
    return SUCCESS;
}

API int ncclGetUniqueId(struct unique_id *id);
API int ncclCommInitRank(struct communicator **made, int ranks, struct unique_id id, int rank);
API int ncclCommInitRankConfig(struct communicator **made, int ranks, struct unique_id id, int rank, void *config);
API int ncclCommInitRankScalable(struct communicator **made, int ranks, int rank, int ids, struct unique_id *id,
                                 void *config);
API int ncclCommInitAll(struct communicator **made, int count, const int *devices);
API int ncclCommDestroy(struct communicator *of);
API int ncclCommAbort(struct communicator *of);
API int ncclCommFinalize(struct communicator *of);
API int ncclCommCount(const struct communicator *of, int *count);
API int ncclCommUserRank(const struct communicator *of, int *rank);
API int ncclCommCuDevice(const struct communicator *of, int *device);
API int ncclCommGetAsyncError(struct communicator *of, int *error);
API int ncclGroupStart(void);
API int ncclGroupEnd(void);

API int ncclGetUniqueId(struct unique_id *id)
{
    if (!id)
        return INVALID_ARGUMENT;
    memset(id, 0, sizeof *id);
    return SUCCESS;
}

/* On the device that is current, as NCCL has it. */
API int ncclCommInitRankConfig(struct communicator **made, int ranks, struct unique_id id, int rank, void *config)
{
    (void)id, (void)config;
    return make(made, ranks, rank, simgpu_current_device());
}

API int ncclCommInitRank(struct communicator **made, int ranks, struct unique_id id, int rank)
{
    return ncclCommInitRankConfig(made, ranks, id, rank, NULL);
}

API int ncclCommInitRankScalable(struct communicator **made, int ranks, int rank, int ids, struct unique_id *id,
                                 void *config)
{
    (void)ids, (void)id, (void)config;
    return make(made, ranks, rank, simgpu_current_device());
}

API int ncclCommInitAll(struct communicator **made, int count, const int *devices)
{
    int result = made && count > 0 ? SUCCESS : INVALID_ARGUMENT;
    for (int i = 0; i < count && result == SUCCESS; i++) {
        result = make(&made[i], count, i, devices ? devices[i] : i);
        for (int k = 0; result != SUCCESS && k < i; k++)
            free(made[k]);
    }
    return result;
}

API int ncclCommDestroy(struct communicator *of)
{
    free(of);
    return SUCCESS;
}

API int ncclCommAbort(struct communicator *of)
{
    return ncclCommDestroy(of);
}

API int ncclCommFinalize(struct communicator *of)
{
    return of ? SUCCESS : INVALID_ARGUMENT;
}

static int tell(const struct communicator *of, int value, int *to)
{
    if (!of || !to)
        return INVALID_ARGUMENT;
    *to = value;
    return SUCCESS;
}

API int ncclCommCount(const struct communicator *of, int *count)
{
    return tell(of, of ? of->ranks : 0, count);
}

API int ncclCommUserRank(const struct communicator *of, int *rank)
{
    return tell(of, of ? of->rank : 0, rank);
}

API int ncclCommCuDevice(const struct communicator *of, int *device)
{
    return tell(of, of ? of->device : 0, device);
}

API int ncclCommGetAsyncError(struct communicator *of, int *error)
{
    return tell(of, SUCCESS, error);
}

API int ncclGroupStart(void)
{
    return SUCCESS;
}

API int ncclGroupEnd(void)
{
    return SUCCESS;
}

/* ---- collectives ---- */

/* Mangled, as CUPTI gives it: NAME(ncclDevKernelArgsStorage<4096ul>). */
static struct simgpu_kernel *kernel_named(const char *name)
{
    char mangled[160];
    snprintf(mangled, sizeof mangled, "_Z%zu%s24ncclDevKernelArgsStorageILm4096EE", strlen(name), name);
    return simgpu_kernel_by_name(mangled);
}

static uint64_t duration(const struct communicator *of, enum ring ring, double bytes)
{
    const double others = (double)(of->ranks - 1) / of->ranks;
    const double moved = ring == ALL_REDUCE ? 2 * others * bytes : ring == GATHER_OR_SCATTER ? others * bytes : bytes;
    return (uint64_t)(STARTUP_NS + moved / LINK_BYTES_PER_SECOND * 1e9 + 0.5);
}

static int launch(const struct communicator *of, const char *name, enum ring ring, double bytes, void *stream)
{
    static const struct simgpu_dims dims = {.grid = {CHANNELS, 1, 1}, .block = {THREADS, 1, 1}};
    struct simgpu_stream *where = simgpu_stream_of(stream, 0);
    struct simgpu_kernel *kernel = kernel_named(name);
    if (!where || !kernel)
        return UNHANDLED_CUDA_ERROR;
    /* In a group the calls of all ranks come on one thread, whichever device is current. */
    void *context = simgpu_stream_context(where);
    if (simgpu_context_push(context) != SIMGPU_SUCCESS)
        return UNHANDLED_CUDA_ERROR;
    int result = simgpu_launch(where, kernel, &dims, NULL, duration(of, ring, bytes), LAUNCH_KERNEL_EX);
    simgpu_context_pop(NULL);
    return result ? UNHANDLED_CUDA_ERROR : SUCCESS;
}

/* One rank has nobody to talk to: at most a copy of its own. */
static int copy_alone(const void *send, void *receive, size_t bytes, void *stream)
{
    struct simgpu_stream *where = simgpu_stream_of(stream, 0);
    struct simgpu_work work = {
        .type = SIMGPU_WORK_COPY,
        .copy = {
            .to = receive, .from = send, .width = bytes, .height = 1, .depth = 1, .kind = 4}}; /* cudaMemcpyDefault */
    if (send == receive || !bytes)
        return SUCCESS;
    return where && !simgpu_enqueue(where, &work) ? SUCCESS : UNHANDLED_CUDA_ERROR;
}

/* LARGEST: elements of the largest buffer. */
static int collective(const char *what, const void *send, void *receive, size_t count, double largest, int type,
                      int operation, enum ring ring, const struct communicator *of, void *stream)
{
    char name[96];
    if (!of || type < 0 || type >= (int)TYPES || operation >= (int)OPERATIONS)
        return INVALID_ARGUMENT;
    if (of->ranks == 1)
        return copy_alone(send, receive, count * types[type].bytes, stream);
    if (operation < 0)
        snprintf(name, sizeof name, "ncclDevKernel_%s_RING_LL", what);
    else
        snprintf(name, sizeof name, "ncclDevKernel_%s_%s_%s_RING_LL", what, operations[operation], types[type].name);
    return launch(of, name, ring, largest * (double)types[type].bytes, stream);
}

API int ncclAllReduce(const void *send, void *receive, size_t count, int type, int operation, struct communicator *of,
                      void *stream);
API int ncclReduce(const void *send, void *receive, size_t count, int type, int operation, int root,
                   struct communicator *of, void *stream);
API int ncclReduceScatter(const void *send, void *receive, size_t count, int type, int operation,
                          struct communicator *of, void *stream);
API int ncclAllGather(const void *send, void *receive, size_t count, int type, struct communicator *of, void *stream);
API int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, struct communicator *of,
                      void *stream);
API int ncclBcast(void *buffer, size_t count, int type, int root, struct communicator *of, void *stream);
API int ncclSend(const void *send, size_t count, int type, int peer, struct communicator *of, void *stream);
API int ncclRecv(void *receive, size_t count, int type, int peer, struct communicator *of, void *stream);

API int ncclAllReduce(const void *send, void *receive, size_t count, int type, int operation, struct communicator *of,
                      void *stream)
{
    return operation < 0
               ? INVALID_ARGUMENT
               : collective("AllReduce", send, receive, count, (double)count, type, operation, ALL_REDUCE, of, stream);
}

API int ncclReduce(const void *send, void *receive, size_t count, int type, int operation, int root,
                   struct communicator *of, void *stream)
{
    (void)root;
    return operation < 0
               ? INVALID_ARGUMENT
               : collective("Reduce", send, receive, count, (double)count, type, operation, ONE_WAY, of, stream);
}

/* COUNT elements for each rank. */
API int ncclReduceScatter(const void *send, void *receive, size_t count, int type, int operation,
                          struct communicator *of, void *stream)
{
    return operation < 0 ? INVALID_ARGUMENT
                         : collective("ReduceScatter", send, receive, count, of ? (double)count * of->ranks : 0, type,
                                      operation, GATHER_OR_SCATTER, of, stream);
}

API int ncclAllGather(const void *send, void *receive, size_t count, int type, struct communicator *of, void *stream)
{
    return collective("AllGather", send, receive, count, of ? (double)count * of->ranks : 0, type, -1,
                      GATHER_OR_SCATTER, of, stream);
}

API int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, struct communicator *of,
                      void *stream)
{
    (void)root;
    return collective("Broadcast", send, receive, count, (double)count, type, -1, ONE_WAY, of, stream);
}

API int ncclBcast(void *buffer, size_t count, int type, int root, struct communicator *of, void *stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, of, stream);
}

/* NCCL joins those of one group in one kernel; here each has its own. */
API int ncclSend(const void *send, size_t count, int type, int peer, struct communicator *of, void *stream)
{
    (void)peer;
    return collective("SendRecv", send, (void *)send, count, (double)count, type, -1, ONE_WAY, of, stream);
}

API int ncclRecv(void *receive, size_t count, int type, int peer, struct communicator *of, void *stream)
{
    (void)peer;
    return collective("SendRecv", receive, receive, count, (double)count, type, -1, ONE_WAY, of, stream);
}
