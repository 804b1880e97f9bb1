/* SPDX-License-Identifier: Apache-2.0 */
/* `record --simulate GPU`: writes the device that the stand-in libraries read, and makes the target
 * load them. */
#ifndef CLI_SIMULATION_H
#define CLI_SIMULATION_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "classify/gpu_specs.h"
#include "cli/environment.h"
#include "cli/layout.h"
#include "cli/options.h"
#include "cli/program.h"

#define SIMULATION_DEVICE_FILE "simulated-gpu.conf"

/* CUDA devices, and the one that exists in the simulator only. */
bool simulation_possible(const struct gpu_spec *gpu);
/* Writes FOLDER/simulated-gpu.conf from the row; OVERRIDES have been checked (cli/sim_options.h). False: one line has been
 * printed. */
bool simulation_write_device(const char *folder, const struct gpu_spec *gpu, const struct option_list *overrides,
                             const char *command);
/* Puts the stand-ins of one CUDA major in the target's way; those of the others can be found too, by their SONAMEs. 0: the
 * newest that there are. False: one line has been printed. */
bool simulation_prepare(struct environment *environment, const struct layout *layout, const char *folder,
                        int cuda_major, const char *command);
/* One line if PROGRAM can't be simulated. */
void simulation_examine(const struct program *program, const char *command);

struct simulation_watch {
    const char *simulator_folder;
    const char *command;
    bool told;
};
/* A target_watch: one line, once, if PID or a child of it has mapped a vendor library beside the
 * stand-ins. */
void simulation_watch(pid_t pid, void *watch);

#endif
