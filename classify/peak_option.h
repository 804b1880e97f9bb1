/* SPDX-License-Identifier: Apache-2.0 */
/* Figures that a user gives for a GPU, as `rooftap report --peak` takes them: [DEVICE:]WORD=NUMBER[,WORD=NUMBER]...
 * WORD is a path (bf16, fp8, fp16-acc16, ...; classify/gpu_paths.def) in TFLOP/s, or bw in GB/s; G, T or P after a number
 * say the unit: bw=3.35T. They stand for the device as it is: nothing is scaled by its SMs or memory slices. */
#ifndef CLASSIFY_PEAK_OPTION_H
#define CLASSIFY_PEAK_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/gpu_specs.h"
#include "classify/roofline.h"

enum { PEAK_OPTION_WITHOUT_ROW = -1, PEAK_OPTION_ERROR_BYTES = 256 };

struct peak_option {
    int device;                              /* number in the report; PEAK_OPTION_WITHOUT_ROW: all that have no row */
    double flops_per_second[GPU_PATH_COUNT]; /* 0: not given */
    double bytes_per_second;                 /* 0: not given */
};

struct peak_options {
    const struct peak_option *options; /* later ones win */
    size_t count;
};

/* False, with one line in ERROR that names the part and what was expected, if TEXT is not of that form. */
bool peak_option_parse(const char *text, struct peak_option *option, char error[PEAK_OPTION_ERROR_BYTES]);

/* A row of the figures given and, for those that aren't, of what BEFORE has, scaled to the device. To be freed by free(),
 * which frees its texts, too. */
struct gpu_spec *peak_option_row(const struct peak_option *option, const struct device_roofs *before);

#endif
