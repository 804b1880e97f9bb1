/* SPDX-License-Identifier: Apache-2.0 */
/* An exact little grammar, so that nothing but a profile is ever taken off a device's name. */
#include "classify/mig_profile.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number of at most three digits and then UNIT; NULL if TEXT does not start so. */
static const char *number_and_unit(const char *text, const char *unit, int *number)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 3 || strncmp(text + digits, unit, strlen(unit)) != 0)
        return NULL;
    *number = atoi(text);
    return *number > 0 ? text + digits + strlen(unit) : NULL;
}

static bool is_attribute(const char *text)
{
    if (*text != '+' && *text != '-')
        return false;
    size_t letters = 1;
    while (islower((unsigned char)text[letters]) || text[letters] == '.')
        letters++;
    return letters > 1 && text[letters] == '\0';
}

static bool parse(const char *text, struct mig_profile *profile)
{
    struct mig_profile found = {.compute_slices = 0};
    const char *at = number_and_unit(text, "c.", &found.compute_slices);
    at = number_and_unit(at ? at : text, "g.", &found.gpu_slices);
    at = at ? number_and_unit(at, "gb", &found.memory_gb) : NULL;
    if (!at || (*at && !is_attribute(at)) || strlen(text) >= sizeof found.text)
        return false;
    if (!found.compute_slices)
        found.compute_slices = found.gpu_slices;
    memcpy(found.text, text, strlen(text) + 1);
    *profile = found;
    return true;
}

bool mig_profile_split(const char *device_name, char product[MIG_PROFILE_NAME_BYTES], struct mig_profile *profile)
{
    static const char mark[] = " MIG ";
    const char *at = strstr(device_name, mark);
    size_t length = at ? (size_t)(at - device_name) : 0;
    if (length == 0 || length >= MIG_PROFILE_NAME_BYTES || !parse(at + sizeof mark - 1, profile))
        return false;
    memcpy(product, device_name, length);
    product[length] = '\0';
    return true;
}

int mig_profile_memory_slices(double instance_bytes, double memory_bytes)
{
    double slices = round(instance_bytes / memory_bytes * MIG_MEMORY_SLICES);
    return slices < 1 ? 1 : slices > MIG_MEMORY_SLICES ? MIG_MEMORY_SLICES : (int)slices;
}
