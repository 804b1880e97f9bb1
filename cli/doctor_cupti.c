/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the timing: what a program like this one, with librooftap.so loaded, said of CUPTI after its own cuInit(). So what
 * is told is what record would do, by the same code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor.h"
#include "preload/settings.h"

extern char **environ;

/* Of CUPTI (CUptiResult of cupti_result.h), as the note of TIMING_OFF carries them. */
enum { INSUFFICIENT_PRIVILEGES = 35, VIRTUAL_INSUFFICIENT_PRIVILEGES = 40 };

/* clang-format off */
static const struct {
    int result;
    const char *fix;
} fixes[] = {
    { 12, "end the other profiler of this environment; the first to come has CUPTI to itself" },
    { 14, "end the other profiler of this environment; the first to come has CUPTI to itself" },
    { 15, "this CUPTI needs a newer driver: put the libcupti of the driver's CUDA first, or update the driver" },
    { 26, "another profiler holds the GPU's counters: end it, or pause DCGM's (dcgmi profile --pause)" },
    { 33, "this virtual GPU forbids profiling: have it enabled in the hypervisor" },
    { INSUFFICIENT_PRIVILEGES, "load the driver's module with NVreg_RestrictProfilingToAdminUsers=0, run as root, or give the "
                               "container --cap-add SYS_ADMIN (https://developer.nvidia.com/ERR_NVGPUCTRPERM)" },
    { 39, "end the other profiler or debugger of this environment (Nsight, cuda-gdb, compute-sanitizer)" },
    { VIRTUAL_INSUFFICIENT_PRIVILEGES, "have profiling enabled for this virtual GPU in the hypervisor" },
    { 41, "confidential computing forbids tracing; record --timing off keeps shapes" },
    { 45, "update WSL's driver: this one has no tracing" },
    {999, "put the libcupti of the driver's CUDA first on LD_LIBRARY_PATH" },
};
/* clang-format on */

static const char *fix_of(int result)
{
    for (size_t i = 0; i < sizeof fixes / sizeof fixes[0]; i++)
        if (fixes[i].result == result)
            return fixes[i].fix;
    return "set CUDA_HOME or LD_LIBRARY_PATH to a CUDA of the driver's version, or install cuda-cupti; shapes are "
           "recorded all "
           "the same";
}

/* True: said already why nothing is known of CUPTI. */
static bool say_not_tried(const struct doctor *doctor, struct doctor_finding *finding)
{
    if (!doctor_gpus_ready(doctor))
        doctor_say(finding, DOCTOR_UNKNOWN, "not tried: CUPTI is never called before the driver works");
    else if (doctor->timed.end == DOCTOR_PROBE_NOT_ASKED)
        doctor_say(finding, DOCTOR_UNKNOWN, "not tried");
    else
        return false;
    return true;
}

void doctor_cupti_timing(const struct doctor *doctor, struct doctor_finding *finding)
{
    const struct doctor_timing *timing = &doctor->timing;
    char trouble[256];
    if (say_not_tried(doctor, finding))
        return;
    if (timing->told && timing->on && doctor->timed.end == DOCTOR_PROBE_ANSWERED) {
        doctor_say(finding, DOCTOR_OK, "kernels are timed: %s", timing->text);
    } else if (doctor->timed.end != DOCTOR_PROBE_ANSWERED) {
        doctor_probe_trouble(&doctor->timed, doctor->timeout_s, trouble, sizeof trouble);
        doctor_say(finding, DOCTOR_FAIL, "a recorded program %s%s%s", trouble, timing->told ? ": " : "", timing->text);
        doctor_advise(
            finding,
            "record --timing off keeps away from CUPTI and has shapes only; another CUPTI may do: put it first on "
            "LD_LIBRARY_PATH");
    } else if (timing->told) {
        doctor_say(finding, DOCTOR_FAIL, "kernels are not timed, shapes only: %s", timing->text);
        doctor_advise(finding, "%s", fix_of(timing->value));
    } else {
        doctor_say(finding, DOCTOR_FAIL, "a program that used CUDA with rooftap loaded was not recorded");
        doctor_advise(finding, "see the checks preload, folder and switches");
    }
}

/* ---- versions ---- */

/* CUDA's, a thousand a major as in cuDriverGetVersion, out of "CUPTI of CUDA 12.9, ..."; 0: not told. */
static int version_told(const struct doctor_timing *timing)
{
    static const char start[] = "CUPTI of CUDA ";
    int major = 0, minor = 0;
    const char *at = timing->told && timing->on ? strstr(timing->text, start) : NULL;
    return at && sscanf(at + strlen(start), "%d.%d", &major, &minor) == 2 ? major * 1000 + minor * 10 : 0;
}

/* The first number of libcupti.so.N; 0: none. */
static int major_of_path(const char *path)
{
    const char *name = strstr(path, "libcupti.so.");
    return name ? atoi(name + strlen("libcupti.so.")) : 0;
}

void doctor_cupti_version(const struct doctor *doctor, struct doctor_finding *finding)
{
    long driver = doctor_probe_number(&doctor->driver, "driver_version");
    int cupti = version_told(&doctor->timing);
    char path[PATH_MAX];
    if (say_not_tried(doctor, finding))
        return;
    if (!cupti && doctor_probe_value(&doctor->timed, "libcupti", 0, path, sizeof path) && major_of_path(path) &&
        driver > 0 && major_of_path(path) > driver / 1000) {
        doctor_say(finding, DOCTOR_FAIL, "%s is of CUDA %d, the driver serves up to %ld.%ld", path, major_of_path(path),
                   driver / 1000, driver % 1000 / 10);
        doctor_advise(finding, "put the libcupti of CUDA %ld first on LD_LIBRARY_PATH, or update the driver",
                      driver / 1000);
    } else if (!cupti || driver <= 0) {
        doctor_say(finding, DOCTOR_UNKNOWN, "no CUPTI that started told its version");
    } else if (cupti > driver) {
        doctor_say(finding, DOCTOR_WARN, "CUPTI of CUDA %d.%d is newer than the driver, which serves up to %ld.%ld",
                   cupti / 1000, cupti % 1000 / 10, driver / 1000, driver % 1000 / 10);
        doctor_advise(finding, "it started here; if it fails elsewhere, update the driver or take an older CUPTI");
    } else {
        doctor_say(finding, DOCTOR_OK, "CUPTI of CUDA %d.%d on a driver that serves up to %ld.%ld", cupti / 1000,
                   cupti % 1000 / 10, driver / 1000, driver % 1000 / 10);
    }
}

void doctor_cupti_copies(const struct doctor *doctor, struct doctor_finding *finding)
{
    char path[PATH_MAX], text[DOCTOR_EVIDENCE - 64] = "";
    size_t used = 0;
    int copies = 0;
    if (say_not_tried(doctor, finding))
        return;
    for (; doctor_probe_value(&doctor->timed, "libcupti", copies, path, sizeof path); copies++)
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", copies ? ", " : "", path);
    if (copies == 1)
        doctor_say(finding, DOCTOR_OK, "one in the process: %s", text);
    else if (copies == 0)
        doctor_say(finding, DOCTOR_UNKNOWN,
                   doctor->timed.end == DOCTOR_PROBE_ANSWERED ? "none was loaded" : "none was seen");
    else {
        doctor_say(finding, DOCTOR_WARN, "%d in one process: %s", copies, text);
        doctor_advise(finding, "leave one on LD_LIBRARY_PATH: a second copy, or a stub, can stop both from working");
    }
}

/* ---- permission ---- */

/* CAP_PERFMON 38, CAP_SYS_ADMIN 21 (linux/capability.h). -1: not known. */
static int has_capability(const struct doctor *doctor)
{
    char mask[32];
    if (!doctor_read_line(doctor, "/proc/self/status", "CapEff:", mask, sizeof mask))
        return -1;
    unsigned long long bits = strtoull(mask, NULL, 16);
    return (bits >> 21 & 1) || (bits >> 38 & 1);
}

void doctor_cupti_permission(const struct doctor *doctor, struct doctor_finding *finding)
{
    char only[16] = "";
    const struct doctor_timing *timing = &doctor->timing;
    const char *setting = doctor->gpu ? "simulated" : "the driver's module does not tell RmProfilingAdminOnly";
    bool told = !doctor->gpu &&
                doctor_read_line(doctor, "/proc/driver/nvidia/params", "RmProfilingAdminOnly:", only, sizeof only);
    if (told)
        setting = *only == '0' ? "profiling is open to all users (RmProfilingAdminOnly 0)"
                               : "profiling is restricted to administrators (RmProfilingAdminOnly 1)";
    int capable = has_capability(doctor);
    const char *rights = capable > 0    ? "; this user has CAP_SYS_ADMIN or CAP_PERFMON"
                         : capable == 0 ? "; this user has neither CAP_SYS_ADMIN nor CAP_PERFMON"
                                        : "";
    bool refused = timing->told && !timing->on &&
                   (timing->value == INSUFFICIENT_PRIVILEGES || timing->value == VIRTUAL_INSUFFICIENT_PRIVILEGES);
    if (refused) {
        doctor_say(finding, DOCTOR_FAIL, "CUPTI refuses, %s; %s%s", timing->text, setting, rights);
        doctor_advise(finding, "%s", fix_of(timing->value));
    } else if (timing->told && timing->on) {
        doctor_say(finding, DOCTOR_OK, "CUPTI traces for this user; %s", setting);
    } else if (told && *only != '0' && capable == 0) {
        doctor_say(finding, DOCTOR_WARN, "not tried; %s%s. Tracing needs neither since CUDA 10.2", setting, rights);
        doctor_advise(finding, "if CUPTI refuses with 35: %s", fix_of(INSUFFICIENT_PRIVILEGES));
    } else {
        doctor_say(finding, DOCTOR_UNKNOWN, "not tried; %s%s", setting, rights);
    }
}

/* ---- others ---- */

/* clang-format off */
static const struct {
    const char *variable; /* or how it begins, with a star */
    const char *tool;
} tools[] = {
    {"NSYS_*",                           "Nsight Systems"},
    {"NSYSDK_INJECTION64_PATH",          "Nsight Systems"},
    {"NV_NSIGHT_INJECTION_TRANSPORT_TYPE", "Nsight Compute"},
    {"NV_COMPUTE_PROFILER_*",            "Nsight Compute"},
    {"NVPROF_ID",                        "nvprof"},
    {"NVTX_INJECTION64_PATH",            "a profiler that takes NVTX ranges"},
    {"COMPUTE_SANITIZER_*",              "compute-sanitizer"},
};
/* Parts of the paths in LD_PRELOAD and CUDA_INJECTION64_PATH by which profilers come in. */
static const struct {
    const char *part, *tool;
} libraries[] = {
    {"libToolsInjection",       "Nsight Systems"},
    {"TreeLauncher",            "Nsight Compute or compute-sanitizer"},
    {"libsanitizer-collection", "compute-sanitizer"},
    {"libcuinj64",              "nvprof"},
    {"libparcagpu",             "parcagpu"},
    {"libproton",               "Triton's Proton"},
};
/* clang-format on */

static bool is_variable(const char *entry, const char *pattern)
{
    size_t length = strcspn(pattern, "*");
    return strncmp(entry, pattern, length) == 0 && (pattern[length] || entry[length] == '=');
}

/* "FIRST (SECOND)", behind a comma if it is not the first. */
static void add(char *text, size_t size, const char *first, const char *second)
{
    size_t used = strlen(text);
    if (used < size)
        snprintf(text + used, size - used, "%s%s (%s)", used ? ", " : "", first, second);
}

static void find_variables(char *text, size_t size)
{
    for (char **entry = environ; *entry; entry++)
        for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
            if (is_variable(*entry, tools[i].variable)) {
                char name[64];
                snprintf(name, sizeof name, "%.*s", (int)strcspn(*entry, "="), *entry);
                add(text, size, name, tools[i].tool);
                break;
            }
}

static void find_libraries(char *text, size_t size)
{
    static const char *const lists[] = {"LD_PRELOAD", "LD_AUDIT"};
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
        for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
            const char *list = getenv(lists[l]);
            if (list && strstr(list, libraries[i].part))
                add(text, size, lists[l], libraries[i].tool);
        }
}

static bool is_own(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, "librooftap.so") == 0;
}

void doctor_cupti_profilers(const struct doctor *doctor, struct doctor_finding *finding)
{
    char found[DOCTOR_EVIDENCE / 2] = "";
    const char *injection = getenv("CUDA_INJECTION64_PATH"), *preload = getenv("LD_PRELOAD");
    (void)doctor;
    find_variables(found, sizeof found);
    find_libraries(found, sizeof found);
    if (injection && *injection && !is_own(injection))
        add(found, sizeof found, "CUDA_INJECTION64_PATH", injection);
    if (*found) {
        doctor_say(finding, DOCTOR_WARN,
                   "%s: another tool comes into each program, and CUPTI serves the first one only", found);
        doctor_advise(finding, "unset these, or record without that tool: where it is first rooftap has shapes only");
    } else if (preload && *preload) {
        doctor_say(finding, DOCTOR_OK, "none known; LD_PRELOAD brings in %.400s", preload);
    } else {
        doctor_say(finding, DOCTOR_OK, "none in the environment");
    }
}

void doctor_cupti_switches(const struct doctor *doctor, struct doctor_finding *finding)
{
    const char *disable = environment_get(&doctor->plain, SETTING_DISABLE);
    const char *timing = environment_get(&doctor->plain, SETTING_TIMING);
    if (settings_switch(settings_find(SETTING_DISABLE), disable, NULL)) {
        doctor_say(finding, DOCTOR_FAIL, SETTING_DISABLE " is '%s': nothing is recorded", disable);
        doctor_advise(finding, "unset " SETTING_DISABLE);
    } else if (timing && strcmp(timing, "off") == 0) {
        doctor_say(finding, DOCTOR_WARN, SETTING_TIMING " is 'off': shapes only");
        doctor_advise(finding, "unset " SETTING_TIMING " to time kernels");
    } else {
        doctor_say(finding, DOCTOR_OK, "no ROOFTAP_ variable switches anything off");
    }
}
