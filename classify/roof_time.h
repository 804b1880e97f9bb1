/* SPDX-License-Identifier: Apache-2.0 */
/* Times at the specification's roof of a session's device, for what is compared there. NAN where the device, its peak or
 * what is asked is not known. */
#ifndef CLASSIFY_ROOF_TIME_H
#define CLASSIFY_ROOF_TIME_H

#include <stdint.h>

#include "classify/gpu_specs.h"

struct session;
struct operator_row;

double roof_time_ns(const struct session *session, int device, enum gpu_path path, double flops, double bytes);
double roof_memory_ns(const struct session *session, int device, double bytes);

/* The same for a kernel of BLOCKS: with roof_fill() of the compute peak, and of the bandwidth with what so many blocks draw,
 * where a calibration measured that; all of it otherwise. */
double roof_blocks_ns(const struct session *session, int device, enum gpu_path path, double blocks, double flops,
                      double bytes);

/* At least 0, at most the device's busy time: streams overlap, and more than that can't be saved. */
double roof_saved_ns(const struct session *session, int device, double saved_ns);

/* What savings on a device are a share of: its busy time; where times stand for more than was timed, all that its operators
 * took. 0: not known. */
double roof_base_ns(const struct session *session, int device);

int32_t roof_sm_count(const struct session *session, int device); /* negative: not known */

/* What BLOCKS on SM_COUNT SMs can use of the compute peak: min(1, G/S), past whole waves G/(S ceil(G/S)). */
double roof_fill(double blocks, int32_t sm_count);

/* Of the kernel that took most of the operator's time; NAN: persistent, no grid, or no number of SMs. */
double roof_fill_of_operator(const struct session *session, const struct operator_row *op);

/* Executions by call: more than 1 where graphs replayed what was called once, less where not all calls were timed. Of what has
 * time those that it covers, else all. */
double roof_replays(const struct operator_row *op);

#endif
