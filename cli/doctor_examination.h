/* SPDX-License-Identifier: Apache-2.0 */
/* What all checks look at: asked once, each question in a child. */
#ifndef CLI_DOCTOR_EXAMINATION_H
#define CLI_DOCTOR_EXAMINATION_H

#include "cli/doctor.h"
#include "cli/options.h"

/* DOCTOR has what was asked (cli/doctor.h); SIM_OPTIONS have been checked, CUDA_MAJOR 0: that of the target's libraries, else
 * the newest. False: one line has been printed, and nothing is left behind. */
bool doctor_examine(struct doctor *doctor, const struct option_list *sim_options, int cuda_major, const char *command);
/* For record: whether the kernels of a program like ARGV would be timed, GPU, SIM_OPTIONS and CUDA_MAJOR as above, TIMING as its
 * --timing. False: one line has been printed. */
bool doctor_examination_requires_timing(const struct gpu_spec *gpu, const struct option_list *sim_options,
                                        int cuda_major, const char *timing, char **argv, const char *command);
/* Removes what was made for it. */
void doctor_examination_free(struct doctor *doctor);

#endif
