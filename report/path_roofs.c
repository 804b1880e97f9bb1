/* SPDX-License-Identifier: Apache-2.0 */
/* Two paths are one roof where all three figures are the same, as of bf16 and fp16 on most GPUs. */
#include "report/path_roofs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_roof(const struct path_roof *a, const struct path_roof *b)
{
    for (int kind = 0; kind < ROOF_KIND_COUNT; kind++)
        if (!same(a->kinds[kind].flops_per_second, b->kinds[kind].flops_per_second))
            return false;
    return true;
}

static struct path_roof roof_of(const struct session_device *device, enum gpu_path path)
{
    struct path_roof roof = {0};
    snprintf(roof.name, sizeof roof.name, "%s", gpu_paths[path].word);
    roof.kinds[ROOF_SPECIFICATION] = device_roof_specification(&device->roofs, path);
    roof.kinds[ROOF_ACHIEVABLE] = device_roof_achievable(&device->roofs, &device->measured, path);
    roof.kinds[ROOF_HELD_CLOCK] = device_roof_held(&device->roofs, device->clocks.sm_hz, path);
    return roof;
}

static int by_time(const void *left, const void *right)
{
    const struct path_roof *a = left, *b = right;
    return a->time_ns != b->time_ns ? (a->time_ns < b->time_ns ? 1 : -1) : strcmp(a->name, b->name);
}

/* Into the roof that has its figures, if there is one. */
static size_t add(struct path_roof *roofs, size_t count, const struct path_roof *roof)
{
    for (size_t i = 0; i < count; i++)
        if (same_roof(&roofs[i], roof)) {
            size_t used = strlen(roofs[i].name);
            snprintf(roofs[i].name + used, sizeof roofs[i].name - used, ", %s", roof->name);
            roofs[i].time_ns += roof->time_ns;
            return count;
        }
    roofs[count] = *roof;
    return count + 1;
}

size_t path_roofs(const struct session *session, int device, struct path_roof *roofs)
{
    double time_ns[GPU_PATH_COUNT] = {0};
    bool used[GPU_PATH_COUNT] = {false};
    size_t count = 0;
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (op->device != device || op->work.path >= GPU_PATH_COUNT || !operator_row_has_work(op))
            continue;
        used[op->work.path] = true;
        time_ns[op->work.path] += op->timed ? (double)op->time_ns : 0;
    }
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        if (used[path]) {
            struct path_roof roof = roof_of(&session->devices[device], path);
            roof.time_ns = time_ns[path];
            count = add(roofs, count, &roof);
        }
    if (count)
        qsort(roofs, count, sizeof *roofs, by_time);
    return count;
}
