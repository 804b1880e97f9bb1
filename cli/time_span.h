/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of time and percentages as users write them. */
#ifndef CLI_TIME_SPAN_H
#define CLI_TIME_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/* A number, which may have a fraction, of ms, s, min or h; without a unit of s. In whole milliseconds. False: it is none, or no
 * whole number of them, or more than ten years. */
bool time_span_parse(const char *text, int64_t *milliseconds);

/* A number of percent, with or without the sign, in millionths. False: it is none, or no whole number of them. */
bool percent_parse(const char *text, int64_t *millionths);

#endif
