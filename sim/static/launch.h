/* SPDX-License-Identifier: Apache-2.0 */
/* The two ways to launch a kernel of sim/core/, as the static libraries have them: the sources of the shared ones are
 * compiled with these names instead. */
#ifndef SIM_STATIC_LAUNCH_H
#define SIM_STATIC_LAUNCH_H

#include "sim/core/work.h"

#pragma GCC visibility push(hidden)
int static_launch(struct simgpu_stream *stream, struct simgpu_kernel *kernel, const struct simgpu_dims *dims,
                  void **args, uint64_t duration_ns, uint32_t driver_cbid);
int static_launch_work(struct simgpu_stream *stream, const struct simgpu_kernel_launch *launch, uint32_t driver_cbid);
#pragma GCC visibility pop

#endif
