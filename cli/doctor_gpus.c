/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the driver and the GPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor.h"

/* ---- results of cuInit ---- */

/* clang-format off */
/* CUresult, with NVIDIA's own explanations in short (cuda.h of CUDA 13). */
static const struct {
    long result;
    const char *name, *fix;
} init_results[] = {
    {  2, "OUT_OF_MEMORY",           "free memory of this machine or of its GPUs" },
    { 34, "STUB_LIBRARY",            "take the toolkit's lib64/stubs folder out of LD_LIBRARY_PATH: it is for linking only" },
    { 46, "DEVICE_UNAVAILABLE",      "another process holds the GPU in exclusive mode (nvidia-smi -q -d COMPUTE)" },
    {100, "NO_DEVICE",               "look at CUDA_VISIBLE_DEVICES and NVIDIA_VISIBLE_DEVICES; start a container with --gpus all" },
    {101, "INVALID_DEVICE",          "CUDA_VISIBLE_DEVICES names a GPU that isn't there" },
    {304, "OPERATING_SYSTEM",        "the device files may be missing or not readable: see the check device-files" },
    {802, "SYSTEM_NOT_READY",        "start nvidia-fabricmanager, which this machine's NVSwitches need" },
    {803, "SYSTEM_DRIVER_MISMATCH",  "libcuda.so.1 is of another release than the kernel's module: reboot, or mount the right one" },
    {804, "COMPAT_NOT_SUPPORTED_ON_DEVICE", "take the cuda-compat folder out of LD_LIBRARY_PATH: it serves data centre GPUs only" },
    {805, "MPS_CONNECTION_FAILED",   "restart nvidia-cuda-mps-control, or unset CUDA_MPS_PIPE_DIRECTORY" },
    {999, "UNKNOWN",                 "load the kernel's modules: nvidia-modprobe -u -c 0; look into dmesg for NVRM" },
};
/* clang-format on */

bool doctor_gpus_ready(const struct doctor *doctor)
{
    return doctor->driver.end == DOCTOR_PROBE_ANSWERED && doctor_probe_number(&doctor->driver, "init") == 0;
}

static void say_init(struct doctor_finding *finding, long result)
{
    for (size_t i = 0; i < sizeof init_results / sizeof init_results[0]; i++)
        if (init_results[i].result == result) {
            doctor_say(finding, DOCTOR_FAIL, "cuInit returns %ld, CUDA_ERROR_%s", result, init_results[i].name);
            doctor_advise(finding, "%s", init_results[i].fix);
            return;
        }
    doctor_say(finding, DOCTOR_FAIL, "cuInit returns %ld", result);
    doctor_advise(finding, "any CUDA program fails so; look into dmesg for NVRM");
}

/* ---- files ---- */

void doctor_gpus_device_files(const struct doctor *doctor, struct doctor_finding *finding)
{
    char path[PATH_MAX];
    int files = 0, usable = 0;
    if (doctor->gpu) {
        doctor_say(finding, DOCTOR_OK, "not needed by a simulated GPU");
        return;
    }
    for (int i = 0; i < 64; i++) {
        snprintf(path, sizeof path, "%s/dev/nvidia%d", doctor->sysroot, i);
        files += access(path, F_OK) == 0;
        usable += access(path, R_OK | W_OK) == 0;
    }
    snprintf(path, sizeof path, "%s/dev/nvidiactl", doctor->sysroot);
    bool control = access(path, R_OK | W_OK) == 0;
    snprintf(path, sizeof path, "%s/dev/dxg", doctor->sysroot);
    if (access(path, F_OK) == 0) {
        doctor_say(finding, DOCTOR_OK, "/dev/dxg: WSL, whose driver has no other device files");
    } else if (!files) {
        doctor_say(finding, DOCTOR_FAIL, "there is no /dev/nvidia0: no GPU of NVIDIA's, or none in this container");
        doctor_advise(
            finding, "start the container with --gpus all (the NVIDIA container toolkit), or load the driver's module");
    } else if (!control || usable < files) {
        doctor_say(finding, DOCTOR_FAIL, "of %d /dev/nvidiaN %d can be opened by this user, /dev/nvidiactl %s", files,
                   usable, control ? "as well" : "can't");
        doctor_advise(finding,
                      "have their rights changed (0666 is the driver's default), or join the group that owns them");
    } else {
        doctor_say(finding, DOCTOR_OK, "%d GPU device files, /dev/nvidiactl", files);
    }
}

/* ---- the driver ---- */

static void say_driver(const struct doctor *doctor, struct doctor_finding *finding, long version)
{
    char path[PATH_MAX], release[96] = "", kernel[128] = "";
    doctor_probe_value(&doctor->driver, "libcuda.so", 0, path, sizeof path);
    doctor_probe_value(&doctor->nvml, "nvml_driver", 0, release, sizeof release);
    if (!doctor->gpu)
        doctor_read_line(doctor, "/proc/driver/nvidia/version", "NVRM version:", kernel, sizeof kernel);
    if (strstr(path, "/stubs/")) {
        doctor_say(finding, DOCTOR_FAIL, "%s is the toolkit's stub, not a driver", path);
        doctor_advise(finding, "take the stubs folder out of LD_LIBRARY_PATH: it is for linking only");
        return;
    }
    doctor_say(finding, DOCTOR_OK, "%s serves CUDA up to %ld.%ld%s%s%s%s", path, version / 1000, version % 1000 / 10,
               *release ? ", driver " : "", release, *kernel ? ", kernel module " : "", kernel);
    if (version < 11070) {
        finding->status = DOCTOR_FAIL;
        doctor_advise(finding, "rooftap times kernels from CUDA 11.7 on; install a newer driver");
    }
}

void doctor_gpus_driver(const struct doctor *doctor, struct doctor_finding *finding)
{
    char text[512];
    long version = doctor_probe_number(&doctor->driver, "driver_version");
    if (doctor_probe_value(&doctor->driver, "driver_missing", 0, text, sizeof text)) {
        doctor_say(finding, DOCTOR_FAIL, "libcuda.so.1 can't be loaded: %s", text);
        doctor_advise(
            finding,
            "install NVIDIA's driver; in a container --gpus all and NVIDIA_DRIVER_CAPABILITIES=compute,utility; "
            "without a GPU try --simulate GPU");
    } else if (version > 0) {
        say_driver(doctor, finding, version);
    } else if (doctor->driver.end != DOCTOR_PROBE_ANSWERED) {
        doctor_probe_trouble(&doctor->driver, doctor->timeout_s, text, sizeof text);
        doctor_say(finding, DOCTOR_FAIL, "the driver %s", text);
        doctor_advise(finding, "any CUDA program meets that; look into dmesg for NVRM or Xid");
    } else {
        doctor_say(finding, DOCTOR_FAIL, "libcuda.so.1 does not tell its version");
        doctor_advise(finding, "reinstall the driver");
    }
}

static void list_devices(const struct doctor *doctor, char *out, size_t size)
{
    char name[256];
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; used < size && doctor_probe_value(&doctor->driver, "device", i, name, sizeof name); i++)
        used += (size_t)snprintf(out + used, size - used, "%s'%s'", i ? ", " : "", name);
}

void doctor_gpus_found(const struct doctor *doctor, struct doctor_finding *finding)
{
    char text[768];
    long result = doctor_probe_number(&doctor->driver, "init"),
         devices = doctor_probe_number(&doctor->driver, "devices");
    if (result > 0) {
        say_init(finding, result);
    } else if (result < 0 && doctor->driver.end == DOCTOR_PROBE_ANSWERED) {
        doctor_say(finding, DOCTOR_UNKNOWN, "without a driver nobody tells");
    } else if (doctor->driver.end != DOCTOR_PROBE_ANSWERED) {
        doctor_probe_trouble(&doctor->driver, doctor->timeout_s, text, sizeof text);
        doctor_say(finding, DOCTOR_FAIL, "the driver %s", text);
        doctor_advise(finding,
                      "any CUDA program meets that; look into dmesg for NVRM or Xid; --timeout gives it longer");
    } else if (devices <= 0) {
        doctor_say(finding, DOCTOR_FAIL, "the driver shows no GPU");
        doctor_advise(finding, "look at CUDA_VISIBLE_DEVICES, which hides them");
    } else {
        list_devices(doctor, text, sizeof text);
        doctor_say(finding, DOCTOR_OK, "%ld: %s", devices, text);
    }
}

/* ---- roofs ---- */

static bool add_unknown(char *text, size_t size, const char *name)
{
    size_t used = strlen(text);
    return used < size && snprintf(text + used, size - used, "%s'%s'", used ? ", " : "", name) > 0;
}

void doctor_gpus_roofs(const struct doctor *doctor, struct doctor_finding *finding)
{
    char unknown[512] = "", known[512] = "";
    const struct doctor_timing *timing = &doctor->timing;
    for (size_t i = 0; i < timing->device_count; i++) {
        const struct trace_device *device = &timing->devices[i];
        const struct gpu_spec *row = gpu_spec_find(device->pci_device_id, device->name, device->simulated == 1);
        add_unknown(row ? known : unknown, sizeof known, row ? row->name : device->name);
    }
    if (*unknown) {
        doctor_say(finding, DOCTOR_WARN, "no row for %s: times and shapes are recorded, the roof stays unknown",
                   unknown);
        doctor_advise(finding, "measure it with 'rooftap calibrate', or give report --gpu-table or --peak");
    } else if (*known) {
        doctor_say(finding, DOCTOR_OK, "peaks are known of %s", known);
    } else {
        doctor_say(finding, DOCTOR_UNKNOWN, "no GPU was described to rooftap");
    }
}

/* ---- MIG, MPS, NVML ---- */

void doctor_gpus_mig(const struct doctor *doctor, struct doctor_finding *finding)
{
    char mode[16];
    int asked = 0, on = 0;
    while (doctor_probe_value(&doctor->nvml, "mig", asked, mode, sizeof mode)) {
        on += atoi(mode) == 1;
        asked++;
    }
    if (on)
        doctor_say(
            finding, DOCTOR_OK,
            "on at %d of %d GPUs: kernels of instances are timed; their roofs are the profile's share of the GPU's", on,
            asked);
    else if (asked)
        doctor_say(finding, DOCTOR_OK, "off");
    else if (doctor_gpus_ready(doctor) && doctor->nvml.end == DOCTOR_PROBE_ANSWERED)
        doctor_say(finding, DOCTOR_OK, "not supported by these GPUs, or not told by NVML");
    else
        doctor_say(finding, DOCTOR_UNKNOWN, "NVML does not tell");
}

void doctor_gpus_mps(const struct doctor *doctor, struct doctor_finding *finding)
{
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    char control[PATH_MAX];
    struct stat status;
    (void)doctor;
    snprintf(control, sizeof control, "%s/control", folder && *folder ? folder : "/tmp/nvidia-mps");
    if (lstat(control, &status) == 0) {
        doctor_say(finding, DOCTOR_WARN,
                   "%s: nvidia-cuda-mps-control runs, so other processes' kernels may share the GPU with those timed",
                   control);
        doctor_advise(
            finding,
            "for times that stand for themselves stop the other clients, or MPS (echo quit | nvidia-cuda-mps-control)");
    } else if (folder && *folder) {
        doctor_say(finding, DOCTOR_WARN, "CUDA_MPS_PIPE_DIRECTORY is '%s', but no daemon is there", folder);
        doctor_advise(finding, "unset it, or start nvidia-cuda-mps-control");
    } else {
        doctor_say(finding, DOCTOR_OK, "no daemon");
    }
}

void doctor_gpus_nvml(const struct doctor *doctor, struct doctor_finding *finding)
{
    char text[512];
    long devices = doctor_probe_number(&doctor->nvml, "nvml_devices");
    if (devices >= 0) {
        doctor_say(finding, DOCTOR_OK, "those of %ld GPU%s can be noted beside the run", devices,
                   devices == 1 ? "" : "s");
        return;
    }
    if (!doctor_probe_value(&doctor->nvml, "nvml_error", 0, text, sizeof text))
        doctor_probe_trouble(&doctor->nvml, doctor->timeout_s, text, sizeof text);
    doctor_say(finding, DOCTOR_WARN, "%s; the report can't tell at which clocks the GPU ran", text);
    doctor_advise(finding, "in a container NVIDIA_DRIVER_CAPABILITIES=compute,utility brings libnvidia-ml.so.1");
}
