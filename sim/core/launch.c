/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches: the limits a device puts on them, and the driver call that the observer sees for each. */
#include "sim/core/device.h"
#include "sim/core/driver_calls.h"
#include "sim/core/state.h"

static bool dims_fit(const struct simgpu_dims *dims, int max_threads)
{
    static const unsigned grid_limit[3] = {0x7fffffff, 65535, 65535}, block_limit[3] = {1024, 1024, 64};
    unsigned long long threads = 1;
    for (int i = 0; i < 3; i++) {
        if (!dims->grid[i] || dims->grid[i] > grid_limit[i] || !dims->block[i] || dims->block[i] > block_limit[i])
            return false;
        threads *= dims->block[i];
    }
    return threads <= (unsigned long long)max_threads;
}

static bool clusters_fit(const struct simgpu_dims *dims)
{
    unsigned blocks = 1;
    if (!dims->cluster[0])
        return true;
    for (int i = 0; i < 3; i++) {
        unsigned cluster = dims->cluster[i] ? dims->cluster[i] : 1;
        if (dims->grid[i] % cluster)
            return false;
        blocks *= cluster;
    }
    return simgpu_device()->compute_major >= 9 && blocks <= 16;
}

static bool all_at_once(const struct simgpu_dims *dims)
{
    unsigned long long blocks = (unsigned long long)dims->grid[0] * dims->grid[1] * dims->grid[2];
    int fit = simgpu_device_occupancy(dims->block[0] * dims->block[1] * dims->block[2], dims->shared_bytes);
    return blocks <= (unsigned long long)fit * (unsigned)simgpu_device()->sm_count;
}

int kernel_check(const struct simgpu_kernel_launch *launch)
{
    struct simgpu_kernel *kernel = launch->kernel;
    if (!object_valid(&core_kernels, kernel))
        return SIMGPU_INVALID_HANDLE;
    kernel_resolve(kernel);
    if (!dims_fit(&launch->dims, kernel->max_threads))
        return SIMGPU_INVALID_CONFIGURATION;
    if (launch->dims.shared_bytes + kernel->static_shared_bytes > kernel->dynamic_shared_limit)
        return SIMGPU_INVALID_VALUE;
    if (!clusters_fit(&launch->dims))
        return SIMGPU_INVALID_CLUSTER_SIZE;
    if (launch->cooperative && !all_at_once(&launch->dims))
        return SIMGPU_COOPERATIVE_LAUNCH_TOO_LARGE;
    return SIMGPU_SUCCESS;
}

static int enqueue(struct simgpu_stream *stream, const struct simgpu_kernel_launch *launch)
{
    struct simgpu_work work = {.type = SIMGPU_WORK_KERNEL, .kernel = *launch};
    return simgpu_enqueue(stream, &work);
}

/* One of cuLaunchKernel's kind: 442, 477, 478 begin with the same parameters as 307. */
static int launch_plain(struct simgpu_stream *stream, const struct simgpu_kernel_launch *launch, uint32_t cbid)
{
    const struct simgpu_dims *dims = &launch->dims;
    struct driver_launch_params params = {.function = launch->kernel,
                                          .grid = {dims->grid[0], dims->grid[1], dims->grid[2]},
                                          .block = {dims->block[0], dims->block[1], dims->block[2]},
                                          .shared_bytes = (unsigned)dims->shared_bytes,
                                          .stream = stream,
                                          .args = launch->args};
    struct simgpu_api_call call = {.domain = SIMGPU_DRIVER_API,
                                   .cbid = cbid,
                                   .function = driver_call_name(cbid),
                                   .params = &params,
                                   .symbol = launch->kernel ? launch->kernel->name : NULL};
    simgpu_api_enter(&call);
    int result = enqueue(stream, launch);
    simgpu_api_exit(&call, &result);
    return result;
}

static int launch_ex(struct simgpu_stream *stream, const struct simgpu_kernel_launch *launch, uint32_t cbid)
{
    const struct simgpu_dims *dims = &launch->dims;
    struct driver_launch_config config = {.grid = {dims->grid[0], dims->grid[1], dims->grid[2]},
                                          .block = {dims->block[0], dims->block[1], dims->block[2]},
                                          .shared_bytes = (unsigned)dims->shared_bytes,
                                          .stream = stream};
    struct driver_launch_ex_params params = {.config = &config, .function = launch->kernel, .args = launch->args};
    struct simgpu_api_call call = {.domain = SIMGPU_DRIVER_API,
                                   .cbid = cbid,
                                   .function = driver_call_name(cbid),
                                   .params = &params,
                                   .symbol = launch->kernel ? launch->kernel->name : NULL};
    simgpu_api_enter(&call);
    int result = enqueue(stream, launch);
    simgpu_api_exit(&call, &result);
    return result;
}

static __thread uint64_t next_duration_ns;

void simgpu_next_duration(uint64_t duration_ns)
{
    next_duration_ns = duration_ns;
}

int simgpu_launch_work(struct simgpu_stream *stream, const struct simgpu_kernel_launch *launch, uint32_t driver_cbid)
{
    if (!driver_cbid) {
        struct simgpu_kernel_launch timed = *launch;
        if (next_duration_ns)
            timed.duration_ns = next_duration_ns;
        next_duration_ns = 0;
        return enqueue(stream, &timed);
    }
    core_lock();
    bool known = object_valid(&core_kernels, launch->kernel);
    core_unlock();
    if (!known)
        return SIMGPU_INVALID_HANDLE;
    return (driver_cbid == 652 || driver_cbid == 653 ? launch_ex : launch_plain)(stream, launch, driver_cbid);
}

int simgpu_launch(struct simgpu_stream *stream, struct simgpu_kernel *kernel, const struct simgpu_dims *dims,
                  void **args, uint64_t duration_ns, uint32_t driver_cbid)
{
    struct simgpu_kernel_launch launch = {.kernel = kernel, .dims = *dims, .duration_ns = duration_ns, .args = args};
    return simgpu_launch_work(stream, &launch, driver_cbid);
}
