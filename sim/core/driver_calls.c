/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the nested driver calls, and the proof that their parameters are laid out as the vendor's. */
#include "sim/core/driver_calls.h"

#include <stddef.h>

#define __CUDA_API_VERSION_INTERNAL /* the parameter structs speak of old types too */
#include <cuda.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#define SAME_PLACE(ours, our_member, theirs, their_member)                                                             \
    _Static_assert(offsetof(struct ours, our_member) == offsetof(theirs, their_member), #theirs "." #their_member)

SAME_PLACE(driver_launch_params, grid, cuLaunchKernel_params, gridDimX);
SAME_PLACE(driver_launch_params, block, cuLaunchKernel_params, blockDimX);
SAME_PLACE(driver_launch_params, shared_bytes, cuLaunchKernel_params, sharedMemBytes);
SAME_PLACE(driver_launch_params, stream, cuLaunchKernel_params, hStream);
SAME_PLACE(driver_launch_params, args, cuLaunchKernel_params, kernelParams);
SAME_PLACE(driver_launch_params, args, cuLaunchCooperativeKernel_params, kernelParams);
SAME_PLACE(driver_launch_params, extra, cuLaunchKernel_params, extra);
SAME_PLACE(driver_launch_config, block, CUlaunchConfig, blockDimX);
SAME_PLACE(driver_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(driver_launch_config, stream, CUlaunchConfig, hStream);
SAME_PLACE(driver_launch_config, attributes, CUlaunchConfig, attrs);
SAME_PLACE(driver_launch_config, attribute_count, CUlaunchConfig, numAttrs);
SAME_PLACE(driver_launch_ex_params, function, cuLaunchKernelEx_params, f);
SAME_PLACE(driver_launch_ex_params, extra, cuLaunchKernelEx_params, extra);
SAME_PLACE(driver_graph_launch_params, stream, cuGraphLaunch_params, hStream);

/* clang-format off */
static const struct { uint32_t cbid; const char *name; } names[] = {
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,                 "cuLaunchKernel"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,            "cuLaunchKernel_ptsz"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,      "cuLaunchCooperativeKernel"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, "cuLaunchCooperativeKernel_ptsz"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,               "cuLaunchKernelEx"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,          "cuLaunchKernelEx_ptsz"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,                  "cuGraphLaunch"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,             "cuGraphLaunch_ptsz"},
};
/* clang-format on */

const char *driver_call_name(uint32_t cbid)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].cbid == cbid)
            return names[i].name;
    return NULL;
}
