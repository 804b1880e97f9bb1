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
#define PATH(path, type, accumulate, unit, word, group) path,
#include "classify/gpu_paths.def"
    GPU_PATH_COUNT,
    GPU_PATH_UNKNOWN = GPU_PATH_COUNT,
};

struct gpu_path_info {
    enum number_type type; /* of the operands */
    enum number_type accumulate;
    const char *unit;         /* "fma", "dp4a" or "tensor" */
    const char *word, *group; /* as a user writes it: "fp8-e4m3", and "fp8" for both formats */
};

extern const struct gpu_path_info gpu_paths[GPU_PATH_COUNT];

/* The first path whose word or group this is; GPU_PATH_UNKNOWN. */
enum gpu_path gpu_path_by_word(const char *word);

/* Where the row's clock comes from: only a clock that does not come from the peak itself can check the peak. */
enum gpu_clock_basis {
    GPU_CLOCK_NONE = 0,   /* not known */
    GPU_CLOCK_PUBLISHED,  /* boost clock of a data sheet or a collection of them */
    GPU_CLOCK_DEVICE_MAX, /* highest clock that the device reports */
    GPU_CLOCK_BACKSOLVED, /* solved from the published peak */
};

enum gpu_origin {
    GPU_ORIGIN_TABLE = 0,  /* built in */
    GPU_ORIGIN_TABLE_FILE, /* the user's table file */
    GPU_ORIGIN_PEAK,       /* --peak */
};

enum { GPU_PCI_IDS = 4, GPU_DRIVER_NAMES = 3 };
enum { GPU_PCI_VENDOR_NVIDIA = 0x10de };

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
    double max_clock_hz;               /* highest SM clock, which may be above clock_hz; 0: not known */
    double memory_bytes;
    double memory_bytes_also; /* the same product is sold with this much, too; 0: it isn't */
    double bytes_per_second;
    int memory_bus_bits;                            /* 0: not known */
    double l2_bytes;                                /* 0: not known */
    double flops_per_second[GPU_PATH_COUNT];        /* 0: not known, or the GPU has no such path */
    double sparse_flops_per_second[GPU_PATH_COUNT]; /* the data sheet's 2:4 headline, never a roof; 0: not known */
    /* Published measurements of the best that a library reaches, never a specification; 0: none found. */
    double achievable_flops_per_second[GPU_PATH_COUNT];
    double achievable_bytes_per_second;
    const char *achievable_source; /* NULL where both are 0 */
    const char *source;
    const char *confidence;
    enum gpu_origin origin;
};

/* All built-in rows, ascending in generation within data centre, desktop and others; *COUNT of them. Static. */
const struct gpu_spec *gpu_specs(size_t *count);

/* Rows of a user's table file (classify/gpu_table_file.h); they come before the built-in ones in every look-up. ROWS must
 * outlive all look-ups. */
void gpu_specs_set_user_rows(const struct gpu_spec *rows, size_t count);
const struct gpu_spec *gpu_specs_user_rows(size_t *count);

/* NULL if no row has exactly this key. */
const struct gpu_spec *gpu_spec_by_key(const char *key);

enum gpu_match {
    GPU_MATCH_NONE,
    GPU_MATCH_PCI_ID,
    GPU_MATCH_NAME, /* exact driver name; the PCI id is not known or has no row */
    GPU_MATCH_KEY,  /* a simulated device */
};

/* The row of a CUDA device, NULL if there is none: by PCI device id (0: not known), then by exact driver name, of which
 * only a MIG profile (classify/mig_profile.h) is taken off. A simulated device is called "Simulated <key>" and is looked
 * up by that key. *MATCH (may be NULL): what decided. */
const struct gpu_spec *gpu_spec_match(uint32_t pci_device_id, const char *driver_name, bool simulated,
                                      enum gpu_match *match);
const struct gpu_spec *gpu_spec_find(uint32_t pci_device_id, const char *driver_name, bool simulated);

/* The row with exactly this driver name, MIG profile taken off; NULL. */
const struct gpu_spec *gpu_spec_by_driver_name(const char *driver_name);

/* What a library's matrix product runs on, on this GPU, where its types ask for WANTED: double precision on tensor cores
 * where there are such (cuBLAS documentation and NVIDIA A100 white paper: DGEMM uses DMMA), TF32 on plain FMA units where
 * the architecture is older than it (cuBLAS documentation: from compute capability 8.0 on), int8 as
 * gpu_spec_kernel_path() has it. SPEC may be NULL. */
enum gpu_path gpu_spec_product_path(const struct gpu_spec *spec, enum gpu_path wanted);
/* The same of a kernel that is built for all GPUs and takes the best unit that its GPU has: int8 is multiplied by dp4a where there
 * are no int8 tensor cores, which came with compute capability 7.5, and unknown where there is no dp4a either: before 6.1,
 * and 6.2 (PTX ISA: mma with .s8, dp4a). A row with a peak of one of the two, and be it the user's, has that unit. */
enum gpu_path gpu_spec_kernel_path(const struct gpu_spec *spec, enum gpu_path wanted);

/* FLOP/byte at which PATH turns compute-bound; NAN where the row does not say. */
double gpu_spec_ridge(const struct gpu_spec *spec, enum gpu_path path);

/* Length of context at which causal prefill attention turns compute-bound on COMPUTE, for GQA ratio GROUP and K and V of
 * KV_BYTES per element. By the L^2 convention of design texts: half of all pairs are visible. Counting K and V alone,
 * b_KV R / g; with Q and O of QO_BYTES per element, too, R (b_KV + g b_QO) / g, which is b R (g + 1) / g where all are of
 * one size. NAN where the ridge is not known or an argument is not above 0. */
double gpu_spec_crossing_kv(const struct gpu_spec *spec, enum gpu_path compute, double kv_bytes, double group);
double gpu_spec_crossing(const struct gpu_spec *spec, enum gpu_path compute, double kv_bytes, double qo_bytes,
                         double group);

#endif
