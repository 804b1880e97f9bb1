/* SPDX-License-Identifier: Apache-2.0 */
/* What each GPU product can do at most: one row a product, with its source. Dense figures only, never the 2:4-sparse
 * ones of data sheets. A GPU that is not in the table has no ridge; nothing is guessed from a similar name. */
#ifndef CLASSIFY_GPU_SPECS_H
#define CLASSIFY_GPU_SPECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/number_type.h"

/* A path is (operand type, accumulate type, unit). A GPU has one peak for each. */
enum gpu_path {
    GPU_PATH_FP64,       /* FMA units */
    GPU_PATH_FP32,       /* FMA units */
    GPU_PATH_TF32,       /* tensor cores from here on */
    GPU_PATH_BF16,       /* fp32 accumulate: with the next the default roof of 16-bit GEMMs */
    GPU_PATH_FP16,       /* fp32 accumulate */
    GPU_PATH_FP16_ACC16, /* fp16 accumulate: twice as fast on GeForce, L40 and A10G */
    GPU_PATH_FP8_E4M3,
    GPU_PATH_FP8_E5M2,
    GPU_PATH_INT8,
    GPU_PATH_FP4_E2M1,
    GPU_PATH_COUNT,
    GPU_PATH_UNKNOWN = GPU_PATH_COUNT,
};

struct gpu_path_info {
    enum number_type type; /* of the operands */
    enum number_type accumulate;
    const char *unit; /* "fma" or "tensor" */
};

extern const struct gpu_path_info gpu_paths[GPU_PATH_COUNT];

/* Where the row's clock comes from: only a clock that does not come from the peak itself can check the peak. */
enum gpu_clock_basis {
    GPU_CLOCK_NONE = 0,   /* not known */
    GPU_CLOCK_PUBLISHED,  /* boost clock of a data sheet */
    GPU_CLOCK_DEVICE_MAX, /* highest clock that the device reports */
    GPU_CLOCK_BACKSOLVED, /* solved from the published peak */
};

enum { GPU_PCI_IDS = 4, GPU_DRIVER_NAMES = 3 };

struct gpu_spec {
    const char *key;                            /* short and unique: what --simulate takes */
    const char *name;                           /* for people */
    const char *driver_names[GPU_DRIVER_NAMES]; /* exactly as cuDeviceGetName gives them; NULL where fewer */
    uint16_t pci_ids[GPU_PCI_IDS];              /* PCI device ids of the vendor, 0 where fewer */
    uint16_t pci_vendor;                        /* 0x10de NVIDIA, 0x1002 AMD, 0 none */
    const char *compute_capability;             /* "8.9"; NULL where there is no such thing */
    int sm_count;                               /* 0: not known */
    double clock_hz;                            /* that reproduces the peaks; 0: not known */
    enum gpu_clock_basis clock_basis;
    int tensor_flops_per_clock_per_sm; /* dense, 16-bit operands, fp32 accumulate; 0: not known */
    double memory_bytes;
    double bytes_per_second;
    double flops_per_second[GPU_PATH_COUNT]; /* 0: not known, or the GPU has no such path */
    const char *source;
    const char *confidence;
};

/* All rows, NVIDIA first, ascending in generation; *COUNT of them. Static. */
const struct gpu_spec *gpu_specs(size_t *count);

/* NULL if no row has exactly this key. */
const struct gpu_spec *gpu_spec_by_key(const char *key);

/* The row of a CUDA device, NULL if there is none: by PCI device id (0: not known), then by exact driver name. A simulated
 * device is called "Simulated <key>" and is looked up by that key. */
const struct gpu_spec *gpu_spec_find(uint32_t pci_device_id, const char *driver_name, bool simulated);

/* FLOP/byte at which PATH turns compute-bound; NAN where the row does not say. */
double gpu_spec_ridge(const struct gpu_spec *spec, enum gpu_path path);

#endif
