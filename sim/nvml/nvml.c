/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in for libnvidia-ml: all of the machine's devices, also those that CUDA_VISIBLE_DEVICES hides. NVML's header comes only with large
 * packages, so its functions and structs are written here from its public documentation. Sensors read what
 * the device file says; those that it has no key for are refused (symbols.tsv). */
#include "sim/core/device.h"
#include "sim/core/memory.h"
#include "sim/core/simgpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { /* nvmlReturn_t */
       NVML_SUCCESS = 0,
       NVML_ERROR_UNINITIALIZED = 1,
       NVML_ERROR_INVALID_ARGUMENT = 2,
       NVML_ERROR_NOT_SUPPORTED = 3,
       NVML_ERROR_NOT_FOUND = 6,
       NVML_ERROR_INSUFFICIENT_SIZE = 7,
};

enum { /* attributes by the driver's numbers */
       ATTRIBUTE_PCI_BUS_ID = 33,
       ATTRIBUTE_PCI_DEVICE_ID = 34,
       ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
       ATTRIBUTE_PCI_DOMAIN_ID = 50,
};

enum {
    CLOCK_GRAPHICS = 0,
    CLOCK_SM = 1,
    CLOCK_MEM = 2,
    TEMPERATURE_GPU = 0
}; /* nvmlClockType_t, nvmlTemperatureSensors_t */
enum { PCI_VENDOR = 0x10de, CUDA_DRIVER_VERSION = SIM_CUDA_MAJOR * 1000 };
static const char *const driver_version = SIM_CUDA_MAJOR >= 13 ? "580.65.06" : "570.86.15";

struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
struct nvml_pci {
    char legacy_bus_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

#define API SIMGPU_API

static atomic_int initialised;           /* calls of nvmlInit less those of nvmlShutdown */
static char boards[SIMGPU_DEVICES_MOST]; /* their addresses are the handles */

/* Negative: no such handle. */
static int board_of(const void *handle)
{
    uintptr_t at = (uintptr_t)handle, first = (uintptr_t)boards;
    return at >= first && at < first + (uintptr_t)simgpu_device()->devices ? (int)(at - first) : -1;
}

#define DOOR()                                                                                                         \
    do {                                                                                                               \
        int fault_ = simgpu_fault(__func__);                                                                           \
        if (fault_)                                                                                                    \
            return fault_;                                                                                             \
        if (atomic_load(&initialised) <= 0)                                                                            \
            return NVML_ERROR_UNINITIALIZED;                                                                           \
    } while (0)

#define DEVICE_DOOR(handle, out)                                                                                       \
    DOOR();                                                                                                            \
    if (board_of(handle) < 0 || !(out))                                                                                \
    return NVML_ERROR_INVALID_ARGUMENT

/* ---- library ---- */

API int nvmlInit_v2(void);
API int nvmlInit(void);
API int nvmlInitWithFlags(unsigned flags);
API int nvmlShutdown(void);
API const char *nvmlErrorString(int result);
API int nvmlSystemGetDriverVersion(char *text, unsigned size);
API int nvmlSystemGetNVMLVersion(char *text, unsigned size);
API int nvmlSystemGetCudaDriverVersion(int *version);
API int nvmlSystemGetCudaDriverVersion_v2(int *version);

API int nvmlInit_v2(void)
{
    int fault = simgpu_fault(__func__);

    if (fault)
        return fault;
    atomic_fetch_add(&initialised, 1);
    return NVML_SUCCESS;
}

API int nvmlInit(void)
{
    return nvmlInit_v2();
}

API int nvmlInitWithFlags(unsigned flags)
{
    (void)flags;
    return nvmlInit_v2();
}

API int nvmlShutdown(void)
{
    DOOR();
    atomic_fetch_sub(&initialised, 1);
    return NVML_SUCCESS;
}

API const char *nvmlErrorString(int result)
{
    switch (result) {
    case NVML_SUCCESS:
        return "Success";
    case NVML_ERROR_UNINITIALIZED:
        return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
        return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
        return "Not Supported";
    case NVML_ERROR_NOT_FOUND:
        return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
        return "Insufficient Size";
    default:
        return "Unknown Error";
    }
}

static int give_text(char *to, unsigned size, const char *text)
{
    if (!to)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (strlen(text) >= size)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(to, text, strlen(text) + 1);
    return NVML_SUCCESS;
}

API int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    DOOR();
    return give_text(text, size, driver_version);
}

API int nvmlSystemGetNVMLVersion(char *text, unsigned size)
{
    char version[32];

    DOOR();
    snprintf(version, sizeof version, "%d.%s", SIM_CUDA_MAJOR, driver_version);
    return give_text(text, size, version);
}

API int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    DOOR();
    if (!version)
        return NVML_ERROR_INVALID_ARGUMENT;
    *version = CUDA_DRIVER_VERSION;
    return NVML_SUCCESS;
}

API int nvmlSystemGetCudaDriverVersion(int *version)
{
    return nvmlSystemGetCudaDriverVersion_v2(version);
}

/* ---- which device ---- */

API int nvmlDeviceGetCount_v2(unsigned *count);
API int nvmlDeviceGetCount(unsigned *count);
API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle);
API int nvmlDeviceGetHandleByIndex(unsigned index, void **handle);
API int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle);
API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **handle);
API int nvmlDeviceGetHandleByPciBusId(const char *bus_id, void **handle);
API int nvmlDeviceGetIndex(void *handle, unsigned *index);
API int nvmlDeviceGetMinorNumber(void *handle, unsigned *minor);
API int nvmlDeviceGetName(void *handle, char *text, unsigned size);
API int nvmlDeviceGetUUID(void *handle, char *text, unsigned size);
API int nvmlDeviceGetPciInfo_v3(void *handle, struct nvml_pci *pci);
API int nvmlDeviceGetPciInfo_v2(void *handle, struct nvml_pci *pci);
API int nvmlDeviceGetPciInfo(void *handle, struct nvml_pci *pci);

API int nvmlDeviceGetCount_v2(unsigned *count)
{
    DOOR();
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = (unsigned)simgpu_device()->devices;
    return NVML_SUCCESS;
}

API int nvmlDeviceGetCount(unsigned *count)
{
    return nvmlDeviceGetCount_v2(count);
}

API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle)
{
    DOOR();
    if (!handle || index >= (unsigned)simgpu_device()->devices)
        return NVML_ERROR_INVALID_ARGUMENT;
    *handle = &boards[index];
    return NVML_SUCCESS;
}

API int nvmlDeviceGetHandleByIndex(unsigned index, void **handle)
{
    return nvmlDeviceGetHandleByIndex_v2(index, handle);
}

API int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle)
{
    char own[SIMGPU_UUID_TEXT_BYTES];

    DOOR();
    if (!uuid || !handle)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int board = 0; board < simgpu_device()->devices; board++) {
        simgpu_device_uuid_text(board, own);
        if (strcasecmp(uuid, own) == 0) {
            *handle = &boards[board];
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

static unsigned pci_part(int board, int attribute)
{
    int value = 0;

    simgpu_device_attribute(board, attribute, &value);
    return (unsigned)value;
}

/* DOMAIN:BUS:DEVICE.0, in hexadecimal of any length. */
API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **handle)
{
    unsigned domain, bus, device;

    DOOR();
    if (!bus_id || !handle || sscanf(bus_id, "%x:%x:%x", &domain, &bus, &device) != 3)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int board = 0; board < simgpu_device()->devices; board++)
        if (domain == pci_part(board, ATTRIBUTE_PCI_DOMAIN_ID) && bus == pci_part(board, ATTRIBUTE_PCI_BUS_ID) &&
            device == pci_part(board, ATTRIBUTE_PCI_DEVICE_ID)) {
            *handle = &boards[board];
            return NVML_SUCCESS;
        }
    return NVML_ERROR_NOT_FOUND;
}

API int nvmlDeviceGetHandleByPciBusId(const char *bus_id, void **handle)
{
    return nvmlDeviceGetHandleByPciBusId_v2(bus_id, handle);
}

API int nvmlDeviceGetIndex(void *handle, unsigned *index)
{
    DEVICE_DOOR(handle, index);
    *index = (unsigned)board_of(handle);
    return NVML_SUCCESS;
}

API int nvmlDeviceGetMinorNumber(void *handle, unsigned *minor)
{
    DEVICE_DOOR(handle, minor);
    *minor = (unsigned)board_of(handle);
    return NVML_SUCCESS;
}

API int nvmlDeviceGetName(void *handle, char *text, unsigned size)
{
    DEVICE_DOOR(handle, text);
    return give_text(text, size, simgpu_device()->name);
}

API int nvmlDeviceGetUUID(void *handle, char *text, unsigned size)
{
    char own[SIMGPU_UUID_TEXT_BYTES];

    DEVICE_DOOR(handle, text);
    simgpu_device_uuid_text(board_of(handle), own);
    return give_text(text, size, own);
}

API int nvmlDeviceGetPciInfo_v3(void *handle, struct nvml_pci *pci)
{
    DEVICE_DOOR(handle, pci);
    memset(pci, 0, sizeof *pci);
    pci->domain = pci_part(board_of(handle), ATTRIBUTE_PCI_DOMAIN_ID);
    pci->bus = pci_part(board_of(handle), ATTRIBUTE_PCI_BUS_ID);
    pci->device = pci_part(board_of(handle), ATTRIBUTE_PCI_DEVICE_ID);
    pci->device_id = simgpu_device()->pci_device_id << 16 | PCI_VENDOR;
    snprintf(pci->legacy_bus_id, sizeof pci->legacy_bus_id, "%04x:%02x:%02x.0", pci->domain & 0xffff, pci->bus & 0xff,
             pci->device & 0xff);
    snprintf(pci->bus_id, sizeof pci->bus_id, "%08X:%02X:%02X.0", pci->domain, pci->bus, pci->device);
    return NVML_SUCCESS;
}

API int nvmlDeviceGetPciInfo_v2(void *handle, struct nvml_pci *pci)
{
    return nvmlDeviceGetPciInfo_v3(handle, pci);
}

API int nvmlDeviceGetPciInfo(void *handle, struct nvml_pci *pci)
{
    return nvmlDeviceGetPciInfo_v3(handle, pci);
}

/* ---- what it is like ---- */

API int nvmlDeviceGetMemoryInfo(void *handle, struct nvml_memory *memory);
API int nvmlDeviceGetMemoryInfo_v2(void *handle, struct nvml_memory_v2 *memory);
API int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor);
API int nvmlDeviceGetClockInfo(void *handle, int type, unsigned *mhz);
API int nvmlDeviceGetMaxClockInfo(void *handle, int type, unsigned *mhz);
API int nvmlDeviceGetPowerUsage(void *handle, unsigned *milliwatts);
API int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *celsius);
API int nvmlDeviceGetCurrentClocksEventReasons(void *handle, unsigned long long *reasons);
API int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *reasons);
API int nvmlDeviceGetMigMode(void *handle, unsigned *current, unsigned *pending);
API int nvmlDeviceIsMigDeviceHandle(void *handle, unsigned *is_mig);
API int nvmlDeviceGetMaxMigDeviceCount(void *handle, unsigned *count);
API int nvmlDeviceGetPersistenceMode(void *handle, int *mode);
API int nvmlDeviceGetComputeMode(void *handle, int *mode);

API int nvmlDeviceGetMemoryInfo(void *handle, struct nvml_memory *memory)
{
    size_t free_bytes, total;

    DEVICE_DOOR(handle, memory);
    simgpu_memory_info(simgpu_board_ordinal(board_of(handle)), &free_bytes, &total);
    *memory = (struct nvml_memory){total, free_bytes, total - free_bytes};
    return NVML_SUCCESS;
}

API int nvmlDeviceGetMemoryInfo_v2(void *handle, struct nvml_memory_v2 *memory)
{
    size_t free_bytes, total;

    DEVICE_DOOR(handle, memory);
    simgpu_memory_info(simgpu_board_ordinal(board_of(handle)), &free_bytes, &total);
    *memory = (struct nvml_memory_v2){memory->version, total, 0, free_bytes, total - free_bytes};
    return NVML_SUCCESS;
}

API int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor)
{
    DEVICE_DOOR(handle, major && minor);
    *major = simgpu_device()->compute_major;
    *minor = simgpu_device()->compute_minor;
    return NVML_SUCCESS;
}

static int clock_info(int type, int sm_khz, unsigned *mhz)
{
    int khz = sm_khz;

    if (type == CLOCK_MEM)
        simgpu_device_attribute(0, ATTRIBUTE_MEMORY_CLOCK_RATE, &khz);
    else if (type != CLOCK_GRAPHICS && type != CLOCK_SM)
        return NVML_ERROR_NOT_SUPPORTED; /* the device file has no other clock */
    *mhz = (unsigned)(khz / 1000);
    return NVML_SUCCESS;
}

API int nvmlDeviceGetClockInfo(void *handle, int type, unsigned *mhz)
{
    DEVICE_DOOR(handle, mhz);
    const struct simgpu_device *device = simgpu_device();
    return clock_info(type, device->held_clock_khz ? device->held_clock_khz : device->clock_khz, mhz);
}

API int nvmlDeviceGetMaxClockInfo(void *handle, int type, unsigned *mhz)
{
    DEVICE_DOOR(handle, mhz);
    return clock_info(type, simgpu_device()->clock_khz, mhz);
}

API int nvmlDeviceGetPowerUsage(void *handle, unsigned *milliwatts)
{
    DEVICE_DOOR(handle, milliwatts);
    if (simgpu_device()->power_mw < 0)
        return NVML_ERROR_NOT_SUPPORTED;
    *milliwatts = (unsigned)simgpu_device()->power_mw;
    return NVML_SUCCESS;
}

API int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *celsius)
{
    DEVICE_DOOR(handle, celsius);
    if (sensor != TEMPERATURE_GPU)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (simgpu_device()->temperature_c < 0)
        return NVML_ERROR_NOT_SUPPORTED;
    *celsius = (unsigned)simgpu_device()->temperature_c;
    return NVML_SUCCESS;
}

API int nvmlDeviceGetCurrentClocksEventReasons(void *handle, unsigned long long *reasons)
{
    DEVICE_DOOR(handle, reasons);
    *reasons = simgpu_device()->throttle_reasons;
    return NVML_SUCCESS;
}

API int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *reasons)
{
    return nvmlDeviceGetCurrentClocksEventReasons(handle, reasons);
}

API int nvmlDeviceGetMigMode(void *handle, unsigned *current, unsigned *pending)
{
    DEVICE_DOOR(handle, current && pending);
    *current = *pending = 0;
    return NVML_SUCCESS;
}

API int nvmlDeviceIsMigDeviceHandle(void *handle, unsigned *is_mig)
{
    DEVICE_DOOR(handle, is_mig);
    *is_mig = 0;
    return NVML_SUCCESS;
}

API int nvmlDeviceGetMaxMigDeviceCount(void *handle, unsigned *count)
{
    DEVICE_DOOR(handle, count);
    *count = 0;
    return NVML_SUCCESS;
}

API int nvmlDeviceGetPersistenceMode(void *handle, int *mode)
{
    DEVICE_DOOR(handle, mode);
    *mode = 1;
    return NVML_SUCCESS;
}

API int nvmlDeviceGetComputeMode(void *handle, int *mode)
{
    DEVICE_DOOR(handle, mode);
    *mode = 0; /* default: shared by all processes */
    return NVML_SUCCESS;
}
