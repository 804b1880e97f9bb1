/* SPDX-License-Identifier: Apache-2.0 */
/* One launch as a user writes it down: the values of a kernel's parameters, grid and block. */
#ifndef CLI_LAUNCH_PARAMS_H
#define CLI_LAUNCH_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/kernel_signature.h"
#include "trace/launch_values.h"

enum { LAUNCH_PARAMS_ERROR_BYTES = 200 };

struct launch_params {
    struct launch_parameters parameters; /* its plan is the one below */
    union {
        struct trace_parameter_plan plan;
        unsigned char
            plan_bytes[sizeof(struct trace_parameter_plan) + TRACE_PARAMETERS_MOST * sizeof(struct trace_parameter)];
    };
};

/* LIST as cli/KERNELS.md describes it, for a kernel of SIGNATURE. False, with what is wrong in ERROR. */
bool launch_params_read(const char *list, const struct kernel_signature *signature, struct launch_params *params,
                        char error[LAUNCH_PARAMS_ERROR_BYTES]);

/* "128", "128,2" or "128,2,1"; what is left out is 1. False: TEXT is no such thing. */
bool launch_params_read_extent(const char *text, uint32_t extent[3]);

#endif
