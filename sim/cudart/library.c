/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries loaded at run time, and the driver's functions by name. */
#include "sim/cudart/runtime.h"

#include <dlfcn.h>

#define MODULE(handle) ((struct simgpu_module *)(handle))

cudaError_t runtime_cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jit,
                                        void **jit_values, unsigned int jit_count, enum cudaLibraryOption *options,
                                        void **option_values, unsigned int option_count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)option_values, (void)option_count;
    struct simgpu_module *module = NULL;
    if (!library)
        return cudaErrorInvalidValue;
    int result = simgpu_module_load(code, &module);
    *library = (cudaLibrary_t)module;
    return result == SIMGPU_INVALID_IMAGE ? cudaErrorInvalidKernelImage : (cudaError_t)result;
}

cudaError_t runtime_cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path, enum cudaJitOption *jit,
                                            void **jit_values, unsigned int jit_count, enum cudaLibraryOption *options,
                                            void **option_values, unsigned int option_count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)option_values, (void)option_count;
    struct simgpu_module *module = NULL;
    if (!library)
        return cudaErrorInvalidValue;
    int result = simgpu_module_load_file(path, &module);
    *library = (cudaLibrary_t)module;
    return result == SIMGPU_INVALID_IMAGE ? cudaErrorInvalidKernelImage : (cudaError_t)result;
}

cudaError_t runtime_cudaLibraryUnload(cudaLibrary_t library)
{
    return (cudaError_t)simgpu_module_unload(MODULE(library));
}

cudaError_t runtime_cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    struct simgpu_kernel *found = NULL;
    if (!kernel)
        return cudaErrorInvalidValue;
    int result = simgpu_module_kernel(MODULE(library), name, &found);
    *kernel = (cudaKernel_t)found;
    return (cudaError_t)result;
}

cudaError_t runtime_cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t library, const char *name)
{
    return (cudaError_t)simgpu_module_global(MODULE(library), name, address, bytes);
}

#if CUDART_VERSION >= 12080
cudaError_t runtime_cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t library)
{
    return count ? (cudaError_t)simgpu_module_kernels(MODULE(library), NULL, count) : cudaErrorInvalidValue;
}

cudaError_t runtime_cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int count, cudaLibrary_t library)
{
    return kernels ? (cudaError_t)simgpu_module_kernels(MODULE(library), (struct simgpu_kernel **)kernels, &count)
                   : cudaErrorInvalidValue;
}
#endif

/* ---- the driver by name: found in libcuda.so.1 as the real runtime finds it ---- */

typedef int get_proc_address(const char *symbol, void **function, int version, uint64_t flags, int *status);

static get_proc_address *driver(void)
{
    static get_proc_address *found;
    if (!__atomic_load_n(&found, __ATOMIC_ACQUIRE)) {
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        void *function = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
        __atomic_store_n(&found, (get_proc_address *)function, __ATOMIC_RELEASE);
    }
    return found;
}

cudaError_t runtime_cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned int version,
                                                     unsigned long long flags,
                                                     enum cudaDriverEntryPointQueryResult *status)
{
    int found = 1;
    if (!symbol || !function)
        return cudaErrorInvalidValue;
    if (runtime_per_thread() && !(flags & cudaEnableLegacyStream))
        flags |= cudaEnablePerThreadDefaultStream;
    *function = NULL;
    get_proc_address *ask = driver();
    if (!ask)
        return cudaErrorInsufficientDriver;
    int result = ask(symbol, function, (int)version, flags, &found);
    if (status) /* the driver's numbers are the runtime's */
        *status = (enum cudaDriverEntryPointQueryResult)found;
    return result == SIMGPU_NOT_FOUND ? status ? cudaSuccess : cudaErrorSymbolNotFound : (cudaError_t)result;
}

cudaError_t runtime_cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                            enum cudaDriverEntryPointQueryResult *status)
{
    return runtime_cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}
