/* SPDX-License-Identifier: Apache-2.0 */
/* The child's side of cli/doctor_probe.h: it may crash, hang, or be taken apart by what it loads. */
#ifndef CLI_DOCTOR_QUESTIONS_H
#define CLI_DOCTOR_QUESTIONS_H

/* ARGV[0] says what to ask: "preload", "driver", "timing [LIBRARY]...", "nvml". Returns the exit status. */
int doctor_questions_ask(int argc, char **argv);

#endif
