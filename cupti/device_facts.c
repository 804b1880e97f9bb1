/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the driver the application has initialised; the PCI id, which the driver doesn't tell, comes from NVML or sysfs.
 * What nobody tells stays TRACE_UNKNOWN. */
#include "cupti/device_facts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cupti/cuda_driver.h"
#include "trace/trace_writer.h"

/* CUdevice_attribute, public since CUDA 4 or earlier (compute capability: 5) and never renumbered. */
enum device_attribute {
    ATTRIBUTE_CLOCK_RATE = 13,
    ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    ATTRIBUTE_PCI_BUS_ID = 33,
    ATTRIBUTE_PCI_DEVICE_ID = 34,
    ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    ATTRIBUTE_L2_CACHE_SIZE = 38,
    ATTRIBUTE_PCI_DOMAIN_ID = 50,
    ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
};

static const char simulated_prefix[] = "Simulated ";

/* ---- NVML ---- */

struct nvml_pci_info { /* nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3 */
    char bus_id_legacy[16];
    uint32_t domain, bus, device;
    uint32_t pci_device_id; /* device << 16 | vendor */
    uint32_t pci_subsystem_id;
    char bus_id[32];
};

struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_bus_id)(const char *bus_id, void **device);
    int (*pci_info)(void *device, struct nvml_pci_info *info);
    int (*name)(void *device, char *name, unsigned bytes);
    int (*mig_mode)(void *device, unsigned *current, unsigned *pending); /* may be absent */
};

static bool nvml_open(struct nvml *nvml)
{
    void *handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    dlerror(), dlerror(); /* the second frees what a failure left */
    if (!handle)
        return false;
    *(void **)&nvml->init = dlsym(handle, "nvmlInit_v2");
    *(void **)&nvml->shutdown = dlsym(handle, "nvmlShutdown");
    *(void **)&nvml->by_bus_id = dlsym(handle, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&nvml->pci_info = dlsym(handle, "nvmlDeviceGetPciInfo_v3");
    *(void **)&nvml->name = dlsym(handle, "nvmlDeviceGetName");
    *(void **)&nvml->mig_mode = dlsym(handle, "nvmlDeviceGetMigMode");
    return nvml->init && nvml->shutdown && nvml->by_bus_id && nvml->pci_info && nvml->name && nvml->init() == 0;
}

static void ask_nvml(const struct nvml *nvml, struct trace_device *device)
{
    char bus_id[32];
    char name[TRACE_DEVICE_NAME_BYTES] = "";
    void *handle = NULL;
    snprintf(bus_id, sizeof bus_id, "%08x:%02x:%02x.0", device->pci_domain, device->pci_bus, device->pci_slot);
    if (nvml->by_bus_id(bus_id, &handle) != 0)
        return;
    /* A simulated device may have the address of a real one in this machine. */
    bool named = nvml->name(handle, name, sizeof name) == 0;
    bool simulated = named && strncmp(name, simulated_prefix, sizeof simulated_prefix - 1) == 0;
    if (!named || simulated != (device->simulated == 1))
        return;
    struct nvml_pci_info info = {.pci_device_id = 0};
    if (nvml->pci_info(handle, &info) == 0)
        device->pci_device_id = info.pci_device_id >> 16;
    unsigned current = 0, pending = 0;
    if (nvml->mig_mode && nvml->mig_mode(handle, &current, &pending) == 0)
        device->mig = current == 1;
}

static void ask_sysfs(struct trace_device *device)
{
    char path[96];
    char text[16] = "";
    unsigned id = 0;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.0/device", device->pci_domain, device->pci_bus,
             device->pci_slot);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fgets(text, sizeof text, file) && sscanf(text, "%x", &id) == 1)
        device->pci_device_id = id & 0xffff;
    fclose(file);
}

/* ---- the driver ---- */

static int32_t attribute(const struct cuda_driver *driver, enum device_attribute which, int device)
{
    int value = 0;
    return driver->cuDeviceGetAttribute(&value, which, device) == 0 ? value : TRACE_UNKNOWN;
}

static bool ask_driver(const struct cuda_driver *driver, int ordinal, struct trace_device *d)
{
    int device = 0;
    if (driver->cuDeviceGet(&device, ordinal) != 0)
        return false;
    int32_t domain = attribute(driver, ATTRIBUTE_PCI_DOMAIN_ID, device);
    int32_t bus = attribute(driver, ATTRIBUTE_PCI_BUS_ID, device);
    int32_t slot = attribute(driver, ATTRIBUTE_PCI_DEVICE_ID, device);
    size_t bytes = 0;
    int version = 0;
    *d = (struct trace_device){
        .ordinal = (uint32_t)ordinal,
        .pci_domain = (uint32_t)domain,
        .pci_bus = (uint32_t)bus,
        .pci_slot = (uint32_t)slot,
        .sm_count = attribute(driver, ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
        .compute_major = attribute(driver, ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
        .compute_minor = attribute(driver, ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
        .l2_bytes = attribute(driver, ATTRIBUTE_L2_CACHE_SIZE, device),
        .sm_clock_khz = attribute(driver, ATTRIBUTE_CLOCK_RATE, device),
        .memory_clock_khz = attribute(driver, ATTRIBUTE_MEMORY_CLOCK_RATE, device),
        .memory_bus_bits = attribute(driver, ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device),
        .mig = TRACE_UNKNOWN,
        .simulated = TRACE_UNKNOWN,
    };
    bool sized = driver->cuDeviceTotalMem_v2 && driver->cuDeviceTotalMem_v2(&bytes, device) == 0;
    d->memory_bytes = sized ? (int64_t)bytes : TRACE_UNKNOWN;
    d->driver_version = driver->cuDriverGetVersion(&version) == 0 ? version : TRACE_UNKNOWN;
    if (driver->cuDeviceGetName(d->name, TRACE_DEVICE_NAME_BYTES - 1, device) == 0)
        d->simulated = strncmp(d->name, simulated_prefix, sizeof simulated_prefix - 1) == 0;
    if (!driver->cuDeviceGetUuid_v2 || driver->cuDeviceGetUuid_v2(d->uuid, device) != 0)
        if (driver->cuDeviceGetUuid)
            driver->cuDeviceGetUuid(d->uuid, device);
    return true;
}

static bool has_address(const struct trace_device *d)
{
    return (int32_t)d->pci_domain >= 0 && (int32_t)d->pci_bus >= 0 && (int32_t)d->pci_slot >= 0;
}

static bool write_device(struct trace_thread *thread, const struct trace_device *device)
{
    struct trace_device *record = trace_reserve(thread, TRACE_RECORD_DEVICE, sizeof *record);
    if (!record)
        return false;
    memcpy((char *)record + sizeof record->record, (const char *)device + sizeof record->record,
           sizeof *record - sizeof record->record);
    trace_commit(thread, record);
    return true;
}

bool device_facts_write_early(void)
{
    const struct cuda_driver *driver = cuda_driver_bound();
    struct trace_thread *thread = trace_thread_get();
    int devices = 0;
    if (!thread || !cuda_driver_is_initialized(driver) || driver->cuDeviceGetCount(&devices) != 0)
        return false;
    for (int ordinal = 0; ordinal < devices; ordinal++) {
        struct trace_device device;
        if (ask_driver(driver, ordinal, &device) && !write_device(thread, &device))
            return false;
    }
    return true;
}

bool device_facts_write(void)
{
    static int next; /* first ordinal that is not written yet */
    const struct cuda_driver *driver = cuda_driver_mapped();
    struct trace_thread *thread = trace_thread_get();
    int devices = 0;
    if (!driver || !thread || driver->cuDeviceGetCount(&devices) != 0)
        return false;
    struct nvml nvml = {.init = NULL};
    bool asked = next < devices && nvml_open(&nvml);
    bool written = true;
    for (; next < devices && written; next += written) {
        struct trace_device device;
        if (!ask_driver(driver, next, &device)) {
            trace_note(thread, TRACE_NOTE_DEVICE, next, "the driver refuses to tell about device %d", next);
            continue;
        }
        if (asked && has_address(&device))
            ask_nvml(&nvml, &device);
        if (device.pci_device_id == 0 && device.simulated == 0 && has_address(&device))
            ask_sysfs(&device);
        written = write_device(thread, &device);
    }
    if (asked)
        nvml.shutdown();
    return written;
}
