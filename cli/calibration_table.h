/* SPDX-License-Identifier: Apache-2.0 */
/* A calibration as people read it, beside the specification. */
#ifndef CLI_CALIBRATION_TABLE_H
#define CLI_CALIBRATION_TABLE_H

#include <stdio.h>

#include "classify/calibration.h"

/* PATH: where it is kept. */
void calibration_table_print(const struct calibration *calibration, const char *path, FILE *out);

#endif
