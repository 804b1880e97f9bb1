/* SPDX-License-Identifier: Apache-2.0 */
/* The table of checks, in the order in which one depends on those before. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/doctor.h"

/* clang-format off */
const struct doctor_check doctor_checks[] = {
    {"libc",          doctor_host_libc,          false, "README.md: C libraries that rooftap is tested on"},
    {"kernel",        doctor_host_kernel,        false, "madvise(2): MADV_WIPEONFORK since Linux 4.14"},
    {"preload",       doctor_host_preload,       false, "ld.so(8): LD_PRELOAD"},
    {"folder",        doctor_host_folder,        false, "record's -o"},
    {"shared-memory", doctor_host_shared_memory, false, "record's --ring; shm_overview(7)"},
    {"ptrace",        doctor_host_ptrace,        false, "Documentation/admin-guide/LSM/Yama.rst of Linux"},
    {"device-files",  doctor_gpus_device_files,  false, "NVIDIA driver README, chapter on device files"},
    {"driver",        doctor_gpus_driver,        false, "CUDA driver API: cuDriverGetVersion"},
    {"gpus",          doctor_gpus_found,         false, "CUDA driver API: cuInit, CUresult"},
    {"roofs",         doctor_gpus_roofs,         false, "rooftap gpus"},
    {"mig",           doctor_gpus_mig,           false, "NVML: nvmlDeviceGetMigMode; CUPTI guide, special configurations: MIG is traced"},
    {"mps",           doctor_gpus_mps,           false, "Multi-Process Service guide: CUDA_MPS_PIPE_DIRECTORY, /tmp/nvidia-mps"},
    {"clocks",        doctor_gpus_nvml,          false, "NVML: nvmlInit"},
    {"cupti",         doctor_cupti_timing,       false, "the notes of a recorded program; CUPTI: CUptiResult"},
    {"cupti-version", doctor_cupti_version,      false, "CUPTI guide 2.1: a CUPTI that is older than the driver works"},
    {"cupti-copies",  doctor_cupti_copies,       false, "CUPTI guide 2.4: the copy that is loaded first serves all"},
    {"permission",    doctor_cupti_permission,   false, "developer.nvidia.com/ERR_NVGPUCTRPERM: RmProfilingAdminOnly"},
    {"profilers",     doctor_cupti_profilers,    false, "CUPTI guide 2.2.2: one subscriber; Nsight Systems guide: environment"},
    {"switches",      doctor_cupti_switches,     false, "rooftap help record: ROOFTAP_ variables"},
    {"program",       doctor_target_program,     true,  "ld.so(8): secure execution; record's --strict"},
    {"libraries",     doctor_target_libraries,   true,  "ld.so(8): LD_TRACE_LOADED_OBJECTS"},
    {"cuda-runtime",  doctor_target_runtime,     true,  "CUDA compatibility guide: a runtime's major needs a driver of it"},
    {"cublas",        doctor_target_blas,        true,  "README.md: what is seen of statically linked libraries"},
    {NULL, NULL, false, NULL},
};
/* clang-format on */

void doctor_say(struct doctor_finding *finding, enum doctor_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->evidence, sizeof finding->evidence, format, arguments);
    va_end(arguments);
    finding->status = status;
    finding->fix[0] = '\0';
}

void doctor_advise(struct doctor_finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->fix, sizeof finding->fix, format, arguments);
    va_end(arguments);
}

bool doctor_read_line(const struct doctor *doctor, const char *path, const char *key, char *out, size_t size)
{
    char whole[PATH_MAX], line[512];
    bool found = false;
    snprintf(whole, sizeof whole, "%s%s", doctor->sysroot, path);
    FILE *file = fopen(whole, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        found = strncmp(line, key, strlen(key)) == 0;
        if (found) {
            const char *value = line + strlen(key);
            value += strspn(value, " \t");
            snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
        }
    }
    if (file)
        fclose(file);
    return found;
}
