/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap doctor`: what a check is, and what all checks look at. Each check is a function in a doctor_*.c and a row of the
 * table in doctor_checks.c; it changes nothing and says one thing. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/gpu_specs.h"
#include "cli/doctor_libraries.h"
#include "cli/doctor_probe.h"
#include "cli/environment.h"
#include "cli/layout.h"
#include "cli/program.h"
#include "trace/trace.h"

enum doctor_status { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL, DOCTOR_UNKNOWN, DOCTOR_STATUS_COUNT };

enum { DOCTOR_TIMEOUT_S = 30 }; /* of one question */
enum { DOCTOR_EVIDENCE = 1024, DOCTOR_FIX = 512, DOCTOR_DEVICES = 16 };

struct doctor_finding {
    enum doctor_status status;
    char evidence[DOCTOR_EVIDENCE]; /* what was found */
    char fix[DOCTOR_FIX];           /* what to do; "" where nothing is */
};

/* What a recorded process said of its timing: the notes of the trace that the question left. */
struct doctor_timing {
    bool on;
    bool told;      /* on or off */
    int32_t value;  /* of the note: CUPTI's version, or its result */
    char text[640]; /* of the note */
    struct trace_device devices[DOCTOR_DEVICES];
    size_t device_count;
};

struct doctor {
    /* what was asked */
    const char *folder;         /* of the session to be */
    const char *sysroot;        /* "" or where a copy of /proc and /dev lies */
    const struct gpu_spec *gpu; /* to simulate; NULL: the real ones */
    const char *timing_mode;    /* record's --timing; NULL: as the environment says */
    unsigned timeout_s;
    char **argv; /* NULL: no target */
    /* what was prepared and asked, once for all checks */
    struct layout layout;
    char scratch[64];
    struct environment plain, loaded; /* without and with librooftap.so */
    struct program program;
    bool program_found;
    struct doctor_libraries libraries; /* of the target */
    struct doctor_probe preload, driver, nvml, timed;
    struct doctor_timing timing;
};

typedef void doctor_function(const struct doctor *doctor, struct doctor_finding *finding);

struct doctor_check {
    const char *name;
    doctor_function *look;
    bool of_target;     /* only with a command */
    const char *source; /* of the rule */
};

/* Ends with a row whose name is NULL. */
extern const struct doctor_check doctor_checks[];

/* STATUS with its evidence; no fix. */
void doctor_say(struct doctor_finding *finding, enum doctor_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void doctor_advise(struct doctor_finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* First line of SYSROOT/PATH that begins with KEY ("": the first), what follows KEY and blanks. False: no such file or line. */
bool doctor_read_line(const struct doctor *doctor, const char *path, const char *key, char *out, size_t size);

doctor_function doctor_host_libc, doctor_host_kernel, doctor_host_preload, doctor_host_folder,
    doctor_host_shared_memory, doctor_host_ptrace;
doctor_function doctor_gpus_device_files, doctor_gpus_driver, doctor_gpus_found, doctor_gpus_roofs, doctor_gpus_mig,
    doctor_gpus_mps, doctor_gpus_nvml;
doctor_function doctor_cupti_timing, doctor_cupti_version, doctor_cupti_copies, doctor_cupti_permission,
    doctor_cupti_profilers, doctor_cupti_switches;
doctor_function doctor_target_program, doctor_target_libraries, doctor_target_runtime, doctor_target_blas;

/* Whether cuInit() succeeded in the question about the driver. */
bool doctor_gpus_ready(const struct doctor *doctor);

#endif
