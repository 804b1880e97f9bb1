/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this thread is inside one of our wrappers: the outermost call counts, what it calls in turn belongs to it. */
#ifndef PRELOAD_DEPTH_H
#define PRELOAD_DEPTH_H

#include <stdint.h>

struct preload_depth {
    uint64_t call;   /* id of the library call in flight in this thread, 0: none */
    uint64_t launch; /* the same for a kernel launch */
};

#pragma GCC visibility push(hidden)
extern _Thread_local struct preload_depth preload_depth __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop

#endif
