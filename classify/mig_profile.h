/* SPDX-License-Identifier: Apache-2.0 */
/* A MIG instance's device name is the product's, " MIG ", and a profile such as 1g.10gb, 1c.3g.40gb or 1g.10gb+me: [compute
 * slices "c."] GPU slices "g." memory "gb" [sign and attribute]. Source: NVIDIA MIG User Guide, "Device Names" and
 * "Supported MIG Profiles". */
#ifndef CLASSIFY_MIG_PROFILE_H
#define CLASSIFY_MIG_PROFILE_H

#include <stdbool.h>

enum { MIG_PROFILE_NAME_BYTES = 256, MIG_PROFILE_BYTES = 24, MIG_MEMORY_SLICES = 8 };

struct mig_profile {
    char text[MIG_PROFILE_BYTES];   /* "1g.10gb"; empty: not known */
    int compute_slices, gpu_slices; /* compute_slices is gpu_slices where the profile names none */
    int memory_gb;
};

/* Splits DEVICE_NAME exactly: PRODUCT gets what stands before " MIG ". False, and nothing written, where the name ends in
 * no profile. */
bool mig_profile_split(const char *device_name, char product[MIG_PROFILE_NAME_BYTES], struct mig_profile *profile);

/* Memory slices of the eight that a product of MEMORY_BYTES has, as the nominal sizes have it: 10 GB of 80 is 1, 71 of 141
 * is 4. */
int mig_profile_memory_slices(double instance_bytes, double memory_bytes);

#endif
