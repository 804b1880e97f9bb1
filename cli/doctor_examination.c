/* SPDX-License-Identifier: Apache-2.0 */
/* A scratch folder takes the place of a session: the process that the last question starts is recorded into it, and its trace
 * tells what became of CUPTI. */
#include "cli/doctor_examination.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/simulation.h"
#include "preload/settings.h"
#include "trace/trace_reader.h"

static bool make_scratch(struct doctor *doctor, const char *command)
{
    const char *temporary = getenv("TMPDIR");
    if (!temporary || *temporary != '/' || strlen(temporary) > sizeof doctor->scratch - 24)
        temporary = "/tmp";
    snprintf(doctor->scratch, sizeof doctor->scratch, "%s/rooftap-doctor-XXXXXX", temporary);
    if (mkdtemp(doctor->scratch))
        return true;
    message_error(command, "no folder could be made in '%s' (%m); set TMPDIR to one that can be written", temporary);
    doctor->scratch[0] = '\0';
    return false;
}

static void remove_scratch(const char *folder)
{
    char path[PATH_MAX];
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < PATH_MAX)
            unlink(path); /* there are files and a link in it, no folders */
    if (listing)
        closedir(listing);
    rmdir(folder);
}

/* As record does it, but that traces are files. */
static bool load(struct doctor *doctor)
{
    struct environment *loaded = &doctor->loaded;
    const char *injection = getenv("CUDA_INJECTION64_PATH");
    return environment_set(loaded, SETTING_DIR, doctor->scratch) && environment_set(loaded, SETTING_RING, "") &&
           (!doctor->timing_mode || environment_set(loaded, SETTING_TIMING, doctor->timing_mode)) &&
           environment_append(loaded, "LD_PRELOAD", doctor->layout.shim) &&
           ((injection && *injection) || environment_set(loaded, "CUDA_INJECTION64_PATH", doctor->layout.shim));
}

static bool simulate(struct doctor *doctor, int cuda_major, const char *command)
{
    int major = cuda_major ? cuda_major : doctor->program.cuda_major;
    return simulation_prepare(&doctor->plain, &doctor->layout, doctor->scratch, major, command) &&
           simulation_prepare(&doctor->loaded, &doctor->layout, doctor->scratch, major, command);
}

static bool prepare(struct doctor *doctor, const struct option_list *sim_options, int cuda_major, const char *command)
{
    if (!make_scratch(doctor, command) || !layout_find(&doctor->layout, doctor->scratch, command))
        return false;
    if (doctor->argv)
        doctor->program_found = program_examine(&doctor->program, doctor->argv[0]);
    if (!environment_copy(&doctor->plain) || !environment_copy(&doctor->loaded) || !load(doctor)) {
        message_error(command, "out of memory");
        return false;
    }
    return !doctor->gpu || (simulation_write_device(doctor->scratch, doctor->gpu, sim_options, command) &&
                            simulate(doctor, cuda_major, command));
}

/* ---- what the recorded process said ---- */

/* What another profiler took away counts as off: the reason stands in its own note. */
static void take_note(struct doctor_timing *timing, const struct trace_item *item)
{
    const struct trace_note *note = (const void *)item->record;
    if (note->code != TRACE_NOTE_TIMING_ON && note->code != TRACE_NOTE_TIMING_OFF && note->code != TRACE_NOTE_PROFILER)
        return;
    timing->told = true;
    timing->on = note->code == TRACE_NOTE_TIMING_ON;
    timing->value = note->value;
    snprintf(timing->text, sizeof timing->text, "%.*s", (int)item->text_bytes, item->text);
}

/* Of two for one ordinal the one with a PCI id holds. */
static void take_device(struct doctor_timing *timing, const struct trace_device *device)
{
    for (size_t i = 0; i < timing->device_count; i++)
        if (timing->devices[i].ordinal == device->ordinal) {
            if (device->pci_device_id)
                timing->devices[i] = *device;
            return;
        }
    if (timing->device_count < DOCTOR_DEVICES)
        timing->devices[timing->device_count++] = *device;
}

static void read_trace(struct doctor_timing *timing, const char *path)
{
    struct trace_error error;
    struct trace_item item;
    struct trace_reader *reader = trace_reader_open(path, &error);
    while (reader && trace_reader_next(reader, &item)) {
        if (item.record->type == TRACE_RECORD_NOTE)
            take_note(timing, &item);
        if (item.record->type == TRACE_RECORD_DEVICE)
            take_device(timing, (const void *)item.record);
    }
    trace_reader_close(reader);
}

static void read_traces(struct doctor *doctor)
{
    char path[PATH_MAX];
    DIR *listing = opendir(doctor->scratch);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        size_t length = strlen(entry->d_name), suffix = sizeof TRACE_FILE_SUFFIX - 1;
        if (length > suffix && strcmp(entry->d_name + length - suffix, TRACE_FILE_SUFFIX) == 0 &&
            snprintf(path, sizeof path, "%s/%s", doctor->scratch, entry->d_name) < PATH_MAX)
            read_trace(&doctor->timing, path);
    }
    if (listing)
        closedir(listing);
}

/* ---- questions ---- */

static void ask_target(struct doctor *doctor)
{
    struct environment environment = {NULL, 0};
    if (!doctor->argv || !doctor->program_found || program_obstacle(&doctor->program) || !doctor->program.elf)
        return;
    /* Without the preloaded stand-ins, which would stand in the list of a program that has nothing to do with CUDA. */
    const char *path = environment_get(&doctor->plain, "LD_LIBRARY_PATH");
    if (environment_copy(&environment) && (!path || environment_set(&environment, "LD_LIBRARY_PATH", path)))
        doctor_libraries_find(&doctor->libraries, doctor->program.path, &environment, doctor->timeout_s);
    environment_free(&environment);
}

/* Beside the target's CUDA libraries its CUPTI is looked for. */
static void ask_timing(struct doctor *doctor)
{
    static const char *const starts[] = {"libcudart.so.", "libcublasLt.so.", "libcublas.so.", "libcupti.so."};
    const char *arguments[sizeof starts / sizeof starts[0] + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        const struct doctor_library *library = doctor_libraries_named(&doctor->libraries, starts[i]);
        if (library && *library->path)
            arguments[count++] = library->path;
    }
    doctor_probe_ask(&doctor->timed, "timing", arguments, &doctor->loaded, doctor->timeout_s);
    read_traces(doctor);
}

bool doctor_examine(struct doctor *doctor, const struct option_list *sim_options, int cuda_major, const char *command)
{
    if (!prepare(doctor, sim_options, cuda_major, command)) {
        doctor_examination_free(doctor);
        return false;
    }
    ask_target(doctor);
    doctor_probe_ask(&doctor->preload, "preload", NULL, &doctor->loaded, doctor->timeout_s);
    doctor_probe_ask(&doctor->driver, "driver", NULL, &doctor->plain, doctor->timeout_s);
    doctor_probe_ask(&doctor->nvml, "nvml", NULL, &doctor->plain, doctor->timeout_s);
    /* 13.2's libcupti crashes at any call without a driver that works. */
    if (doctor_gpus_ready(doctor))
        ask_timing(doctor);
    return true;
}

void doctor_examination_free(struct doctor *doctor)
{
    doctor_libraries_free(&doctor->libraries);
    environment_free(&doctor->plain);
    environment_free(&doctor->loaded);
    if (doctor->scratch[0])
        remove_scratch(doctor->scratch);
    doctor->scratch[0] = '\0';
}

bool doctor_examination_requires_timing(const struct gpu_spec *gpu, const struct option_list *sim_options,
                                        int cuda_major, const char *timing, char **argv, const char *command)
{
    struct doctor *doctor = calloc(1, sizeof *doctor);
    struct doctor_finding finding = {.status = DOCTOR_UNKNOWN};
    if (!doctor) {
        message_error(command, "out of memory");
        return false;
    }
    *doctor = (struct doctor){
        .folder = ".", .sysroot = "", .gpu = gpu, .timing_mode = timing, .argv = argv, .timeout_s = DOCTOR_TIMEOUT_S};
    bool examined = doctor_examine(doctor, sim_options, cuda_major, command);
    if (examined) {
        doctor_cupti_timing(doctor, &finding);
        if (finding.status != DOCTOR_OK)
            message_error(command, "--require-timing: %s; nothing was started, 'rooftap doctor' tells more",
                          finding.evidence);
        doctor_examination_free(doctor);
    }
    free(doctor);
    return examined && finding.status == DOCTOR_OK;
}
