/* SPDX-License-Identifier: Apache-2.0 */
/* NVML, loaded at run time: which GPUs there are and how fast each is kept. Its order is not CUDA's, so a GPU is known by its
 * PCI address and UUID only. May hang or crash with the driver: ask from a process that may be lost. */
#ifndef CALIBRATE_NVML_H
#define CALIBRATE_NVML_H

#include <stdbool.h>
#include <stdint.h>

enum { NVML_MOST_DEVICES = 64, NVML_ERROR_BYTES = 256 };

struct nvml_device {
    void *handle;
    uint32_t pci_domain, pci_bus, pci_slot;
    uint32_t pci_device_id; /* the vendor excluded */
    uint8_t uuid[16];       /* of the whole GPU; zeros: not known */
};

/* What is not known is negative. */
struct nvml_reading {
    int32_t sm_clock_mhz, memory_clock_mhz, power_mw, temperature_c;
    uint64_t throttle_reasons; /* UINT64_MAX: not known */
};

struct nvml {
    void *library;
    struct nvml_device devices[NVML_MOST_DEVICES];
    int device_count;
    int devices_left_out;         /* no permission, no PCI address, or beyond NVML_MOST_DEVICES */
    char driver_version[96];      /* empty: not known */
    char error[NVML_ERROR_BYTES]; /* why it could not be opened */
    /* Untyped here, so that the header needs no vendor's types. */
    int (*get_clock)(void *handle, int type, unsigned *mhz);
    int (*get_power)(void *handle, unsigned *milliwatts);
    int (*get_temperature)(void *handle, int sensor, unsigned *celsius);
    int (*get_reasons)(void *handle, unsigned long long *reasons);
};

/* LIBRARY NULL: libnvidia-ml.so.1 as the loader finds it. False: ERROR tells why. Never unloaded. */
bool nvml_open(struct nvml *nvml, const char *library);
/* False: nothing at all could be read. */
bool nvml_read(const struct nvml *nvml, const struct nvml_device *device, struct nvml_reading *reading);
/* NULL if there is none. Zeros in UUID: by the PCI address. */
const struct nvml_device *nvml_find(const struct nvml *nvml, const uint8_t uuid[16], uint32_t domain, uint32_t bus,
                                    uint32_t slot);

#endif
