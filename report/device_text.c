/* SPDX-License-Identifier: Apache-2.0 */
#include "report/device_text.h"

#include <math.h>

#include "report/format.h"
#include "report/label.h"
#include "report/safe_text.h"

static bool path_in_use(const struct session *session, int device, enum gpu_path path)
{
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].device == device && session->operators[i].of_call &&
            session->operators[i].work.path == path)
            return true;
    return false;
}

static void print_roof(const struct session_device *device, enum gpu_path path, FILE *out)
{
    char peak[FORMAT_BYTES], ridge[FORMAT_BYTES];
    double flops = device_roofs_flops_per_second(&device->roofs, path);
    double bytes = device_roofs_bytes_per_second(&device->roofs);
    label_print(out, "");
    fprintf(out, "roof %s", number_type_name(gpu_paths[path].type));
    if (gpu_paths[path].accumulate != gpu_paths[path].type)
        fprintf(out, " (%s accumulate)", number_type_name(gpu_paths[path].accumulate));
    if (isnan(flops))
        fputs(": no figure for this GPU, so no ridge\n", out);
    else
        fprintf(out, ": %s TFLOP/s, ridge %s FLOP/B\n", format_tera(peak, flops),
                format_intensity(ridge, flops / bytes));
}

static void print_roofs(const struct session *session, int index, FILE *out)
{
    const struct session_device *device = &session->devices[index];
    const struct gpu_spec *spec = device->roofs.spec;
    if (!spec) {
        label_print(out, "");
        fputs("no row in the GPU table for this device: no roof, no ridge, every class unknown (see `rooftap gpus`)\n",
              out);
        return;
    }
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        if (path_in_use(session, index, path))
            print_roof(device, path, out);
    label_print(out, "");
    fprintf(out, "roofs from %s (%s)", spec->source, spec->confidence);
    if (device->roofs.compute_scale < 1)
        fprintf(out, "; peaks scaled to %d of %d SMs", device->facts.sm_count, spec->sm_count);
    if (device->roofs.memory_scale < 1)
        fprintf(out, "; bandwidth scaled to %g of it", device->roofs.memory_scale);
    fputc('\n', out);
}

static void print_busy(const struct session_device *device, FILE *out)
{
    const struct interval_union *busy = &device->busy;
    char covered[FORMAT_BYTES], share[FORMAT_BYTES], idle[FORMAT_BYTES], whole[FORMAT_BYTES], copies[FORMAT_BYTES];
    label_print(out, "");
    if (!busy->known) {
        fputs("busy and idle time not known: nothing was timed\n", out);
        return;
    }
    double span = (double)(busy->last_ns - busy->first_ns);
    fprintf(out, "busy %s (%s %%), idle %s, of %s from first start to last end; copies %s\n",
            format_duration(covered, (double)busy->covered_ns),
            format_share(share, span > 0 ? (double)busy->covered_ns / span : NAN),
            format_duration(idle, span - (double)busy->covered_ns), format_duration(whole, span),
            format_duration(copies, (double)device->copy_ns));
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
        if (device->roofs.spec)
            fprintf(out, ", %s GB/s", format_giga(bandwidth, device_roofs_bytes_per_second(&device->roofs)));
        if (device->facts.pci_device_id)
            fprintf(out, ", PCI id %04x", device->facts.pci_device_id);
        if (device->facts.mig == 1)
            fputs(", MIG instance", out);
        fputc('\n', out);
    }
    print_roofs(session, index, out);
    print_busy(device, out);
}
