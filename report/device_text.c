/* SPDX-License-Identifier: Apache-2.0 */
/* Roofs of the types that calls used, each with where it comes from; then the clocks and what contradicts the GPU's row. */
#include "report/device_text.h"

#include <math.h>
#include <string.h>

#include "classify/launch_groups.h"
#include "report/activity_text.h"
#include "report/format.h"
#include "report/label.h"
#include "report/safe_text.h"

static bool path_in_use(const struct session *session, int device, enum gpu_path path)
{
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].device == device && session->operators[i].work.path == path &&
            (session->operators[i].of_call || launch_of_operator_is_read(&session->operators[i])))
            return true;
    return false;
}

/* "; achievable 148.3 (measured)", where that is known. */
static void print_other_roof(const char *what, double per_second, enum roof_origin origin,
                             char *(*format)(char *text, double per_second), FILE *out)
{
    char text[FORMAT_BYTES];
    const char *name = roof_origin_name(origin);
    if (isnan(per_second))
        return;
    fprintf(out, "; %s %s", what, format(text, per_second));
    if (name)
        fprintf(out, " (%s)", name);
}

/* Of paths of one type, those that are not what its name is taken for first. */
static const char *unit_words(const struct gpu_path_info *path)
{
    if (!strcmp(path->unit, "dp4a"))
        return " by dp4a";
    if (!strcmp(path->unit, "fma") && (path->type == NUMBER_FP16 || path->type == NUMBER_BF16))
        return " by FMA units";
    return !strcmp(path->unit, "tensor") && path->type == NUMBER_FP64 ? " by tensor cores" : "";
}

/* The specification classifies; what was reached, and what the clock allowed, stand beside it. */
static void print_roof(const struct session_device *device, enum gpu_path path, FILE *out)
{
    char peak[FORMAT_BYTES], ridge[FORMAT_BYTES];
    double flops = device_roofs_flops_per_second(&device->roofs, path);
    double bytes = device_roofs_bytes_per_second(&device->roofs);
    label_print(out, "");
    fprintf(out, "roof %s", number_type_name(gpu_paths[path].type));
    if (gpu_paths[path].accumulate != gpu_paths[path].type)
        fprintf(out, " (%s accumulate)", number_type_name(gpu_paths[path].accumulate));
    fputs(unit_words(&gpu_paths[path]), out);
    double least = device_roofs_least_flops_per_second(&device->roofs, path);
    if (isnan(flops) && !isnan(least)) {
        fprintf(out, ": not published; at least %s TFLOP/s, so memory bounds what has less than %s FLOP/B\n",
                format_tera(peak, least), format_intensity(ridge, least / bytes));
        return;
    }
    if (isnan(flops)) {
        fputs(": no figure for this GPU, so no ridge (--peak takes one)\n", out);
        return;
    }
    struct roof achievable = device_roof_achievable(&device->roofs, &device->measured, path);
    struct roof held = device_roof_held(&device->roofs, device->clocks.sm_hz, path);
    fprintf(out, ": %s TFLOP/s, ", format_tera(peak, flops));
    if (isnan(bytes))
        fputs("no ridge, since the bandwidth is not known (--peak takes bw=GB/s)", out);
    else
        fprintf(out, "ridge %s FLOP/B", format_intensity(ridge, flops / bytes));
    print_other_roof("achievable", achievable.flops_per_second, achievable.compute_origin, format_tera, out);
    if (held.flops_per_second < flops)
        print_other_roof("at the clock held", held.flops_per_second, ROOF_ORIGIN_NONE, format_tera, out);
    fputc('\n', out);
}

static void print_sources(const struct session_device *device, enum gpu_path path, FILE *out)
{
    struct roof achievable = device_roof_achievable(&device->roofs, &device->measured, path);
    const char *compute = achievable.compute_source, *memory = achievable.memory_source;
    char bandwidth[FORMAT_BYTES];
    if (!isnan(achievable.bytes_per_second)) {
        label_print(out, "");
        fprintf(out, "bandwidth: %s GB/s", format_giga(bandwidth, device_roofs_bytes_per_second(&device->roofs)));
        print_other_roof("achievable", achievable.bytes_per_second, achievable.memory_origin, format_giga, out);
        fputc('\n', out);
    }
    if (!compute && !memory)
        return;
    label_print(out, "");
    fputs("achievable roofs from ", out);
    safe_text_print(out, compute ? compute : memory, 200);
    if (compute && memory && strcmp(compute, memory)) {
        fputs(" and ", out);
        safe_text_print(out, memory, 200);
    }
    fputc('\n', out);
}

/* NVML's readings while it was busy. */
static void print_clocks(const struct session_device *device, FILE *out)
{
    const struct held_clock *clocks = &device->clocks;
    const struct gpu_spec *spec = device->roofs.spec;
    char share[FORMAT_BYTES];
    if (isnan(clocks->sm_hz))
        return;
    label_print(out, "");
    fprintf(out, "SM clock %.0f MHz under load, %.0f at the lowest", clocks->sm_hz / 1e6, clocks->sm_hz_lowest / 1e6);
    if (spec && spec->clock_hz > 0)
        fprintf(out, "; the peaks mean %.0f", spec->clock_hz / 1e6);
    if (!isnan(clocks->power_w))
        fprintf(out, "; %.0f W", clocks->power_w);
    for (int bit = 0; held_clock_reason_name(bit); bit++)
        if (clocks->reason_share[bit] > 0)
            fprintf(out, "; %s %s %%", held_clock_reason_name(bit), format_share(share, clocks->reason_share[bit]));
    fputc('\n', out);
}

/* A simulated device is its row; what its driver says is the stand-in's. */
static void print_contradictions(const struct session_device *device, FILE *out)
{
    char text[512];
    if (device->facts.simulated == 1)
        return;
    for (int i = 0; i < device->identity.check_count; i++) {
        label_print(out, "");
        safe_text_print(out, identity_check_text(&device->identity.checks[i], device->roofs.spec, text, sizeof text),
                        300);
        fputc('\n', out);
    }
}

static void print_roofs(const struct session *session, int index, FILE *out)
{
    const struct session_device *device = &session->devices[index];
    const struct gpu_spec *spec = device->roofs.spec;
    enum gpu_path used = GPU_PATH_UNKNOWN;
    if (!spec) {
        label_print(out, "");
        fprintf(
            out,
            "no row in the GPU table: no roof, ridge or class; give its figures by --peak %d:bf16=TFLOP/s,bw=GB/s\n",
            index);
        return;
    }
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        if (path_in_use(session, index, path)) {
            print_roof(device, path, out);
            used = used == GPU_PATH_UNKNOWN ? (enum gpu_path)path : used;
        }
    label_print(out, "");
    fprintf(out, "roofs from %s (%s)", spec->source, spec->confidence);
    if (device->roofs.compute_scale < 1)
        fprintf(out, "; peaks scaled to %d of %d SMs", device->facts.sm_count, spec->sm_count);
    if (device->roofs.memory_scale < 1)
        fprintf(out, "; bandwidth scaled to %g of it", device->roofs.memory_scale);
    fputc('\n', out);
    if (used != GPU_PATH_UNKNOWN)
        print_sources(device, used, out);
    print_contradictions(device, out);
    print_clocks(device, out);
}

void device_text_print(const struct session *session, int index, FILE *out)
{
    const struct session_device *device = &session->devices[index];
    char label[32], bandwidth[FORMAT_BYTES];
    snprintf(label, sizeof label, "GPU %d", index);
    label_print(out, label);
    if (!device->described) {
        fprintf(out, "device %u of its process, which the trace does not describe\n", device->facts.ordinal);
    } else {
        safe_text_print(out, device->facts.name, 80);
        if (device->facts.sm_count > 0)
            fprintf(out, ", %d SMs", device->facts.sm_count);
        if (device->roofs.spec && !isnan(device_roofs_bytes_per_second(&device->roofs)))
            fprintf(out, ", %s GB/s", format_giga(bandwidth, device_roofs_bytes_per_second(&device->roofs)));
        if (device->facts.pci_device_id)
            fprintf(out, ", PCI id %04x", device->facts.pci_device_id);
        if (device->facts.mig == 1)
            fputs(", MIG instance", out);
        fputc('\n', out);
    }
    print_roofs(session, index, out);
    activity_text_print(session, index, out);
}
