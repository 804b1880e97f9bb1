/* SPDX-License-Identifier: Apache-2.0 */
/* The driver calls that the runtime and the libraries make inside their own: the observer sees each, with parameters
 * laid out as the vendor's public struct of the same call (compared with it by a static assert). */
#ifndef SIM_CORE_DRIVER_CALLS_H
#define SIM_CORE_DRIVER_CALLS_H

#include <stdint.h>

struct driver_launch_params { /* cuLaunchKernel_params, cuLaunchCooperativeKernel_params begins alike */
    const void *function;
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    void **args, **extra;
};

struct driver_launch_config { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared_bytes;
    void *stream, *attributes;
    unsigned attribute_count;
};

struct driver_launch_ex_params { /* cuLaunchKernelEx_params */
    const struct driver_launch_config *config;
    const void *function;
    void **args, **extra;
};

struct driver_graph_launch_params { /* cuGraphLaunch_params */
    void *exec, *stream;
};

const char *driver_call_name(uint32_t cbid);

#endif
