/* SPDX-License-Identifier: Apache-2.0 */
/* The table of releases. */
#include "versions.h"
#include "stand_in.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
/* Sources: cuptiGetVersion() and the debug information of the packages nvidia-cuda-cupti 11.8.87, 12.4.127, 12.8.90, 12.9.79,
 * 13.0.85, 13.2.86, 13.3.75, 13.4.92; tests/sim_cupti holds rows against the headers that are here. Ascending. */
const struct cupti_release cupti_releases[] = {
    /* name    number  api     kernel memcpy memset device context graph overhead */
    {"11.8",   1108,   18,     200,   88,    88,    176,   16,     48,   40},
    {"12.4",   1204,   22,     208,   88,    88,    184,   24,     56,   56},
    {"12.8",   1208,   26,     208,   96,    88,    184,   32,     56,   56},
    {"12.9",   1209,   28,     208,   96,    88,    184,   32,     56,   56},
    {"13.0",   1300,   130001, 216,   96,    88,    184,   32,     56,   56},
    {"13.2",   1302,   130202, 224,   96,    88,    192,   40,     56,   56},
    {"13.3",   1303,   130301, 232,   96,    88,    192,   40,     56,   56},
    {"13.4",   1304,   130401, 248,   112,   104,   192,   40,     56,   56},
};
/* clang-format on */
const unsigned cupti_release_count = sizeof cupti_releases / sizeof *cupti_releases;

static const struct cupti_release *find(const char *name)
{
    const struct cupti_release *found = NULL;

    for (unsigned i = 0; i < cupti_release_count; i++)
        if (name ? !strcmp(cupti_releases[i].name, name) : cupti_releases[i].api_version == CUPTI_API_VERSION)
            found = &cupti_releases[i];
    return found;
}

const struct cupti_release *release_now(void)
{
    static const struct cupti_release *_Atomic chosen;
    const struct cupti_release *release = atomic_load_explicit(&chosen, memory_order_relaxed);
    const char *name;

    if (release)
        return release;
    name = getenv("SIMGPU_CUPTI");
    if (!name || !*name)
        name = simgpu_device()->cupti[0] ? simgpu_device()->cupti : NULL;
    release = find(name);
    if (!release) {
        fprintf(stderr,
                "simgpu: SIMGPU_CUPTI: \"%s\" is no release that the stand-in knows; it goes on as its headers'\n",
                name);
        release = find(NULL);
    }
    atomic_store(&chosen, release);
    return release;
}

size_t release_record_bytes(uint32_t kind)
{
    const struct cupti_release *release = release_now();

    switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return release->kernel;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return release->memcpy;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return release->memset;
    case CUPTI_ACTIVITY_KIND_DEVICE:
        return release->device;
    case CUPTI_ACTIVITY_KIND_CONTEXT:
        return release->context;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return release->graph_trace;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return release->overhead;
    default:
        return 0;
    }
}
