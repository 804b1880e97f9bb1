/* SPDX-License-Identifier: Apache-2.0 */
/* Device and kernel attributes by number. Limits per compute capability are those of the CUDA C++ Programming Guide's
 * tables; what a real device would have beyond the device file (registers, texture sizes) is one plausible number. */
#include "sim/core/attributes.h"
#include "sim/core/device.h"
#include "sim/core/memory.h"
#include "sim/core/module.h"
#include "sim/core/state.h"

#include <limits.h>
#include <string.h>

#include <cuda.h>

/* clang-format off */
static const struct capability { /* Programming Guide, "Technical Specifications per Compute Capability" */
    int at_least; /* major * 10 + minor */
    int threads, blocks, shared_kib, shared_optin_kib; /* of a multiprocessor; the last of a block */
} capabilities[] = {
    {120, 1536, 24, 100,  99},
    {100, 2048, 32, 228, 227},
    { 90, 2048, 32, 228, 227},
    { 89, 1536, 24, 100,  99},
    { 87, 1536, 16, 164, 163},
    { 86, 1536, 16, 100,  99},
    { 80, 2048, 32, 164, 163},
    { 75, 1024, 16,  64,  64},
    {  0, 2048, 32,  96,  96},
};
/* clang-format on */

static const struct capability *capability(void)
{
    const struct simgpu_device *device = simgpu_device();
    const struct capability *row = capabilities;
    while (row->at_least > device->compute_major * 10 + device->compute_minor)
        row++;
    return row;
}

size_t shared_bytes_optin(void)
{
    return (size_t)capability()->shared_optin_kib << 10;
}

int simgpu_device_occupancy(unsigned threads, size_t shared_bytes)
{
    const struct capability *row = capability();
    unsigned rounded = (threads + 31) / 32 * 32;
    if (!rounded || rounded > 1024)
        return 0;
    int blocks = row->threads / (int)rounded;
    if (blocks > row->blocks)
        blocks = row->blocks;
    size_t shared = shared_bytes ? ((size_t)row->shared_kib << 10) / (shared_bytes + 1024) : (size_t)blocks;
    return shared < (size_t)blocks ? (int)shared : blocks;
}

/* clang-format off */
static const struct { int attribute, value; } fixed[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024}, {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024}, {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff}, {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535}, {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32}, {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0x7fffffff},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536}, {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1}, {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512}, {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2}, {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32}, {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1}, {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536}, {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2}, {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1}, {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1}, {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 0}, {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1}, {CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 0}, {CU_DEVICE_ATTRIBUTE_NUMA_ID, -1},
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, -1},
};
/* clang-format on */

/* Data goes on both edges of this clock. */
static int memory_clock_khz(const struct simgpu_device *device)
{
    double khz = device->bytes_per_second * 8 / 2 / device->memory_bus_bits / 1000;
    return khz < INT_MAX ? (int)khz : INT_MAX;
}

static bool varying(int board, int attribute, int *value)
{
    const struct simgpu_device *device = simgpu_device();
    const struct capability *row = capability();
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        *value = 1 + board;
        return true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        *value = (int)SHARED_BYTES_DEFAULT;
        return true;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = device->clock_khz;
        return true;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        *value = memory_clock_khz(device);
        return true;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        *value = device->memory_bus_bits;
        return true;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = device->l2_bytes;
        return true;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = device->sm_count;
        return true;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        *value = row->threads;
        return true;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
        *value = row->blocks;
        return true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = device->compute_major;
        return true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = device->compute_minor;
        return true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        *value = row->shared_kib << 10;
        return true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = row->shared_optin_kib << 10;
        return true;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
        *value = device->compute_major >= 9;
        return true;
#if CUDA_VERSION >= 12080
    case CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID: /* device and vendor */
        *value = (int)(device->pci_device_id << 16 | 0x10de);
        return true;
#endif
    default:
        return false;
    }
}

bool simgpu_device_attribute(int board, int attribute, int *value)
{
    if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
        return false;
    if (varying(board, attribute, value))
        return true;
    *value = 0; /* the vendor's word for "no such thing here" */
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (fixed[i].attribute == attribute)
            *value = fixed[i].value;
    return true;
}

/* ---- kernels ---- */

int simgpu_kernel_get(struct simgpu_kernel *kernel, int attribute, int *value)
{
    const struct simgpu_device *device = simgpu_device();
    if (!simgpu_kernel_valid(kernel))
        return SIMGPU_INVALID_HANDLE;
    core_lock();
    kernel_resolve(kernel);
    core_unlock();
    if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX || attribute >= 32)
        return SIMGPU_INVALID_VALUE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = kernel->max_threads;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)kernel->static_shared_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = kernel->registers;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = kernel->ptx_version ? kernel->ptx_version : device->compute_major * 10 + device->compute_minor;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = kernel->binary_version ? kernel->binary_version : device->compute_major * 10 + device->compute_minor;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)kernel->dynamic_shared_limit;
        break;
    default:
        *value = kernel->attribute_set >> attribute & 1 ? kernel->attribute[attribute] : 0;
    }
    return SIMGPU_SUCCESS;
}

int simgpu_kernel_set(struct simgpu_kernel *kernel, int attribute, int value)
{
    if (!simgpu_kernel_valid(kernel))
        return SIMGPU_INVALID_HANDLE;
    if (attribute < CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || attribute >= CU_FUNC_ATTRIBUTE_MAX ||
        attribute >= 32)
        return SIMGPU_INVALID_VALUE;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        if (value < 0 || (size_t)value + kernel->static_shared_bytes > shared_bytes_optin())
            return SIMGPU_INVALID_VALUE;
        kernel->dynamic_shared_limit = (size_t)value;
        return SIMGPU_SUCCESS;
    }
    kernel->attribute[attribute] = value;
    kernel->attribute_set |= 1u << attribute;
    return SIMGPU_SUCCESS;
}
