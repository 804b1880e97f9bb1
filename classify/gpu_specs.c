/* SPDX-License-Identifier: Apache-2.0 */
/* Look-up in the GPU table: PCI id, exact driver name, key. The rows are in gpu_spec_rows.c. */
#include "classify/gpu_specs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "classify/gpu_spec_rows.h"
#include "classify/mig_profile.h"

const struct gpu_path_info gpu_paths[GPU_PATH_COUNT] = {
#define PATH(path, type, accumulate, unit, word, group) [path] = {type, accumulate, unit, word, group},
#include "classify/gpu_paths.def"
};

static const char simulated_prefix[] = "Simulated ";

static const struct gpu_spec *user_rows;
static size_t user_row_count;

enum gpu_path gpu_path_by_word(const char *word)
{
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        if (!strcmp(gpu_paths[path].word, word) || !strcmp(gpu_paths[path].group, word))
            return (enum gpu_path)path;
    return GPU_PATH_UNKNOWN;
}

const struct gpu_spec *gpu_specs(size_t *count)
{
    *count = gpu_spec_row_count;
    return gpu_spec_rows;
}

void gpu_specs_set_user_rows(const struct gpu_spec *rows, size_t count)
{
    user_rows = rows;
    user_row_count = count;
}

const struct gpu_spec *gpu_specs_user_rows(size_t *count)
{
    *count = user_row_count;
    return user_rows;
}

/* ---- one walk for all look-ups: the user's rows first ---- */

typedef bool row_test(const struct gpu_spec *row, const void *wanted);

static const struct gpu_spec *first_row(row_test *test, const void *wanted)
{
    for (size_t i = 0; i < user_row_count; i++)
        if (test(&user_rows[i], wanted))
            return &user_rows[i];
    for (size_t i = 0; i < gpu_spec_row_count; i++)
        if (test(&gpu_spec_rows[i], wanted))
            return &gpu_spec_rows[i];
    return NULL;
}

static bool has_key(const struct gpu_spec *row, const void *wanted)
{
    return !strcmp(row->key, wanted);
}

static bool has_pci_id(const struct gpu_spec *row, const void *wanted)
{
    const uint32_t *id = wanted;
    for (int i = 0; i < GPU_PCI_IDS && row->pci_ids[i]; i++)
        if (row->pci_ids[i] == *id && row->pci_vendor == GPU_PCI_VENDOR_NVIDIA)
            return true;
    return false;
}

static bool has_driver_name(const struct gpu_spec *row, const void *wanted)
{
    for (int i = 0; i < GPU_DRIVER_NAMES && row->driver_names[i]; i++)
        if (!strcmp(row->driver_names[i], wanted))
            return true;
    return false;
}

const struct gpu_spec *gpu_spec_by_key(const char *key)
{
    return first_row(has_key, key);
}

const struct gpu_spec *gpu_spec_by_driver_name(const char *driver_name)
{
    char product[MIG_PROFILE_NAME_BYTES];
    struct mig_profile profile;
    return first_row(has_driver_name, mig_profile_split(driver_name, product, &profile) ? product : driver_name);
}

const struct gpu_spec *gpu_spec_match(uint32_t pci_device_id, const char *driver_name, bool simulated,
                                      enum gpu_match *match)
{
    enum gpu_match decided = GPU_MATCH_PCI_ID;
    const struct gpu_spec *row = NULL;
    if (simulated) {
        /* The key first: rows that share a chip differ by key only, and `unit` has no PCI id at all. */
        size_t prefix = sizeof simulated_prefix - 1;
        bool prefixed = !strncmp(driver_name, simulated_prefix, prefix);
        decided = GPU_MATCH_KEY;
        row = gpu_spec_by_key(prefixed ? driver_name + prefix : driver_name);
    } else {
        if (pci_device_id)
            row = first_row(has_pci_id, &pci_device_id);
        if (!row) {
            decided = GPU_MATCH_NAME;
            row = gpu_spec_by_driver_name(driver_name);
        }
    }
    if (match)
        *match = row ? decided : GPU_MATCH_NONE;
    return row;
}

const struct gpu_spec *gpu_spec_find(uint32_t pci_device_id, const char *driver_name, bool simulated)
{
    return gpu_spec_match(pci_device_id, driver_name, simulated, NULL);
}

/* ---- paths and ridges ---- */

/* "7.5" is 75; 0: not known, or not NVIDIA's. */
static int capability_of(const struct gpu_spec *spec)
{
    int major, minor;
    if (!spec->compute_capability || sscanf(spec->compute_capability, "%d.%d", &major, &minor) != 2)
        return 0;
    return 10 * major + minor;
}

static bool has_peak(const struct gpu_spec *spec, enum gpu_path path)
{
    return spec->flops_per_second[path] > 0;
}

enum gpu_path gpu_spec_kernel_path(const struct gpu_spec *spec, enum gpu_path wanted)
{
    if (!spec || (wanted != GPU_PATH_INT8 && wanted != GPU_PATH_INT8_DP4A) || has_peak(spec, wanted))
        return wanted;
    const int capability = capability_of(spec);
    if (has_peak(spec, GPU_PATH_INT8_DP4A) || capability == 61 || (capability >= 70 && capability < 75))
        return GPU_PATH_INT8_DP4A;
    return capability && capability < 70 ? GPU_PATH_UNKNOWN : wanted;
}

enum gpu_path gpu_spec_product_path(const struct gpu_spec *spec, enum gpu_path wanted)
{
    if (!spec)
        return wanted;
    if (wanted == GPU_PATH_FP64 && has_peak(spec, GPU_PATH_FP64_TENSOR))
        return GPU_PATH_FP64_TENSOR;
    bool before_tf32 = spec->compute_capability && spec->compute_capability[0] == '7';
    return wanted == GPU_PATH_TF32 && before_tf32 ? GPU_PATH_FP32 : gpu_spec_kernel_path(spec, wanted);
}

double gpu_spec_ridge(const struct gpu_spec *spec, enum gpu_path path)
{
    if (!spec || (unsigned)path >= GPU_PATH_COUNT || !(spec->flops_per_second[path] > 0) ||
        !(spec->bytes_per_second > 0))
        return NAN;
    return spec->flops_per_second[path] / spec->bytes_per_second;
}

double gpu_spec_crossing_kv(const struct gpu_spec *spec, enum gpu_path compute, double kv_bytes, double group)
{
    if (!(kv_bytes > 0) || !(group > 0))
        return NAN;
    return kv_bytes * gpu_spec_ridge(spec, compute) / group;
}

double gpu_spec_crossing(const struct gpu_spec *spec, enum gpu_path compute, double kv_bytes, double qo_bytes,
                         double group)
{
    if (!(kv_bytes > 0) || !(qo_bytes > 0) || !(group > 0))
        return NAN;
    return gpu_spec_ridge(spec, compute) * (kv_bytes + group * qo_bytes) / group;
}
