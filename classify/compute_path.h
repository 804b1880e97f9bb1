/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a GPU's multipliers a library call runs on, from the types that it names. */
#ifndef CLASSIFY_COMPUTE_PATH_H
#define CLASSIFY_COMPUTE_PATH_H

#include "classify/gpu_specs.h"
#include "classify/number_type.h"
#include "trace/trace.h"

/* Of a matrix product with operands of types A and B. GPU_PATH_UNKNOWN: a mix that no row of the GPU table has a peak for
 * (fp8 with bf16, emulated fp32); better no path than a wrong one. */
enum gpu_path compute_path_of_gemm(const struct trace_signature *signature, struct number_format a,
                                   struct number_format b);

/* Of a matrix-vector product, whose matrix has type A. */
enum gpu_path compute_path_of_gemv(struct number_format a);

#endif
