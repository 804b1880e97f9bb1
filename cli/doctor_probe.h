/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever may crash or hang is asked in a child of a program of its own: NVIDIA's driver, NVML, CUPTI, a loader. The child
 * says what it found in lines "KEY VALUE", and "stage WHAT" before each step, so that a crash has a name. */
#ifndef CLI_DOCTOR_PROBE_H
#define CLI_DOCTOR_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/environment.h"

enum doctor_probe_end {
    DOCTOR_PROBE_NOT_ASKED = 0,
    DOCTOR_PROBE_NO_CHILD, /* none could be made */
    DOCTOR_PROBE_ANSWERED,
    DOCTOR_PROBE_CRASHED, /* signal */
    DOCTOR_PROBE_FAILED,  /* it ended with an exit status that is not 0 */
    DOCTOR_PROBE_HUNG,    /* it was killed after the time-out */
};

enum { DOCTOR_PROBE_TEXT = 65536 };

struct doctor_probe {
    enum doctor_probe_end end;
    int value; /* signal, exit status, or errno */
    char text[DOCTOR_PROBE_TEXT];
};

/* Runs ARGV (absolute path first) with that environment and keeps what it writes to standard output; its standard error goes
 * nowhere. Returns after TIMEOUT_S seconds at the latest. */
void doctor_probe_run(struct doctor_probe *probe, char *const argv[], const struct environment *environment,
                      unsigned timeout_s);
/* The same of this very program: `rooftap doctor --probe WHAT [ARGUMENT]...`, which is for that alone. ARGUMENTS ends with
 * NULL, or is NULL. */
void doctor_probe_ask(struct doctor_probe *probe, const char *what, const char *const *arguments,
                      const struct environment *environment, unsigned timeout_s);

/* The value after the last KEY, copied into OUT; false and "" if there is none. */
bool doctor_probe_last(const struct doctor_probe *probe, const char *key, char *out, size_t size);
/* The INDEX-th from 0 on. */
bool doctor_probe_value(const struct doctor_probe *probe, const char *key, int index, char *out, size_t size);
/* -1 if it is not said. */
long doctor_probe_number(const struct doctor_probe *probe, const char *key);
/* "crashed in cuInit (Segmentation fault)", "did not answer within 30 s in cuInit". */
void doctor_probe_trouble(const struct doctor_probe *probe, unsigned timeout_s, char *out, size_t size);

#endif
