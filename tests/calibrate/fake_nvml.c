/* SPDX-License-Identifier: Apache-2.0 */
/* A libnvidia-ml.so.1 that does as FAKE_NVML says: a word for how it behaves, then its GPUs in its own order, each
 * "UUID,domain,bus,slot,MHz", all split by semicolons. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, UNKNOWN = 999, LOST = 15, MOST = 8 };

struct gpu {
    char uuid[64];
    unsigned domain, bus, slot, mhz;
};
static struct gpu gpus[MOST];
static unsigned count;
static char behaviour[32];

struct pci_info {
    char legacy[16];
    unsigned domain, bus, device, pci_device_id, subsystem;
    char bus_id[32];
};

static int behave(const char *when)
{
    char hang[48], crash[48], fail[48];
    snprintf(hang, sizeof hang, "hang-%s", when);
    snprintf(crash, sizeof crash, "crash-%s", when);
    snprintf(fail, sizeof fail, "fail-%s", when);
    if (!strcmp(behaviour, hang))
        for (;;)
            pause();
    if (!strcmp(behaviour, crash))
        *(volatile int *)NULL = 1; /* raise() would wait: the sampler blocks what is sent */
    if (!strcmp(behaviour, fail))
        return UNKNOWN;
    return SUCCESS;
}

int nvmlInit_v2(void)
{
    const char *text = getenv("FAKE_NVML");
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", text ? text : "well");
    char *save = NULL, *word = strtok_r(copy, ";", &save);
    snprintf(behaviour, sizeof behaviour, "%s", word ? word : "well");
    while ((word = strtok_r(NULL, ";", &save)) && count < MOST) {
        struct gpu *gpu = &gpus[count];
        if (sscanf(word, "%63[^,],%u,%u,%u,%u", gpu->uuid, &gpu->domain, &gpu->bus, &gpu->slot, &gpu->mhz) == 5)
            count++;
    }
    puts("NVML talks"); /* must reach nobody */
    fputs("NVML complains\n", stderr);
    fflush(NULL);
    return behave("init");
}

int nvmlDeviceGetCount_v2(unsigned *found)
{
    *found = count;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle)
{
    *handle = &gpus[index];
    return SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(void *handle, struct pci_info *info)
{
    const struct gpu *gpu = handle;
    memset(info, 0, sizeof *info);
    info->domain = gpu->domain;
    info->bus = gpu->bus;
    info->device = gpu->slot;
    return SUCCESS;
}

int nvmlDeviceGetUUID(void *handle, char *text, unsigned size)
{
    snprintf(text, size, "%s", ((struct gpu *)handle)->uuid);
    return SUCCESS;
}

int nvmlDeviceGetClockInfo(void *handle, int type, unsigned *mhz)
{
    int result = behave("clock");
    *mhz = type == 1 ? ((struct gpu *)handle)->mhz : 5000;
    return !strcmp(behaviour, "lost") ? LOST : result;
}

const char *nvmlErrorString(int result)
{
    return result == SUCCESS ? "Success" : "Unknown Error";
}
