/* SPDX-License-Identifier: Apache-2.0 */
/* What profiled.c asks of the profiler that it loads. */
#ifndef TESTS_E2E_PROFILER_H
#define TESTS_E2E_PROFILER_H

#include <stdbool.h>

#define PROFILER_API __attribute__((visibility("default")))

enum profiler_way {
    PROFILER_LINKED,    /* through the PLT */
    PROFILER_NAMED,     /* by dlsym() */
    PROFILER_CALLBACKS, /* linked, without a subscription, as PyTorch's newer ones */
    PROFILER_SHARED,    /* by dlsym(), beside others (CUDA 13.3) */
};

PROFILER_API int profiler_start(enum profiler_way way); /* 0: it runs; else what was refused is on standard output */
PROFILER_API long profiler_stop(void);                  /* kernels that it was told of; -1: some without times */

#endif
