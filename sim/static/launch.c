/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's static libraries reach the driver by hand: dlopen("libcuda.so.1"), then every function by cuGetProcAddress. So do
 * these for what a tool could see: no call of CUDA's crosses from the program to a library by a symbol. */
#include "sim/static/launch.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stddef.h>

typedef CUresult get_proc_address(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static void *driver_function(const char *name)
{
    static get_proc_address *get;
    void *function = NULL;
    if (!__atomic_load_n(&get, __ATOMIC_ACQUIRE)) {
        void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        void *found = driver ? dlsym(driver, "cuGetProcAddress_v2") : NULL;
        __atomic_store_n(&get, (get_proc_address *)found, __ATOMIC_RELEASE);
    }
    return get && get(name, &function, CUDA_VERSION, 0, NULL) == CUDA_SUCCESS ? function : NULL;
}

/* Looked for once each; threads that come together find the same. */
#define DRIVER(type, variable, name)                                                                                   \
    static type *variable;                                                                                             \
    if (!__atomic_load_n(&(variable), __ATOMIC_ACQUIRE))                                                               \
        __atomic_store_n(&(variable), (type *)driver_function(name), __ATOMIC_RELEASE);                                \
    if (!(variable))                                                                                                   \
    return SIMGPU_NOT_INITIALIZED

typedef CUresult launch_kernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               CUstream, void **, void **);
typedef CUresult launch_cooperative(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                    CUstream, void **);
typedef CUresult launch_kernel_ex(const CUlaunchConfig *, CUfunction, void **, void **);

static int launch_ex(struct simgpu_stream *stream, const struct simgpu_kernel_launch *work)
{
    DRIVER(launch_kernel_ex, launch, "cuLaunchKernelEx");
    const struct simgpu_dims *dims = &work->dims;
    CUlaunchAttribute attributes[3];
    CUlaunchConfig config = {.gridDimX = dims->grid[0],
                             .gridDimY = dims->grid[1],
                             .gridDimZ = dims->grid[2],
                             .blockDimX = dims->block[0],
                             .blockDimY = dims->block[1],
                             .blockDimZ = dims->block[2],
                             .sharedMemBytes = (unsigned)dims->shared_bytes,
                             .hStream = (CUstream)stream,
                             .attrs = attributes};
    if (dims->cluster[0]) {
        CUlaunchAttribute *cluster = &attributes[config.numAttrs++];
        cluster->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        cluster->value.clusterDim.x = dims->cluster[0];
        cluster->value.clusterDim.y = dims->cluster[1];
        cluster->value.clusterDim.z = dims->cluster[2];
    }
    if (work->cooperative) {
        CUlaunchAttribute *cooperative = &attributes[config.numAttrs++];
        cooperative->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        cooperative->value.cooperative = 1;
    }
    if (work->priority) {
        CUlaunchAttribute *priority = &attributes[config.numAttrs++];
        priority->id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        priority->value.priority = work->priority;
    }
    return (int)launch(&config, (CUfunction)work->kernel, work->args, NULL);
}

static int launch_together(struct simgpu_stream *stream, const struct simgpu_kernel_launch *work)
{
    DRIVER(launch_cooperative, launch, "cuLaunchCooperativeKernel");
    const unsigned *grid = work->dims.grid, *block = work->dims.block;
    return (int)launch((CUfunction)work->kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                       (unsigned)work->dims.shared_bytes, (CUstream)stream, work->args);
}

static int launch_plain(struct simgpu_stream *stream, const struct simgpu_kernel_launch *work)
{
    DRIVER(launch_kernel, launch, "cuLaunchKernel");
    const unsigned *grid = work->dims.grid, *block = work->dims.block;
    return (int)launch((CUfunction)work->kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                       (unsigned)work->dims.shared_bytes, (CUstream)stream, work->args, NULL);
}

int static_launch_work(struct simgpu_stream *stream, const struct simgpu_kernel_launch *launch, uint32_t driver_cbid)
{
    enum { COOPERATIVE = 477, COOPERATIVE_PTSZ = 478, LAUNCH_EX = 652, LAUNCH_EX_PTSZ = 653 }; /* cupti_driver_cbid.h */
    simgpu_next_duration(launch->duration_ns);
    if (driver_cbid == LAUNCH_EX || driver_cbid == LAUNCH_EX_PTSZ)
        return launch_ex(stream, launch);
    if (driver_cbid == COOPERATIVE || driver_cbid == COOPERATIVE_PTSZ)
        return launch_together(stream, launch);
    return launch_plain(stream, launch);
}

int static_launch(struct simgpu_stream *stream, struct simgpu_kernel *kernel, const struct simgpu_dims *dims,
                  void **args, uint64_t duration_ns, uint32_t driver_cbid)
{
    struct simgpu_kernel_launch launch = {.kernel = kernel, .dims = *dims, .duration_ns = duration_ns, .args = args};
    return static_launch_work(stream, &launch, driver_cbid);
}
