/* SPDX-License-Identifier: Apache-2.0 */
/* A grouped call, whose sizes are in arrays on the host: one record lists its groups, the signature refers to it. */
#ifndef PRELOAD_CALL_GROUPS_H
#define PRELOAD_CALL_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/cublas_types.h"

struct call_event;
struct call_shape;

/* As they were passed: addresses, followed only once the call succeeded. */
struct call_groups {
    int64_t count;
    bool wide; /* sizes are int64_t, else int */
    const cublasOperation_t *trans_a, *trans_b;
    const void *size[3]; /* m, n, k */
    const void *ld[3];   /* A, B, C */
    const void *batch;   /* matrices of each group */
};

/* call_record_end() of such a call; EVENT's alpha and beta are arrays. */
void call_record_end_groups(struct call_shape *shape, struct call_event *event, const struct call_groups *groups,
                            int status, const void *real);

#endif
