/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that make_launches.py writes: launches with what they mean. */
#ifndef TESTS_CLASSIFY_LAUNCH_ROWS_SYNTHETIC_LAUNCH_H
#define TESTS_CLASSIFY_LAUNCH_ROWS_SYNTHETIC_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/launch_decode.h"
#include "trace/kernel_signature.h"
#include "trace/launch_values.h"

struct synthetic_parameter {
    bool pointer, set; /* a pointer, and not NULL */
    bool untold;       /* no byte of it was kept */
    unsigned bytes;    /* of VALUE */
    uint64_t value[18];
};

struct synthetic_launch {
    char *label, *name, *expected; /* EXPECTED: "reading=read kind=matmul m=1 ..." */
    uint32_t grid[3], block[3];
    size_t count;
    struct synthetic_parameter parameter[KERNEL_SIGNATURE_PARAMETERS_MOST];
};

/* All lines of the file at PATH; ends the program where one cannot be read. */
struct synthetic_launch *synthetic_launches_read(const char *path, size_t *count);
void synthetic_launches_free(struct synthetic_launch *launches, size_t count);

/* NAME: another than the launch's own, or NULL. */
void synthetic_launch_decode(const struct synthetic_launch *launch, const char *name, struct launch_decode *decode);

/* Where DECODE differs from what is expected, into TEXT; false: it doesn't. */
bool synthetic_launch_differs(const struct synthetic_launch *launch, const struct launch_decode *decode,
                              char text[256]);

/* Whether two readings tell the same of a launch. */
bool synthetic_decodes_equal(const struct launch_decode *left, const struct launch_decode *right);

#endif
