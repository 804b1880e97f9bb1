/* SPDX-License-Identifier: Apache-2.0 */
/* What launches of executable graphs add to steps and to phases of calls. A graph was captured from calls that were recorded, so
 * its replay is that part of a step which those calls were, with the step's phase; it begins as many steps as first products
 * are among them, so a model that is cut into several graphs a step counts one. What was captured executed nothing itself
 * and is taken away. A graph that was not captured, and one whose calls are in no step, adds nothing. */
#ifndef CLASSIFY_REPLAY_PHASES_H
#define CLASSIFY_REPLAY_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/phases.h"

struct graph_replays;
struct operator_join;

struct replay_phases {
    uint64_t (*added)[PHASE_COUNT], (*captured)[PHASE_COUNT]; /* by step_call_number() */
    size_t capacity;
    uint64_t steps[PHASE_COUNT], captured_steps[PHASE_COUNT];
    double rows[PHASE_COUNT], captured_rows[PHASE_COUNT]; /* sums over those steps */
};

/* Of what was read so far. */
void replay_phases_find(const struct operator_join *join, struct replay_phases *replays);
void replay_phases_free(struct replay_phases *replays);
/* Into counts of CAPTURED: captured calls that no record of a graph tells of, so far, as replay_phases_apply() takes them. */
void replay_phases_captured(const struct operator_join *join, struct graph_replays *captured);

/* Executions by phase of a call, or of a launch: step_counts_of() and what replays change of it. */
void replay_phases_of(const struct replay_phases *replays, const struct operator_join *join, uint32_t number,
                      bool launch, uint64_t phases[PHASE_COUNT]);
uint64_t replay_phases_steps(const struct replay_phases *replays, const struct operator_join *join, enum phase phase,
                             double *rows);

/* Into JOIN's own counts, and with them captured calls of which no record of a graph tells: those of an update that changed
 * nothing of them. After join_timing_end(), once. */
void replay_phases_apply(struct operator_join *join);

#endif
