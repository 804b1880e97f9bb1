/* SPDX-License-Identifier: Apache-2.0 */
/* Fake libcuda: an initialised driver with one device, as far as facts about it are asked. */
#include <string.h>

int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int bytes, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal == 0 ? 0 : 101;
}

int cuDeviceGetName(char *name, int bytes, int device)
{
    if (device != 0 || bytes < 16)
        return 1;
    strcpy(name, "Fake");
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute;
    return device == 0 ? 0 : 1;
}
