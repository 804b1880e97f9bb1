/* SPDX-License-Identifier: Apache-2.0 */
/* What `rooftap gpus` was asked to show, and the two ways to show it. */
#ifndef CLI_GPUS_VIEW_H
#define CLI_GPUS_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/gpu_specs.h"

/* One pair of types that attention is worked out for. */
struct gpus_crossing {
    enum gpu_path compute;
    enum number_type kv;
    double kv_bytes, qo_bytes; /* per element; Q and O as wide as what is multiplied */
};

enum { GPUS_CROSSINGS = 4 };

struct gpus_view {
    const struct gpu_spec **rows; /* chosen and sorted */
    size_t count, left_out;       /* left_out: they have no peak for DTYPE, or it is not known */
    const char *dtype;            /* the word of --dtype; NULL: all */
    bool one;                     /* a GPU was named */
    int group;                    /* GQA ratio of --lridge; 0: not asked */
    const char *kv;               /* "bf16" or "fp8": of --kv; NULL: both */
};

/* The pairs of VIEW for ROW: bf16 (fp16 where there is no bf16) and fp8, or --dtype; with K and V of both types, or of --kv.
 * Returns how many. */
int gpus_crossings(const struct gpus_view *view, const struct gpu_spec *row, struct gpus_crossing out[GPUS_CROSSINGS]);

bool gpus_can_simulate(const struct gpu_spec *row); /* 'rooftap record --simulate' takes its key */

bool gpus_print_text(const struct gpus_view *view); /* false: out of memory */
bool gpus_print_json(const struct gpus_view *view);

#endif
