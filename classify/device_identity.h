/* SPDX-License-Identifier: Apache-2.0 */
/* Which row of the GPU table a device is, and whether what its driver says fits that row. The device is the one of the
 * program's own context, as recorded: PCI id first, then exact name. What contradicts the row is kept with both numbers
 * and makes its roofs estimates; it never changes them silently. */
#ifndef CLASSIFY_DEVICE_IDENTITY_H
#define CLASSIFY_DEVICE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/gpu_specs.h"
#include "classify/mig_profile.h"
#include "classify/roofline.h"
#include "trace/trace.h"

enum identity_check_kind {
    /* contradictions: the roofs are estimates */
    IDENTITY_NAME,       /* the PCI id is one row's, the exact driver name another's */
    IDENTITY_CAPABILITY, /* compute capability */
    IDENTITY_SM_COUNT,   /* more SMs than the product has; fewer scale its peaks and are no contradiction */
    IDENTITY_MEMORY, /* less than 85 % or more than 115 % of the product's, on no MIG instance. Drivers show GiB, less ECC */
    IDENTITY_BUS, /* width of the memory bus, on no MIG instance */
    /* warnings */
    IDENTITY_BANDWIDTH, /* memory clock x bus width x 2, on no MIG instance, more than 10 % off the row's */
    IDENTITY_CLOCK,     /* the device's highest SM clock is more than 3 % below the one that the row's peaks mean */
    IDENTITY_CHECK_COUNT,
};

struct identity_check {
    enum identity_check_kind kind;
    double of_device, of_row;     /* in the unit of the driver's attribute; NAN for names */
    const struct gpu_spec *other; /* IDENTITY_NAME: the row of the name */
    int device_capability[2];     /* IDENTITY_CAPABILITY */
};

struct device_identity {
    enum gpu_match match;
    bool mig;
    struct mig_profile profile; /* empty text: no MIG instance, or a driver that doesn't say */
    int memory_slices;          /* of MIG_MEMORY_SLICES; 0: no MIG instance, or not known */
    int check_count;
    struct identity_check checks[IDENTITY_CHECK_COUNT];
};

/* FACTS of a described device; attributes that are negative or 0 are not known and checked against nothing. */
void device_identify(const struct trace_device *facts, struct device_roofs *roofs, struct device_identity *identity);

bool device_identity_contradicts(const struct device_identity *identity); /* the roofs are estimates */
bool identity_check_is_contradiction(enum identity_check_kind kind);
const char *identity_check_name(enum identity_check_kind kind); /* "sm_count", ... */

/* One line with both numbers. Returns OUT. */
char *identity_check_text(const struct identity_check *check, const struct gpu_spec *row, char *out, size_t bytes);

#endif
