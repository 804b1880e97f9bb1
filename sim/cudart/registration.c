/* SPDX-License-Identifier: Apache-2.0 */
/* What nvcc's host code tells at load time: which host stub stands for which kernel, which host symbol for which
 * variable. Also the stack of launch configurations. */
#include "sim/cudart/runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The vendor declares these in device-compiler headers only (crt/host_runtime.h). */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name, int thread_limit,
                            uint3 *thread, uint3 *block, dim3 *block_dim, dim3 *grid_dim, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
                       int constant, int global);
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t size,
                              int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);

/* ---- a map from host addresses ---- */

struct entry {
    const void *host;
    void **owner; /* the fat binary's handle */
    struct simgpu_kernel *kernel;
    void *address; /* of a variable, from first use on */
    size_t size;
};

static struct {
    pthread_mutex_t mutex;
    struct entry *entries;
    size_t count, capacity; /* a power of two */
} map = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static size_t slot_of(const void *host)
{
    uint64_t hash = (uint64_t)(uintptr_t)host;
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdull;
    return (hash ^ hash >> 33) & (map.capacity - 1);
}

static struct entry *find(const void *host)
{
    if (!map.capacity)
        return NULL;
    size_t slot = slot_of(host);
    while (map.entries[slot].host && map.entries[slot].host != host)
        slot = (slot + 1) & (map.capacity - 1);
    return &map.entries[slot];
}

static bool grow(void)
{
    struct entry *old = map.entries;
    size_t old_capacity = map.capacity, capacity = old_capacity ? 2 * old_capacity : 4096;
    struct entry *entries = calloc(capacity, sizeof *entries);
    if (!entries)
        return false;
    map.entries = entries;
    map.capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].host)
            *find(old[i].host) = old[i];
    free(old);
    return true;
}

/* A later registration of the same address replaces: the library that had it is gone. */
static void put(struct entry entry)
{
    pthread_mutex_lock(&map.mutex);
    if (2 * (map.count + 1) <= map.capacity || grow()) {
        struct entry *place = find(entry.host);
        map.count += !place->host;
        *place = entry;
    }
    pthread_mutex_unlock(&map.mutex);
}

void **__cudaRegisterFatBinary(void *image)
{
    void **handle = malloc(sizeof *handle);
    if (handle)
        *handle = image;
    return handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    pthread_mutex_lock(&map.mutex);
    for (size_t i = 0; i < map.capacity; i++)
        if (map.entries[i].owner == handle) { /* the place stays taken, or later ones couldn't be found */
            if (map.entries[i].kernel)
                simgpu_kernel_forget_image(map.entries[i].kernel);
            map.entries[i].kernel = NULL;
            map.entries[i].size = 0;
            map.entries[i].owner = NULL;
        }
    pthread_mutex_unlock(&map.mutex);
    free(handle);
}

char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name, int thread_limit,
                            uint3 *thread, uint3 *block, dim3 *block_dim, dim3 *grid_dim, int *warp_size)
{
    (void)device_stub, (void)thread_limit, (void)thread, (void)block, (void)block_dim, (void)grid_dim, (void)warp_size;
    put((struct entry){.host = stub, .owner = handle, .kernel = simgpu_kernel_register(name, handle ? *handle : NULL)});
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
                       int constant, int global)
{
    (void)device, (void)name, (void)external, (void)constant, (void)global;
    put((struct entry){.host = host, .owner = handle, .size = size});
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
    (void)name;
    put((struct entry){.host = host, .owner = handle, .address = host, .size = size});
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t size,
                              int constant, int global)
{
    (void)device, (void)name, (void)external, (void)constant, (void)global;
    void *address;
    if (simgpu_memory_allocate(SIMGPU_MEMORY_MANAGED, size ? size : 1, 0, NULL, &address))
        return;
    memset(address, 0, size);
    *host = address;
    put((struct entry){.host = host, .owner = handle, .address = address, .size = size});
}

struct simgpu_kernel *runtime_kernel(const void *function)
{
    if (!function)
        return NULL;
    pthread_mutex_lock(&map.mutex);
    const struct entry *entry = find(function);
    struct simgpu_kernel *kernel = entry && entry->host ? entry->kernel : NULL;
    pthread_mutex_unlock(&map.mutex);
    if (!kernel && simgpu_kernel_valid(function))
        kernel = (struct simgpu_kernel *)function;
    return kernel;
}

const char *runtime_symbol(const void *function)
{
    const struct simgpu_kernel *kernel = runtime_kernel(function);
    return kernel ? simgpu_kernel_name(kernel) : NULL;
}

bool runtime_variable(const void *symbol, void **address, size_t *size)
{
    pthread_mutex_lock(&map.mutex);
    struct entry *entry = symbol ? find(symbol) : NULL;
    bool known = entry && entry->host && entry->size;
    if (known && !entry->address) {
        known = !simgpu_memory_allocate(SIMGPU_MEMORY_DEVICE, entry->size, 0, NULL, &entry->address);
        if (known)
            memset(entry->address, 0, entry->size);
    }
    if (known) {
        *address = entry->address;
        *size = entry->size;
    }
    pthread_mutex_unlock(&map.mutex);
    return known;
}

cudaError_t runtime_cudaGetSymbolAddress(void **address, const void *symbol)
{
    size_t size;
    if (!address)
        return cudaErrorInvalidValue;
    return runtime_variable(symbol, address, &size) ? cudaSuccess : cudaErrorInvalidSymbol;
}

cudaError_t runtime_cudaGetSymbolSize(size_t *size, const void *symbol)
{
    void *address;
    if (!size)
        return cudaErrorInvalidValue;
    return runtime_variable(symbol, &address, size) ? cudaSuccess : cudaErrorInvalidSymbol;
}

cudaError_t runtime___cudaGetKernel(cudaKernel_t *kernel, const void *entry)
{
    struct simgpu_kernel *known = runtime_kernel(entry);
    *kernel = (cudaKernel_t)known;
    return known ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

/* ---- launch configurations between `<<<` and the stub ---- */

#define CONFIGURATIONS 64
static __thread struct {
    struct configuration {
        dim3 grid, block;
        size_t shared;
        void *stream;
    } stack[CONFIGURATIONS];
    unsigned depth;
} pushed;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream)
{
    if (pushed.depth == CONFIGURATIONS)
        return 1;
    pushed.stack[pushed.depth++] = (struct configuration){grid, block, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (!pushed.depth)
        return runtime_record(cudaErrorMissingConfiguration);
    const struct configuration *top = &pushed.stack[--pushed.depth];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    *(void **)stream = top->stream;
    return cudaSuccess;
}
