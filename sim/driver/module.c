/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, libraries and their kernels; launches; occupancy. */
#include "sim/driver/driver.h"

#include <string.h>

#define MODULE(handle) ((struct simgpu_module *)(handle))
#define KERNEL(handle) ((struct simgpu_kernel *)(handle))

/* ---- modules ---- */

CUresult driver_cuModuleLoadData(CUmodule *module, const void *image)
{
    return module ? (CUresult)simgpu_module_load(image, (struct simgpu_module **)module) : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count, CUjit_option *options,
                                   void **values)
{
    (void)count, (void)options, (void)values;
    return driver_cuModuleLoadData(module, image);
}

CUresult driver_cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return driver_cuModuleLoadData(module, image);
}

CUresult driver_cuModuleLoad(CUmodule *module, const char *path)
{
    return module ? (CUresult)simgpu_module_load_file(path, (struct simgpu_module **)module) : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuModuleUnload(CUmodule module)
{
    return (CUresult)simgpu_module_unload(MODULE(module));
}

CUresult driver_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    return function ? (CUresult)simgpu_module_kernel(MODULE(module), name, (struct simgpu_kernel **)function)
                    : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    return (CUresult)simgpu_module_global(MODULE(module), name, (void **)address, bytes);
}

CUresult driver_cuModuleGetFunctionCount(unsigned int *count, CUmodule module)
{
    return count ? (CUresult)simgpu_module_kernels(MODULE(module), NULL, count) : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count, CUmodule module)
{
    return functions ? (CUresult)simgpu_module_kernels(MODULE(module), (struct simgpu_kernel **)functions, &count)
                     : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

/* ---- libraries: modules without a context; a kernel and its function are one here ---- */

CUresult driver_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit, void **jit_values,
                                  unsigned int jit_count, CUlibraryOption *options, void **values, unsigned int count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return driver_cuModuleLoadData((CUmodule *)library, code);
}

CUresult driver_cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit, void **jit_values,
                                      unsigned int jit_count, CUlibraryOption *options, void **values,
                                      unsigned int count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return driver_cuModuleLoad((CUmodule *)library, path);
}

CUresult driver_cuLibraryUnload(CUlibrary library)
{
    return driver_cuModuleUnload((CUmodule)library);
}

CUresult driver_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    return driver_cuModuleGetFunction((CUfunction *)kernel, (CUmodule)library, name);
}

CUresult driver_cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    if (!module || !simgpu_module_valid(MODULE(library)))
        return CUDA_ERROR_INVALID_HANDLE;
    *module = (CUmodule)library;
    return CUDA_SUCCESS;
}

CUresult driver_cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name)
{
    return driver_cuModuleGetGlobal_v2(address, bytes, (CUmodule)library, name);
}

CUresult driver_cuLibraryGetKernelCount(unsigned int *count, CUlibrary library)
{
    return driver_cuModuleGetFunctionCount(count, (CUmodule)library);
}

CUresult driver_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int count, CUlibrary library)
{
    return driver_cuModuleEnumerateFunctions((CUfunction *)kernels, count, (CUmodule)library);
}

/* ---- about kernels ---- */

CUresult driver_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    return value ? (CUresult)simgpu_kernel_get(KERNEL(function), (int)attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    return (CUresult)simgpu_kernel_set(KERNEL(function), (int)attribute, value);
}

CUresult driver_cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
{
    return device ? CUDA_ERROR_INVALID_DEVICE : driver_cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}

CUresult driver_cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
{
    return device ? CUDA_ERROR_INVALID_DEVICE : driver_cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}

static CUresult check(const void *kernel)
{
    return simgpu_kernel_valid(kernel) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult driver_cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    (void)config;
    return check(function);
}

CUresult driver_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    (void)config;
    return device ? CUDA_ERROR_INVALID_DEVICE : check(kernel);
}

CUresult driver_cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    *function = (CUfunction)kernel;
    return check(kernel);
}

CUresult driver_cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    if (!library || check(kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    *library = (CUlibrary)simgpu_kernel_module(KERNEL(kernel));
    return *library ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult driver_cuFuncGetModule(CUmodule *module, CUfunction function)
{
    return driver_cuKernelGetLibrary((CUlibrary *)module, (CUkernel)function);
}

CUresult driver_cuFuncGetName(const char **name, CUfunction function)
{
    if (!name || check(function))
        return name ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    *name = simgpu_kernel_name(KERNEL(function));
    return CUDA_SUCCESS;
}

CUresult driver_cuKernelGetName(const char **name, CUkernel kernel)
{
    return driver_cuFuncGetName(name, (CUfunction)kernel);
}

CUresult driver_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    size_t unused;
    if (check(function) || !offset)
        return offset ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    if (driver_version() < 12040)
        return CUDA_ERROR_NOT_FOUND; /* the driver of then has no such function */
    if (simgpu_kernel_param_count(KERNEL(function)) < 0)
        return CUDA_ERROR_NOT_SUPPORTED; /* not told aloud: tools ask this of every kernel */
    return simgpu_kernel_param(KERNEL(function), (int)index, offset, size ? size : &unused) ? CUDA_SUCCESS
                                                                                            : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
    return driver_cuFuncGetParamInfo((CUfunction)kernel, index, offset, size);
}

CUresult driver_cuFuncLoad(CUfunction function)
{
    return check(function);
}

CUresult driver_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return check(function);
}

/* ---- launches; their own doors are what the observer sees ---- */

static CUresult launch(struct simgpu_kernel_launch *work, CUfunction function, CUstream stream, void **extra)
{
    DRIVER_STREAM(where, stream);
    work->kernel = KERNEL(function);
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            work->buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            work->buffer_size = *(size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return work->args && work->buffer ? CUDA_ERROR_INVALID_VALUE : driver_result(simgpu_launch_work(where, work, 0));
}

CUresult driver_cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                               unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **args,
                               void **extra)
{
    struct simgpu_kernel_launch work = {.dims = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared_bytes = shared},
                                        .args = args};
    return launch(&work, f, stream, extra);
}

CUresult driver_cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
                                          unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                                          CUstream stream, void **args)
{
    struct simgpu_kernel_launch work = {.dims = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared_bytes = shared},
                                        .args = args,
                                        .cooperative = true};
    return launch(&work, f, stream, NULL);
}

CUresult driver_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **args, void **extra)
{
    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    struct simgpu_kernel_launch work = {.dims = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                                 .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                                 .shared_bytes = config->sharedMemBytes},
                                        .args = args};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            work.dims.cluster[0] = attribute->value.clusterDim.x;
            work.dims.cluster[1] = attribute->value.clusterDim.y;
            work.dims.cluster[2] = attribute->value.clusterDim.z;
        } else if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
            work.cooperative = attribute->value.cooperative != 0;
        } else if (attribute->id == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
            work.priority = attribute->value.priority;
        } else if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
            work.programmatic = attribute->value.programmaticStreamSerializationAllowed != 0;
        }
    }
    return launch(&work, f, config->hStream, extra);
}

CUresult driver_cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    DRIVER_STREAM(where, stream);
    struct simgpu_work work = {.type = SIMGPU_WORK_HOST, .host = {.function = function, .data = data}};
    return (CUresult)simgpu_enqueue(where, &work);
}

/* ---- occupancy ---- */

CUresult driver_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int block_size,
                                                                     size_t shared, unsigned int flags)
{
    (void)flags;
    if (!blocks || block_size <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = simgpu_device_occupancy((unsigned)block_size, shared);
    return check(function);
}

CUresult driver_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_size,
                                                            size_t shared)
{
    return driver_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared, 0);
}

CUresult driver_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                          CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                          unsigned int flags)
{
    int best = 0, most = limit > 0 && limit < 1024 ? limit : 1024;
    (void)flags;
    if (!grid || !block)
        return CUDA_ERROR_INVALID_VALUE;
    for (int size = most / 32 * 32; size >= 32; size -= 32) {
        int fit = simgpu_device_occupancy((unsigned)size, shared_of ? shared_of(size) : shared);
        if (fit * size <= best)
            continue;
        best = fit * size;
        *block = size;
        *grid = fit * simgpu_device()->sm_count;
    }
    return best ? check(function) : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                                 CUoccupancyB2DSize shared_of, size_t shared, int limit)
{
    return driver_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit, 0);
}

CUresult driver_cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *config)
{
    if (!size || !config)
        return CUDA_ERROR_INVALID_VALUE;
    *size = simgpu_device()->compute_major >= 9 ? 8 : 1; /* the portable size */
    return check(function);
}

CUresult driver_cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config)
{
    unsigned size = 1;
    if (!clusters || !config)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            size = config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y *
                   config->attrs[i].value.clusterDim.z;
    int blocks =
        simgpu_device_occupancy(config->blockDimX * config->blockDimY * config->blockDimZ, config->sharedMemBytes);
    *clusters = size ? blocks * simgpu_device()->sm_count / (int)size : 0;
    return check(function);
}

/* ---- tensor maps: opaque to the host; kernels that would read them do nothing ---- */

CUresult driver_cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                       const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                       const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                       CUtensorMapFloatOOBfill fill)
{
    (void)type, (void)strides, (void)interleave, (void)swizzle, (void)promotion, (void)fill;
    if (!map || !address || !rank || rank > 5 || !dims || !box || !element_strides)
        return CUDA_ERROR_INVALID_VALUE;
    memset(map, 0, sizeof *map);
    return CUDA_SUCCESS;
}
