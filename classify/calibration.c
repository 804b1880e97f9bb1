/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a calibration is, where it lies, and what it says; calibration_file.c has its bytes. */
#include "classify/calibration.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "classify/allocate.h"

void calibration_init(struct calibration *calibration)
{
    *calibration = (struct calibration){
        .seconds = NAN,
        .sm_hz_lowest = NAN,
        .sm_hz_highest = NAN,
        .throttle_reasons = TRACE_REASONS_UNKNOWN,
        .copy_bytes_per_second = NAN,
        .read_bytes_per_second = NAN,
        .working_set_bytes = TRACE_UNKNOWN,
        .empty_kernel_ns = NAN,
        .enqueue_ns = NAN,
        .measured_realtime_ns = TRACE_UNKNOWN,
    };
    struct trace_device *device = &calibration->device;
    device->sm_count = device->compute_major = device->compute_minor = TRACE_UNKNOWN;
    device->memory_bytes = device->l2_bytes = TRACE_UNKNOWN;
    device->sm_clock_khz = device->memory_clock_khz = device->memory_bus_bits = TRACE_UNKNOWN;
    device->driver_version = device->mig = TRACE_UNKNOWN;
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        calibration->gemm[path] = (struct calibration_gemm){NAN, NAN, 0, 0, 0};
}

/* ---- whose ---- */

static bool has_uuid(const struct trace_device *device)
{
    static const uint8_t none[16];
    return memcmp(device->uuid, none, sizeof none) != 0;
}

/* Simulated GPUs all have one UUID: those are told apart by what they simulate. */
bool calibration_is_of(const struct calibration *calibration, const struct trace_device *device)
{
    const struct trace_device *own = &calibration->device;
    if ((own->simulated == 1) != (device->simulated == 1) || !has_uuid(own) ||
        memcmp(own->uuid, device->uuid, sizeof own->uuid) != 0)
        return false;
    if (own->pci_device_id && device->pci_device_id && own->pci_device_id != device->pci_device_id)
        return false;
    if (own->sm_count >= 0 && device->sm_count >= 0 && own->sm_count != device->sm_count)
        return false; /* another MIG profile under a UUID that was used again */
    return own->simulated != 1 || strcmp(own->name, device->name) == 0;
}

/* ---- where ---- */

/* As a file's name: letters, digits and dashes. */
static void plain_name(const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (const char *c = name; *c && used + 1 < size; c++)
        out[used++] = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
    out[used] = '\0';
}

static char *data_folder(void)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    bool own = data && data[0] == '/'; /* a relative one is to be ignored, says the XDG specification */
    if (!own && !(home && *home))
        return NULL;
    const char *base = own ? data : home, *rest = own ? "" : "/.local/share";
    char *folder = allocate(strlen(base) + strlen(rest) + 1, 1);
    sprintf(folder, "%s%s", base, rest);
    return folder;
}

char *calibration_path(const struct trace_device *device)
{
    char name[TRACE_DEVICE_NAME_BYTES] = "";
    char *folder = has_uuid(device) ? data_folder() : NULL;
    if (!folder)
        return NULL;
    if (device->simulated == 1)
        plain_name(device->name, name, sizeof name);
    for (size_t i = 0; device->simulated != 1 && i < sizeof device->uuid; i++)
        sprintf(name + strlen(name), "%02x%s", device->uuid[i], i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
    static const char between[] = "/rooftap/calibration/", suffix[] = ".json";
    char *path = allocate(strlen(folder) + sizeof between + strlen(name) + sizeof suffix, 1);
    sprintf(path, "%s%s%s%s", folder, between, name, suffix);
    free(folder);
    return path;
}

bool calibration_make_folders(const char *path)
{
    char *copy = allocate_text(path);
    bool good = true;
    for (char *slash = strchr(copy + 1, '/'); good && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        good = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *slash = '/';
    }
    int error = errno;
    free(copy);
    errno = error;
    return good;
}

/* ---- what it says ---- */

double calibration_flops_per_second(const struct calibration *calibration, enum gpu_path path)
{
    return (unsigned)path < GPU_PATH_COUNT ? calibration->gemm[path].flops_per_second : NAN;
}

double calibration_bytes_per_second(const struct calibration *calibration)
{
    return fmax(calibration->copy_bytes_per_second,
                calibration->read_bytes_per_second); /* of a number and NAN, the number */
}

/* More blocks never draw less: a dip of one point is noise. */
double calibration_fill_of_bandwidth(const struct calibration *calibration, double blocks)
{
    double best = 0, before = 0, here = 0;
    int64_t blocks_before = 0;
    bool found = false;
    if (!(blocks > 0) || calibration->point_count == 0)
        return NAN;
    for (int i = 0; i < calibration->point_count; i++) {
        const struct calibration_point *point = &calibration->points[i];
        best = fmax(best, point->bytes_per_second);
        if (found)
            continue;
        found = blocks <= (double)point->blocks;
        here = found ? before + (best - before) * (blocks - (double)blocks_before) /
                                    ((double)point->blocks - (double)blocks_before)
                     : best;
        before = best;
        blocks_before = point->blocks;
    }
    return here / best;
}
