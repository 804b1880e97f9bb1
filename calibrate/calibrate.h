/* SPDX-License-Identifier: Apache-2.0 */
/* Measures one GPU, from its libraries to a calibration. */
#ifndef CALIBRATE_CALIBRATE_H
#define CALIBRATE_CALIBRATE_H

#include <stdbool.h>

#include "classify/calibration.h"

struct calibrate_options {
    int ordinal;                /* CUDA's, as CUDA_VISIBLE_DEVICES leaves it */
    bool quick;                 /* fewer shapes */
    double seconds;             /* after which what is left is left out */
    const char *library_folder; /* NULL: where the loader, the toolkit and Python's wheels have them */
    void (*progress)(void *context, const char *what, double share); /* NULL: none */
    void *context;
};

/* False: *error says why. */
bool calibrate(const struct calibrate_options *options, struct calibration *calibration,
               struct calibration_error *error);

#endif
