/* SPDX-License-Identifier: Apache-2.0 */
/* Opens what is needed, cheapest measurement first: if time runs out, the many-second ones are those that suffer. */
#include "calibrate/calibrate.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/measure.h"
#include "trace/clock.h"

static const char *in_folder(const struct calibrate_options *options, const char *name, char *path)
{
    if (!options->library_folder)
        return NULL;
    snprintf(path, PATH_MAX, "%s/%s", options->library_folder, name);
    return path;
}

static void ask_sysfs(struct trace_device *device)
{
    char path[96];
    unsigned id = 0;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.0/device", device->pci_domain, device->pci_bus,
             device->pci_slot);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%x", &id) == 1)
        device->pci_device_id = id & 0xffff;
    if (file)
        fclose(file);
}

/* NVML knows what CUDA does not tell: the PCI device id, and the kernel module's version. Nothing else needs it. */
static void open_nvml(struct measure *measure, const struct calibrate_options *options)
{
    static struct nvml nvml; /* its library is never unloaded either */
    char path[PATH_MAX];
    struct trace_device *device = &measure->cuda.device;
    if (nvml_open(&nvml, in_folder(options, "libnvidia-ml.so.1", path))) {
        measure->nvml = &nvml;
        measure->nvml_device = nvml_find(&nvml, device->uuid, device->pci_domain, device->pci_bus, device->pci_slot);
        snprintf(measure->calibration->driver_version, CALIBRATION_TEXT, "%s", nvml.driver_version);
    }
    static const uint8_t no_uuid[16];
    if (measure->nvml && !measure->nvml_device && device->mig == 1) /* an instance has a UUID of its own */
        measure->nvml_device = nvml_find(&nvml, no_uuid, device->pci_domain, device->pci_bus, device->pci_slot);
    if (measure->nvml_device)
        device->pci_device_id = measure->nvml_device->pci_device_id;
    else if (device->simulated != 1)
        ask_sysfs(device);
}

static bool start(struct measure *measure, const struct calibrate_options *options)
{
    char path[PATH_MAX];
    struct cuda *cuda = &measure->cuda;
    if (!cuda_open(cuda, in_folder(options, "libcuda.so.1", path), options->ordinal)) {
        snprintf(measure->error, sizeof measure->error, "%s", cuda->error);
        return false;
    }
    open_nvml(measure, options);
    measure->calibration->device = cuda->device;
    if (!blas_open(&measure->blas, cuda, options->library_folder)) {
        snprintf(measure->error, sizeof measure->error, "cuBLAS can't be used: %s", measure->blas.error);
        return false;
    }
    snprintf(measure->calibration->cublas, CALIBRATION_TEXT, "%s", measure->blas.version);
    bool good = kernels_load(cuda, &measure->kernels);
    for (int i = 0; i <= MEASURE_BATCH && good; i++)
        good = cuda_event(cuda, &measure->events[i]);
    if (good)
        return true;
    snprintf(measure->error, sizeof measure->error, "%s", cuda->error);
    return false;
}

static bool measure_all(struct measure *measure, const struct calibrate_options *options)
{
    if (measure_launch(measure) && measure_bandwidth(measure) && measure_gemm(measure, options->quick))
        return true;
    snprintf(measure->error, sizeof measure->error, "the measurement failed: %s", measure->cuda.error);
    return false;
}

bool calibrate(const struct calibrate_options *options, struct calibration *calibration,
               struct calibration_error *error)
{
    struct measure measure = {.calibration = calibration};
    calibration_init(calibration);
    snprintf(calibration->rooftap_version, CALIBRATION_TEXT, "%s", ROOFTAP_VERSION);
    calibration->measured_realtime_ns = (int64_t)clock_realtime_ns();
    calibration->quick = options->quick;
    measure.budget.progress = options->progress;
    measure.budget.context = options->context;
    budget_begin(&measure.budget, options->seconds);
    bool good = start(&measure, options) && measure_all(&measure, options);
    calibration->seconds = budget_elapsed(&measure.budget);
    calibration->stopped_early = measure.budget.exceeded;
    if (!good)
        snprintf(error->text, sizeof error->text, "%s", measure.error);
    if (measure.blas.entries)
        blas_close(&measure.blas, &measure.cuda);
    if (measure.cuda.entries)
        cuda_close(&measure.cuda);
    return good;
}
