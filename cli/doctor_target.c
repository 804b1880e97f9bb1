/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the program that is to be recorded, from its files: it is not run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cuda_image.h"
#include "cli/doctor.h"

void doctor_target_program(const struct doctor *doctor, struct doctor_finding *finding)
{
    const struct program *program = &doctor->program;
    if (!doctor->program_found) {
        doctor_say(finding, DOCTOR_FAIL, "'%s' is no program that can be run", doctor->argv[0]);
        doctor_advise(finding, "give its path, or look at PATH");
        return;
    }
    const char *obstacle = program_obstacle(program);
    if (obstacle) {
        doctor_say(finding, DOCTOR_FAIL, "'%s' %s: it runs, but is not recorded", program->path, obstacle);
        doctor_advise(finding, "%s",
                      program->privileged ? "run a copy without set-user-ID and capabilities"
                                          : "use a dynamically linked build for this machine and for glibc");
    } else if (!program->elf) {
        doctor_say(finding, DOCTOR_UNKNOWN, "'%s' is no ELF file that can be read", program->path);
    } else {
        doctor_say(finding, DOCTOR_OK, "'%s' takes LD_PRELOAD", program->path);
    }
}

/* True: said already why nothing is known of its libraries. */
static bool say_not_listed(const struct doctor *doctor, struct doctor_finding *finding)
{
    if (doctor->libraries.known)
        return false;
    doctor_say(finding, DOCTOR_UNKNOWN, "%s",
               *doctor->libraries.why ? doctor->libraries.why : "no program whose loader could be asked");
    return true;
}

/* ---- libraries ---- */

void doctor_target_libraries(const struct doctor *doctor, struct doctor_finding *finding)
{
    char missing[512] = "", cuda[512] = "";
    const struct doctor_libraries *libraries = &doctor->libraries;
    if (say_not_listed(doctor, finding))
        return;
    for (int i = 0; i < libraries->count; i++) {
        const struct doctor_library *library = &libraries->rows[i];
        bool is_cuda = strncmp(library->name, "libcu", 5) == 0 || strncmp(library->name, "libnv", 5) == 0;
        char *list = !*library->path ? missing : is_cuda ? cuda : NULL;
        size_t used = list ? strlen(list) : 0;
        const char *name = *library->path ? library->path : library->name;
        const size_t comma = used ? 2 : 0, bytes = strlen(name) + 1;
        if (list && used + comma + bytes <= sizeof missing) { /* a line holds no more; the first ones tell enough */
            memcpy(list + used, ", ", comma);
            memcpy(list + used + comma, name, bytes);
        }
    }
    if (*missing) {
        doctor_say(finding, DOCTOR_FAIL, "it does not start: the loader finds no %s", missing);
        doctor_advise(finding, "set LD_LIBRARY_PATH as for its own runs");
    } else if (*cuda) {
        doctor_say(finding, DOCTOR_OK, "%s", cuda);
    } else {
        doctor_say(finding, DOCTOR_UNKNOWN,
                   "it is linked with no library of CUDA's; what it opens later is not known before it runs");
    }
}

/* ---- what is inside ---- */

static bool is_vendor(const char *name)
{
    static const char *const starts[] = {"libcu", "libnv", "libnccl"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

enum inside { INSIDE_RUNTIME, INSIDE_BLAS };

static bool has(const char *path, enum inside what)
{
    struct cuda_image image;
    return *path && cuda_image_examine(path, &image) && (what == INSIDE_RUNTIME ? image.runtime : image.blas);
}

/* The program, or the first of its libraries other than NVIDIA's own, that has it inside; NULL. */
static const char *who_has(const struct doctor *doctor, enum inside what)
{
    if (has(doctor->program.path, what))
        return doctor->program.path;
    for (int i = 0; i < doctor->libraries.count; i++)
        if (!is_vendor(doctor->libraries.rows[i].name) && has(doctor->libraries.rows[i].path, what))
            return doctor->libraries.rows[i].path;
    return NULL;
}

static int major_after(const char *name, const char *stem)
{
    return strncmp(name, stem, strlen(stem)) == 0 ? atoi(name + strlen(stem)) : 0;
}

void doctor_target_runtime(const struct doctor *doctor, struct doctor_finding *finding)
{
    long driver = doctor_probe_number(&doctor->driver, "driver_version");
    const struct doctor_library *shared = doctor_libraries_named(&doctor->libraries, "libcudart.so.");
    const char *inside = doctor->program_found ? who_has(doctor, INSIDE_RUNTIME) : NULL;
    int major = shared ? major_after(shared->name, "libcudart.so.") : 0;
    if (inside && doctor->gpu) {
        doctor_say(finding, DOCTOR_FAIL, "'%s' has the CUDA runtime built in and can't be simulated", inside);
        doctor_advise(finding, "link it with -cudart shared");
    } else if (inside) {
        doctor_say(finding, DOCTOR_OK, "built into '%s': its launches are seen at the driver", inside);
    } else if (major && driver > 0 && major > driver / 1000) {
        doctor_say(finding, DOCTOR_FAIL, "%s is of CUDA %d, the driver serves up to %ld.%ld", shared->name, major,
                   driver / 1000, driver % 1000 / 10);
        doctor_advise(finding, "update the driver, or take a build of the program for CUDA %ld", driver / 1000);
    } else if (say_not_listed(doctor, finding)) {
        return;
    } else if (shared) {
        doctor_say(finding, DOCTOR_OK, "CUDA %d: %s", major, shared->path);
    } else {
        doctor_say(finding, DOCTOR_UNKNOWN, "not linked with it; if it opens libcudart later, that is seen as well");
    }
}

void doctor_target_blas(const struct doctor *doctor, struct doctor_finding *finding)
{
    const struct doctor_library *blas = doctor_libraries_named(&doctor->libraries, "libcublas.so."),
                                *lt = doctor_libraries_named(&doctor->libraries, "libcublasLt.so.");
    const char *inside = doctor->program_found ? who_has(doctor, INSIDE_BLAS) : NULL;
    const struct doctor_library *shared = blas ? blas : lt;
    char resolved[PATH_MAX];
    if (inside) {
        doctor_say(finding, DOCTOR_WARN, "cuBLAS is built into '%s': kernels are timed, shapes are hidden", inside);
        doctor_advise(finding, "link it with the shared libcublas");
    } else if (say_not_listed(doctor, finding)) {
        return;
    } else if (shared) {
        doctor_say(finding, DOCTOR_OK, "%s", realpath(shared->path, resolved) ? resolved : shared->path);
    } else {
        doctor_say(finding, DOCTOR_UNKNOWN, "not linked with it; if it opens libcublas later, that is seen as well");
    }
}
