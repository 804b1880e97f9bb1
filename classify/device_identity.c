/* SPDX-License-Identifier: Apache-2.0 */
/* A table of what is compared; each comparison knows when it has nothing to compare. */
#include "classify/device_identity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What two readings of the same product may differ by; device_identity.h says of each what lies beyond. */
#define LEAST_MEMORY    0.85
#define MOST_MEMORY     1.15
#define BANDWIDTH_SHARE 0.10
#define CLOCK_SHARE     0.03

static double known(double value)
{
    return value > 0 ? value : NAN;
}

/* ---- comparisons: what both sides say, NAN where one doesn't; then whether that is at odds ---- */

struct comparison {
    const struct trace_device *facts;
    const struct gpu_spec *row;
    bool mig;
};

static void compare_sms(const struct comparison *c, struct identity_check *check)
{
    check->of_device = known(c->facts->sm_count);
    check->of_row = known(c->row->sm_count);
}

static void compare_memory(const struct comparison *c, struct identity_check *check)
{
    check->of_device = c->mig ? NAN : known((double)c->facts->memory_bytes);
    check->of_row = known(c->row->memory_bytes);
    double also = known(c->row->memory_bytes_also);
    if (fabs(check->of_device - also) < fabs(check->of_device - check->of_row))
        check->of_row = also;
}

static void compare_bus(const struct comparison *c, struct identity_check *check)
{
    check->of_device = c->mig ? NAN : known(c->facts->memory_bus_bits);
    check->of_row = known(c->row->memory_bus_bits);
}

/* The attribute is the clock of the command bus on GDDR and HBM alike, and data goes on both edges of it. */
static void compare_bandwidth(const struct comparison *c, struct identity_check *check)
{
    check->of_device =
        c->mig ? NAN : known(c->facts->memory_clock_khz) * 1000.0 * 2.0 * known(c->facts->memory_bus_bits) / 8.0;
    check->of_row = known(c->row->bytes_per_second);
}

static void compare_clock(const struct comparison *c, struct identity_check *check)
{
    check->of_device = known(c->facts->sm_clock_khz) * 1000.0;
    check->of_row = known(c->row->clock_hz);
}

static void compare_capability(const struct comparison *c, struct identity_check *check)
{
    char text[32];
    check->of_device = check->of_row = NAN;
    if (c->facts->compute_major < 0 || c->facts->compute_minor < 0 || !c->row->compute_capability)
        return;
    snprintf(text, sizeof text, "%d.%d", c->facts->compute_major, c->facts->compute_minor);
    check->device_capability[0] = c->facts->compute_major;
    check->device_capability[1] = c->facts->compute_minor;
    check->of_row = 0;
    check->of_device = strcmp(text, c->row->compute_capability) != 0;
}

static void compare_name(const struct comparison *c, struct identity_check *check)
{
    check->other = gpu_spec_by_driver_name(c->facts->name);
    check->of_row = 0;
    check->of_device = check->other && check->other != c->row;
}

static bool is_more(double device, double row)
{
    return device > row;
}

static bool is_other(double device, double row)
{
    return !isnan(device) && !isnan(row) && device != row;
}

static bool is_other_size(double device, double row)
{
    return device < LEAST_MEMORY * row || device > MOST_MEMORY * row;
}

static bool is_other_bandwidth(double device, double row)
{
    return fabs(device / row - 1) > BANDWIDTH_SHARE;
}

static bool is_slower(double device, double row)
{
    return device < (1 - CLOCK_SHARE) * row;
}

/* clang-format off */
static const struct {
    const char *name;
    bool contradiction, simulated; /* whether a simulated GPU is asked, too */
    void (*compare)(const struct comparison *c, struct identity_check *check);
    bool (*at_odds)(double device, double row);
} rules[IDENTITY_CHECK_COUNT] = {
    [IDENTITY_NAME]       = {"name",               true,  false, compare_name,       is_other},
    [IDENTITY_CAPABILITY] = {"compute_capability", true,  true,  compare_capability, is_other},
    [IDENTITY_SM_COUNT]   = {"sm_count",           true,  true,  compare_sms,        is_more},
    [IDENTITY_MEMORY]     = {"memory_bytes",       true,  true,  compare_memory,     is_other_size},
    [IDENTITY_BUS]        = {"memory_bus_bits",    true,  true,  compare_bus,        is_other},
    [IDENTITY_BANDWIDTH]  = {"bytes_per_second",   false, true,  compare_bandwidth,  is_other_bandwidth},
    [IDENTITY_CLOCK]      = {"clock_hz",           false, true,  compare_clock,      is_slower},
};
/* clang-format on */

/* What a driver says of a device that has the row's PCI id, or its name. */
static void check_facts(const struct trace_device *facts, const struct gpu_spec *row, struct device_identity *identity)
{
    struct comparison comparison = {facts, row, identity->mig};
    for (int kind = 0; kind < IDENTITY_CHECK_COUNT; kind++) {
        struct identity_check check = {.kind = (enum identity_check_kind)kind};
        if (facts->simulated == 1 && !rules[kind].simulated)
            continue;
        rules[kind].compare(&comparison, &check);
        if (rules[kind].at_odds(check.of_device, check.of_row))
            identity->checks[identity->check_count++] = check;
    }
}

void device_identify(const struct trace_device *facts, struct device_roofs *roofs, struct device_identity *identity)
{
    char product[MIG_PROFILE_NAME_BYTES];
    *identity = (struct device_identity){.match = GPU_MATCH_NONE};
    identity->mig = mig_profile_split(facts->name, product, &identity->profile) || facts->mig == 1;
    const struct gpu_spec *row =
        gpu_spec_match(facts->pci_device_id, facts->name, facts->simulated == 1, &identity->match);
    /* The profile's nominal size rather than what the driver has left of it. */
    int64_t memory_bytes =
        identity->profile.memory_gb ? identity->profile.memory_gb * 1000000000ll : facts->memory_bytes;
    *roofs = device_roofs(row, facts->sm_count, identity->mig, memory_bytes);
    if (!row)
        return;
    if (identity->mig && memory_bytes > 0 && row->memory_bytes > 0)
        identity->memory_slices = mig_profile_memory_slices((double)memory_bytes, row->memory_bytes);
    check_facts(facts, row, identity);
}

bool identity_check_is_contradiction(enum identity_check_kind kind)
{
    return rules[kind].contradiction;
}

const char *identity_check_name(enum identity_check_kind kind)
{
    return rules[kind].name;
}

bool device_identity_contradicts(const struct device_identity *identity)
{
    for (int i = 0; i < identity->check_count; i++)
        if (identity_check_is_contradiction(identity->checks[i].kind))
            return true;
    return false;
}

char *identity_check_text(const struct identity_check *check, const struct gpu_spec *row, char *out, size_t bytes)
{
    switch (check->kind) {
    case IDENTITY_NAME:
        snprintf(out, bytes, "peak estimated: the PCI id is that of %s, the device's name that of %s", row->name,
                 check->other->name);
        break;
    case IDENTITY_CAPABILITY:
        snprintf(out, bytes, "peak estimated: the device has compute capability %d.%d, %s has %s",
                 check->device_capability[0], check->device_capability[1], row->name, row->compute_capability);
        break;
    case IDENTITY_SM_COUNT:
        snprintf(out, bytes, "peak estimated: the device has %.0f SMs, %s has %.0f", check->of_device, row->name,
                 check->of_row);
        break;
    case IDENTITY_MEMORY:
        snprintf(out, bytes, "peak estimated: the device has %.1f GB of memory, %s has %.1f", check->of_device / 1e9,
                 row->name, check->of_row / 1e9);
        break;
    case IDENTITY_BUS:
        snprintf(out, bytes, "peak estimated: the device's memory bus has %.0f bits, that of %s %.0f", check->of_device,
                 row->name, check->of_row);
        break;
    case IDENTITY_BANDWIDTH:
        snprintf(out, bytes, "by its memory clock and bus the device has %.0f GB/s, %s has %.0f, which is used",
                 check->of_device / 1e9, row->name, check->of_row / 1e9);
        break;
    case IDENTITY_CLOCK:
        snprintf(out, bytes, "the device's highest clock is %.0f MHz, the peaks of %s mean %.0f MHz",
                 check->of_device / 1e6, row->name, check->of_row / 1e6);
        break;
    case IDENTITY_CHECK_COUNT:
        *out = '\0';
        break;
    }
    return out;
}
