/* SPDX-License-Identifier: Apache-2.0 */
/* Each reading stands for the time that is nearer to it than to its neighbours, but no farther than its period. Of that the
 * busy part is its weight, if it was taken under load at all: a reading in a pause tells of the pause. */
#include "classify/held_clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "classify/allocate.h"
#include "trace/trace_reader.h"

enum { MOST_READINGS = 4000000 }; /* 288 MB; a recorder writes 17 000 a day and GPU */

/* nvml.h, nvmlClocksThrottleReasons and, since 535, nvmlClocksEventReasons; bit by bit. */
static const char *const reason_names[HELD_CLOCK_REASONS] = {
    "gpu_idle",
    "applications_clocks_setting",
    "sw_power_cap",
    "hw_slowdown",
    "sync_boost",
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
    "display_clock_setting",
};

const char *held_clock_reason_name(int bit)
{
    return bit >= 0 && bit < HELD_CLOCK_REASONS ? reason_names[bit] : NULL;
}

/* ---- reading ---- */

static void take(struct held_clock_readings *all, const struct trace_clocks *clocks)
{
    if (all->count == MOST_READINGS) {
        all->left_out++;
        return;
    }
    all->readings = allocate_grow(all->readings, all->count, &all->capacity, sizeof *all->readings);
    all->readings[all->count++] = *clocks;
}

struct held_clock_readings held_clock_read(const char *folder)
{
    struct held_clock_readings all = {0};
    struct trace_error error;
    struct trace_item item;
    size_t bytes = strlen(folder) + sizeof "/" TRACE_CLOCKS_FILE;
    char *path = allocate(bytes, 1);
    snprintf(path, bytes, "%s/%s", folder, TRACE_CLOCKS_FILE);
    all.file_there = access(path, F_OK) == 0 || errno != ENOENT;
    struct trace_reader *reader = all.file_there ? trace_reader_open(path, &error) : NULL;
    free(path);
    if (!reader) {
        if (all.file_there)
            all.problem = allocate_text(error.text);
        return all;
    }
    while (trace_reader_next(reader, &item))
        if (item.record->type == TRACE_RECORD_CLOCKS)
            take(&all, (const void *)item.record);
    all.cut_short = trace_reader_stats(reader)->cut_short;
    trace_reader_close(reader);
    return all;
}

void held_clock_free(struct held_clock_readings *readings)
{
    free(readings->readings);
    free(readings->problem);
    *readings = (struct held_clock_readings){0};
}

/* ---- whose ---- */

static bool is_known(const uint8_t uuid[16])
{
    static const uint8_t none[16];
    return memcmp(uuid, none, sizeof none) != 0;
}

/* A MIG instance has a UUID of its own, and the address of the GPU that it is a part of. */
static bool is_of(const struct trace_clocks *clocks, const struct trace_device *device)
{
    bool comparable = is_known(clocks->uuid) && is_known(device->uuid);
    if (comparable && memcmp(clocks->uuid, device->uuid, sizeof device->uuid) == 0)
        return true;
    bool address_known = device->pci_device_id || device->pci_domain || device->pci_bus || device->pci_slot;
    bool address_counts = address_known && (device->mig == 1 || !comparable);
    return address_counts && clocks->pci_domain == device->pci_domain && clocks->pci_bus == device->pci_bus &&
           clocks->pci_slot == device->pci_slot;
}

/* ---- over the busy time ---- */

struct cell {
    const struct trace_clocks *reading;
    uint64_t start_ns, end_ns; /* what it stands for */
    uint64_t busy_ns;
    bool under_load;
};

struct walk {
    struct cell *cells;
    size_t count, next; /* cells before NEXT end before the load that is open */
    bool any;
    uint64_t start_ns, end_ns; /* the load that is open */
};

static int compare_cells(const void *a, const void *b)
{
    uint64_t x = ((const struct cell *)a)->reading->realtime_ns, y = ((const struct cell *)b)->reading->realtime_ns;
    return (x > y) - (x < y);
}

static uint64_t middle(uint64_t a, uint64_t b)
{
    return a + (b - a) / 2;
}

static void find_bounds(struct cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t at = cells[i].reading->realtime_ns;
        uint64_t reach = (uint64_t)cells[i].reading->period_ms * 1000000u;
        uint64_t start = at > reach ? at - reach : 0, end = at < UINT64_MAX - reach ? at + reach : UINT64_MAX;
        if (i > 0 && middle(cells[i - 1].reading->realtime_ns, at) > start)
            start = middle(cells[i - 1].reading->realtime_ns, at);
        if (i + 1 < count && middle(at, cells[i + 1].reading->realtime_ns) < end)
            end = middle(at, cells[i + 1].reading->realtime_ns);
        cells[i].start_ns = start;
        cells[i].end_ns = end;
    }
}

static void end_load(struct walk *walk)
{
    while (walk->next < walk->count && walk->cells[walk->next].end_ns <= walk->start_ns)
        walk->next++;
    for (size_t i = walk->next; i < walk->count && walk->cells[i].start_ns < walk->end_ns; i++) {
        struct cell *cell = &walk->cells[i];
        uint64_t start = cell->start_ns > walk->start_ns ? cell->start_ns : walk->start_ns;
        uint64_t end = cell->end_ns < walk->end_ns ? cell->end_ns : walk->end_ns;
        uint64_t at = cell->reading->realtime_ns;
        cell->busy_ns += end > start ? end - start : 0;
        cell->under_load |= at >= walk->start_ns && at <= walk->end_ns;
    }
}

static void visit_busy(void *context, uint64_t start_ns, uint64_t end_ns)
{
    struct walk *walk = context;
    if (walk->any && start_ns <= walk->end_ns + HELD_CLOCK_GAP_NS) {
        if (end_ns > walk->end_ns)
            walk->end_ns = end_ns;
        return;
    }
    if (walk->any)
        end_load(walk);
    walk->any = true;
    walk->start_ns = start_ns;
    walk->end_ns = end_ns;
}

/* A weighted mean of what is known; NAN without any. By distances from the first value, so that of equal values it is that
 * very value. */
struct mean {
    double first, distance, weight;
};

static void mean_add(struct mean *mean, double value, double weight)
{
    if (mean->weight == 0)
        mean->first = value;
    mean->distance += (value - mean->first) * weight;
    mean->weight += weight;
}

static double mean_value(const struct mean *mean)
{
    return mean->weight > 0 ? mean->first + mean->distance / mean->weight : NAN;
}

static void summarize(const struct walk *walk, struct held_clock *held)
{
    struct mean sm = {0}, memory = {0}, power = {0}, reason[HELD_CLOCK_REASONS] = {{0}};
    for (size_t i = 0; i < walk->count; i++) {
        const struct cell *cell = &walk->cells[i];
        const struct trace_clocks *reading = cell->reading;
        double weight = (double)cell->busy_ns;
        if (!cell->under_load || !cell->busy_ns)
            continue;
        held->readings_under_load++;
        if (reading->sm_clock_mhz >= 0) {
            double hz = reading->sm_clock_mhz * 1e6;
            mean_add(&sm, hz, weight);
            held->sm_hz_lowest = fmin(hz, held->sm_hz_lowest); /* of a number and NAN, the number */
        }
        if (reading->memory_clock_mhz >= 0)
            mean_add(&memory, reading->memory_clock_mhz * 1e6, weight);
        if (reading->power_mw >= 0)
            mean_add(&power, reading->power_mw / 1e3, weight);
        if (reading->temperature_c >= 0)
            held->temperature_c_highest = fmax(reading->temperature_c, held->temperature_c_highest);
        for (int bit = 0; reading->throttle_reasons != TRACE_REASONS_UNKNOWN && bit < HELD_CLOCK_REASONS; bit++)
            mean_add(&reason[bit], reading->throttle_reasons >> bit & 1, weight);
    }
    held->sm_hz = mean_value(&sm);
    held->memory_hz = mean_value(&memory);
    held->power_w = mean_value(&power);
    for (int bit = 0; bit < HELD_CLOCK_REASONS; bit++)
        held->reason_share[bit] = mean_value(&reason[bit]);
}

struct held_clock held_clock_of(const struct held_clock_readings *readings, const struct trace_device *device,
                                struct interval_set *busy)
{
    struct held_clock held = {.sm_hz = NAN, .sm_hz_lowest = NAN, .temperature_c_highest = NAN};
    struct walk walk = {.cells = allocate(readings->count, sizeof *walk.cells)};
    for (size_t i = 0; i < readings->count; i++)
        if (is_of(&readings->readings[i], device))
            walk.cells[walk.count++].reading = &readings->readings[i];
    held.readings = walk.count;
    if (walk.count) {
        qsort(walk.cells, walk.count, sizeof *walk.cells, compare_cells);
        find_bounds(walk.cells, walk.count);
        if (busy)
            interval_set_visit(busy, visit_busy, &walk);
        if (walk.any)
            end_load(&walk);
    }
    summarize(&walk, &held);
    free(walk.cells);
    return held;
}

double held_clock_scale(const struct held_clock *held, double specification_hz)
{
    if (!(held->sm_hz > 0) || !(specification_hz > 0))
        return NAN;
    return fmin(1, held->sm_hz / specification_hz);
}
