/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a still roofline share: where things are, and how marks and words get into the SVG. */
#ifndef REPORT_ROOFLINE_PICTURE_H
#define REPORT_ROOFLINE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "classify/session.h"
#include "report/columns.h"
#include "report/log_axis.h"
#include "report/path_roofs.h"

enum {
    PICTURE_WIDTH = 1000,
    PICTURE_HEIGHT = 584,
    PICTURE_LEFT = 100, /* of the area that the axes span */
    PICTURE_RIGHT = 668,
    PICTURE_TOP = 44,
    PICTURE_BOTTOM = 500,
    PICTURE_SIDE = 692, /* left edge of the legend and the key */
};

/* An operator that has a place. */
struct picture_point {
    const struct operator_row *op;
    size_t place; /* in operators[] */
    double x, y;  /* FLOP/byte, FLOP/s */
    double share; /* of the time; NAN: not known */
    double left, top, radius;
};

struct picture {
    const struct column_source *source;
    int device;
    struct path_roof roofs[GPU_PATH_COUNT];
    size_t roof_count;
    struct picture_point *points; /* that are drawn, longest time first */
    size_t point_count;
    bool by_roof; /* nothing was timed: points lie at their roof, shares are of the time there */
    size_t not_drawn, not_placed;
    double not_drawn_share, not_placed_share; /* NAN: not known */
    struct log_axis x, y;
    FILE *out;
};

/* The first MOST operators of the device that have a place, and how many are left out. The caller frees picture->points. */
void roofline_points_find(struct picture *picture, size_t most);
/* Where they are drawn: needs the axes. */
void roofline_points_place(struct picture *picture);
/* Bubbles, the numbers of those among the first ROWS of the table, and what they stand for beside them. */
void roofline_points_print(const struct picture *picture, size_t rows);

#endif
