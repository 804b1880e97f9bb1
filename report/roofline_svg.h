/* SPDX-License-Identifier: Apache-2.0 */
/* The roofline as a still picture: what a page shows without scripts, on paper, and in the documents. */
#ifndef REPORT_ROOFLINE_SVG_H
#define REPORT_ROOFLINE_SVG_H

#include <stddef.h>
#include <stdio.h>

#include "classify/session.h"

/* One <svg> for each device that was used, most time first, at most 4; then what is not in them, in words. Operators as
 * bubbles, area by share of time; the first ROWS of the table, at most 100, have the numbers of their rows as far as there is room.
 * Every colour is a custom property of page.css with a fallback, so that an <svg> stands alone as well. */
void roofline_svg_print(const struct session *session, size_t rows, FILE *out);

#endif
