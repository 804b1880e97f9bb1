/* SPDX-License-Identifier: Apache-2.0 */
/* The few functions that are asked, by their names in nvml.h of the CUDA toolkit (stable since driver 418; the reasons were
 * renamed in 535 and keep both names). */
#include "calibrate/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { NVML_SUCCESS = 0 };
enum {
    NVML_CLOCK_SM = 1,
    NVML_CLOCK_MEM = 2,
    NVML_TEMPERATURE_GPU = 0
}; /* nvmlClockType_t, nvmlTemperatureSensors_t */

struct nvml_pci_info { /* nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3 */
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

struct nvml_entries {
    int (*init)(void);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, void **handle);
    int (*pci)(void *handle, struct nvml_pci_info *info);
    int (*uuid)(void *handle, char *text, unsigned size);
    int (*driver)(char *text, unsigned size);
    const char *(*error_text)(int result);
};

static bool say(struct nvml *nvml, const char *what, const char *why)
{
    snprintf(nvml->error, sizeof nvml->error, "%s: %s", what, why);
    return false;
}

/* Copied, as ISO C has no conversion between the two kinds of pointers. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool load(struct nvml *nvml, const char *name, struct nvml_entries *entries)
{
    nvml->library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!nvml->library)
        return say(nvml, "NVML is not there", dlerror());
    bool complete = find(nvml->library, "nvmlInit_v2", &entries->init) &&
                    find(nvml->library, "nvmlDeviceGetCount_v2", &entries->count) &&
                    find(nvml->library, "nvmlDeviceGetHandleByIndex_v2", &entries->handle) &&
                    find(nvml->library, "nvmlDeviceGetPciInfo_v3", &entries->pci) &&
                    find(nvml->library, "nvmlDeviceGetUUID", &entries->uuid) &&
                    find(nvml->library, "nvmlDeviceGetClockInfo", &nvml->get_clock);
    if (!complete)
        return say(nvml, name, "lacks functions that NVML has since driver 418");
    find(nvml->library, "nvmlSystemGetDriverVersion", &entries->driver);
    find(nvml->library, "nvmlErrorString", &entries->error_text);
    find(nvml->library, "nvmlDeviceGetPowerUsage", &nvml->get_power);
    find(nvml->library, "nvmlDeviceGetTemperature", &nvml->get_temperature);
    if (!find(nvml->library, "nvmlDeviceGetCurrentClocksEventReasons", &nvml->get_reasons))
        find(nvml->library, "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml->get_reasons);
    return true;
}

/* "GPU-" and 32 hexadecimal digits with dashes between. Leaves zeros where the text is another. */
static void read_uuid(const char *text, uint8_t uuid[16])
{
    uint8_t bytes[16];
    unsigned digits = 0;
    memset(uuid, 0, 16);
    if (strncmp(text, "GPU-", 4) != 0)
        return;
    for (const char *c = text + 4; *c && digits < 33; c++) {
        static const char hex[] = "0123456789abcdef";
        const char *digit = *c == '-' ? NULL : strchr(hex, *c | 0x20);
        if (*c == '-')
            continue;
        if (!digit || digits == 32)
            return;
        unsigned value = (unsigned)(digit - hex);
        bytes[digits / 2] = (uint8_t)(digits % 2 ? bytes[digits / 2] | value : value << 4);
        digits++;
    }
    if (digits == 32)
        memcpy(uuid, bytes, 16);
}

static bool describe(const struct nvml_entries *entries, unsigned index, struct nvml_device *device)
{
    struct nvml_pci_info pci;
    char text[97] = "";
    memset(&pci, 0, sizeof pci);
    if (entries->handle(index, &device->handle) != NVML_SUCCESS || entries->pci(device->handle, &pci) != NVML_SUCCESS)
        return false;
    device->pci_domain = pci.domain;
    device->pci_bus = pci.bus;
    device->pci_slot = pci.device;
    device->pci_device_id = pci.pci_device_id >> 16;
    if (entries->uuid(device->handle, text, sizeof text - 1) != NVML_SUCCESS)
        text[0] = '\0';
    read_uuid(text, device->uuid);
    return true;
}

bool nvml_open(struct nvml *nvml, const char *library)
{
    struct nvml_entries entries = {0};
    unsigned count = 0;
    memset(nvml, 0, sizeof *nvml);
    const char *name = library ? library : "libnvidia-ml.so.1";
    if (!load(nvml, name, &entries))
        return false;
    int result = entries.init();
    if (result == NVML_SUCCESS)
        result = entries.count(&count);
    if (result != NVML_SUCCESS)
        return say(nvml, "NVML can't start", entries.error_text ? entries.error_text(result) : "unknown error");
    if (entries.driver && entries.driver(nvml->driver_version, sizeof nvml->driver_version) != NVML_SUCCESS)
        nvml->driver_version[0] = '\0';
    nvml->driver_version[sizeof nvml->driver_version - 1] = '\0';
    for (unsigned i = 0; i < count; i++) {
        if (nvml->device_count < NVML_MOST_DEVICES && describe(&entries, i, &nvml->devices[nvml->device_count]))
            nvml->device_count++;
        else
            nvml->devices_left_out++;
    }
    return nvml->device_count > 0 || say(nvml, "NVML", "shows no GPU");
}

/* *VALUE holds if the call that was to fill it gave RESULT. */
static int32_t number(int result, const unsigned *value)
{
    return result == NVML_SUCCESS && *value <= INT32_MAX ? (int32_t)*value : -1;
}

bool nvml_read(const struct nvml *nvml, const struct nvml_device *device, struct nvml_reading *reading)
{
    unsigned sm = 0, memory = 0, power = 0, temperature = 0;
    unsigned long long reasons = 0;
    void *handle = device->handle;
    reading->sm_clock_mhz = number(nvml->get_clock(handle, NVML_CLOCK_SM, &sm), &sm);
    reading->memory_clock_mhz = number(nvml->get_clock(handle, NVML_CLOCK_MEM, &memory), &memory);
    reading->power_mw = nvml->get_power ? number(nvml->get_power(handle, &power), &power) : -1;
    reading->temperature_c =
        nvml->get_temperature ? number(nvml->get_temperature(handle, NVML_TEMPERATURE_GPU, &temperature), &temperature)
                              : -1;
    bool told = nvml->get_reasons && nvml->get_reasons(handle, &reasons) == NVML_SUCCESS;
    reading->throttle_reasons = told ? reasons : UINT64_MAX;
    return told || reading->sm_clock_mhz >= 0 || reading->memory_clock_mhz >= 0 || reading->power_mw >= 0 ||
           reading->temperature_c >= 0;
}

const struct nvml_device *nvml_find(const struct nvml *nvml, const uint8_t uuid[16], uint32_t domain, uint32_t bus,
                                    uint32_t slot)
{
    static const uint8_t none[16];
    bool by_uuid = memcmp(uuid, none, sizeof none) != 0;
    for (int i = 0; i < nvml->device_count; i++) {
        const struct nvml_device *device = &nvml->devices[i];
        if (by_uuid ? !memcmp(device->uuid, uuid, sizeof none)
                    : device->pci_domain == domain && device->pci_bus == bus && device->pci_slot == slot)
            return device;
    }
    return NULL;
}
