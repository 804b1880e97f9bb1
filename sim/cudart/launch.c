/* SPDX-License-Identifier: Apache-2.0 */
/* Launches, host functions, and what can be asked of a kernel. */
#include "sim/cudart/runtime.h"

#include <string.h>

/* Driver callback ids of the launch inside: plain, per-thread default stream. */
enum {
    LAUNCH = 307,
    LAUNCH_PTSZ = 442,
    COOPERATIVE = 477,
    COOPERATIVE_PTSZ = 478,
    LAUNCH_EX = 652,
    LAUNCH_EX_PTSZ = 653
};

static struct simgpu_dims dims_of(dim3 grid, dim3 block, size_t shared)
{
    return (struct simgpu_dims){
        .grid = {grid.x, grid.y, grid.z}, .block = {block.x, block.y, block.z}, .shared_bytes = shared};
}

static cudaError_t launch(const void *function, const struct simgpu_kernel_launch *asked, cudaStream_t stream, int cbid,
                          int cbid_per_thread)
{
    struct simgpu_kernel_launch work = *asked;
    work.kernel = runtime_kernel(function);
    struct simgpu_stream *where = runtime_stream(stream);
    if (!work.kernel)
        return cudaErrorInvalidDeviceFunction;
    if (!where)
        return cudaErrorInvalidResourceHandle;
    return (cudaError_t)simgpu_launch_work(where, &work, (uint32_t)(runtime_per_thread() ? cbid_per_thread : cbid));
}

cudaError_t runtime_cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                                     cudaStream_t stream)
{
    struct simgpu_kernel_launch work = {.dims = dims_of(grid, block, shared), .args = args};
    return launch(function, &work, stream, LAUNCH, LAUNCH_PTSZ);
}

cudaError_t runtime___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                                       cudaStream_t stream)
{
    return runtime_cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

cudaError_t runtime_cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                                                cudaStream_t stream)
{
    struct simgpu_kernel_launch work = {.dims = dims_of(grid, block, shared), .args = args, .cooperative = true};
    return launch(function, &work, stream, COOPERATIVE, COOPERATIVE_PTSZ);
}

cudaError_t runtime_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    if (!config || (config->numAttrs && !config->attrs))
        return cudaErrorInvalidValue;
    struct simgpu_kernel_launch work = {.dims = dims_of(config->gridDim, config->blockDim, config->dynamicSmemBytes),
                                        .args = args};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == cudaLaunchAttributeClusterDimension) {
            work.dims.cluster[0] = attribute->val.clusterDim.x;
            work.dims.cluster[1] = attribute->val.clusterDim.y;
            work.dims.cluster[2] = attribute->val.clusterDim.z;
        } else if (attribute->id == cudaLaunchAttributeCooperative) {
            work.cooperative = attribute->val.cooperative != 0;
        } else if (attribute->id == cudaLaunchAttributePriority) {
            work.priority = attribute->val.priority;
        } else if (attribute->id == cudaLaunchAttributeProgrammaticStreamSerialization) {
            work.programmatic = attribute->val.programmaticStreamSerializationAllowed != 0;
        }
    }
    return launch(function, &work, config->stream, LAUNCH_EX, LAUNCH_EX_PTSZ);
}

/* ---- host functions ---- */

static cudaError_t enqueue_host(cudaStream_t stream, const struct simgpu_host_call *host)
{
    struct simgpu_stream *where = runtime_stream(stream);
    if (!where)
        return cudaErrorInvalidResourceHandle;
    struct simgpu_work work = {.type = SIMGPU_WORK_HOST, .host = *host};
    return (cudaError_t)simgpu_enqueue(where, &work);
}

cudaError_t runtime_cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    return enqueue_host(stream, &(struct simgpu_host_call){.function = function, .data = data});
}

cudaError_t runtime_cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                          unsigned int flags)
{
    struct simgpu_host_call host = {.stream = stream, .data = data};
    host.stream_function = (void (*)(void *, int, void *))callback;
    return flags ? cudaErrorInvalidValue : enqueue_host(stream, &host);
}

/* ---- about kernels ---- */

static int kernel_attribute(struct simgpu_kernel *kernel, int attribute)
{
    int value = 0;
    simgpu_kernel_get(kernel, attribute, &value);
    return value;
}

/* CUfunction_attribute's numbers */
enum {
    MAX_THREADS,
    SHARED_BYTES,
    CONST_BYTES,
    LOCAL_BYTES,
    REGISTERS,
    PTX_VERSION,
    BINARY_VERSION,
    CACHE_MODE,
    DYNAMIC_SHARED,
    CARVEOUT
};

cudaError_t runtime_cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function)
{
    struct simgpu_kernel *kernel = runtime_kernel(function);
    if (!attributes)
        return cudaErrorInvalidValue;
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = (size_t)kernel_attribute(kernel, SHARED_BYTES);
    attributes->maxThreadsPerBlock = kernel_attribute(kernel, MAX_THREADS);
    attributes->numRegs = kernel_attribute(kernel, REGISTERS);
    attributes->ptxVersion = kernel_attribute(kernel, PTX_VERSION);
    attributes->binaryVersion = kernel_attribute(kernel, BINARY_VERSION);
    attributes->maxDynamicSharedSizeBytes = kernel_attribute(kernel, DYNAMIC_SHARED);
    attributes->preferredShmemCarveout = kernel_attribute(kernel, CARVEOUT);
    return cudaSuccess;
}

cudaError_t runtime_cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
    struct simgpu_kernel *kernel = runtime_kernel(function);
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    return (cudaError_t)simgpu_kernel_set(kernel, (int)attribute, value);
}

cudaError_t runtime_cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attribute, int value,
                                                    int device)
{
    return device ? cudaErrorInvalidDevice : runtime_cudaFuncSetAttribute(kernel, attribute, value);
}

cudaError_t runtime_cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
    (void)config; /* a hint */
    return runtime_kernel(function) ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t runtime_cudaFuncGetName(const char **name, const void *function)
{
    const char *known = runtime_symbol(function);
    if (!name)
        return cudaErrorInvalidValue;
    if (!known)
        return cudaErrorInvalidDeviceFunction;
    *name = known;
    return cudaSuccess;
}

cudaError_t runtime_cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size)
{
    struct simgpu_kernel *kernel = runtime_kernel(function);
    size_t unused;
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    if (!offset)
        return cudaErrorInvalidValue;
    int driver = simgpu_device()->driver_version;
    if (driver && driver < 12040)
        return cudaErrorCallRequiresNewerDriver;
    if (simgpu_kernel_param_count(kernel) < 0)
        return cudaErrorNotSupported; /* not told aloud: tools ask this of every kernel */
    return simgpu_kernel_param(kernel, (int)index, offset, size ? size : &unused) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaGetFuncBySymbol(cudaFunction_t *out, const void *symbol)
{
    struct simgpu_kernel *kernel = runtime_kernel(symbol);
    *out = (cudaFunction_t)kernel;
    return kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t runtime_cudaGetKernel(cudaKernel_t *out, const void *entry)
{
    return runtime___cudaGetKernel(out, entry);
}

cudaError_t runtime_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                                           int block_size, size_t shared,
                                                                           unsigned int flags)
{
    (void)flags;
    if (!blocks || block_size <= 0)
        return cudaErrorInvalidValue;
    if (!runtime_kernel(function))
        return cudaErrorInvalidDeviceFunction;
    *blocks = simgpu_device_occupancy((unsigned)block_size, shared);
    return cudaSuccess;
}

cudaError_t runtime_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int block_size,
                                                                  size_t shared)
{
    return runtime_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared, 0);
}

cudaError_t runtime_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks,
                                                              int block_size)
{
    int per_multiprocessor = 0, most = 0;
    if (!bytes || blocks <= 0 || block_size <= 0)
        return cudaErrorInvalidValue;
    if (!runtime_kernel(function))
        return cudaErrorInvalidDeviceFunction;
    simgpu_device_attribute(0, cudaDevAttrMaxSharedMemoryPerMultiprocessor, &per_multiprocessor);
    simgpu_device_attribute(0, cudaDevAttrMaxSharedMemoryPerBlockOptin, &most);
    int each = per_multiprocessor / blocks - 1024;
    *bytes = (size_t)(each < 0 ? 0 : each < most ? each : most);
    return cudaSuccess;
}

cudaError_t runtime_cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
                                                         const cudaLaunchConfig_t *config)
{
    if (!size || !config)
        return cudaErrorInvalidValue;
    if (!runtime_kernel(function))
        return cudaErrorInvalidDeviceFunction;
    *size = simgpu_device()->compute_major >= 9 ? 8 : 1; /* the portable size */
    return cudaSuccess;
}

cudaError_t runtime_cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                                   const cudaLaunchConfig_t *config)
{
    unsigned size = 1;
    if (!clusters || !config)
        return cudaErrorInvalidValue;
    if (!runtime_kernel(function))
        return cudaErrorInvalidDeviceFunction;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            size = config->attrs[i].val.clusterDim.x * config->attrs[i].val.clusterDim.y *
                   config->attrs[i].val.clusterDim.z;
    const dim3 block = config->blockDim;
    int blocks = simgpu_device_occupancy(block.x * block.y * block.z, config->dynamicSmemBytes);
    *clusters = size ? blocks * simgpu_device()->sm_count / (int)size : 0;
    return cudaSuccess;
}
