/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libcuda.so.1 that looks its own functions up, as real drivers do, and gives functions out by name and version: those
 * that it exports, or with FAKE_PRIVATE=1 others that do the same, which no table of symbols tells apart. It returns what
 * its caller asked for, as the number that came as the first size. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);
int cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **parameters, void **extra);
int cuLaunchKernelEx(const void *config, void *f, void **parameters, void **extra);
int cuGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags);
int cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags, int *status);

/* The private look-up: whatever stands in front of us, this is about our own function. */
int cuInit(unsigned flags)
{
    static const char *const own[] = {"cuInit", "cuLaunchKernel", "cuGetProcAddress_v2"};
    void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    for (int i = 0; i < 3; i++) {
        Dl_info here, there;
        void *found = dlsym(self, own[i]);
        if (!found || !dladdr(found, &there) || !dladdr((void *)(uintptr_t)cuDriverGetVersion, &here) ||
            here.dli_fbase != there.dli_fbase) {
            printf("the driver's own look-up of %s led elsewhere\n", own[i]);
            return 999;
        }
    }
    return (int)flags;
}

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

static int launched(const char *function, unsigned size)
{
    printf("%s, %u\n", function, size);
    return 0;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra)
{
    (void)f, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)parameters,
        (void)extra;
    return launched("cuLaunchKernel", gx);
}

int cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **parameters, void **extra)
{
    (void)f, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)parameters,
        (void)extra;
    return launched("cuLaunchKernel_ptsz", gx);
}

int cuLaunchKernelEx(const void *config, void *f, void **parameters, void **extra)
{
    (void)f, (void)parameters, (void)extra;
    return launched("cuLaunchKernelEx", config ? *(const unsigned *)config : 0);
}

static int private_launch(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **parameters, void **extra)
{
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

static int private_launch_ex(const void *config, void *f, void **parameters, void **extra)
{
    return cuLaunchKernelEx(config, f, parameters, extra);
}

/* A function of another shape: what a newer version of the name might be. */
static int newer_launch(int one)
{
    return one;
}

int cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags, int *status)
{
    int is_private = getenv("FAKE_PRIVATE") != NULL;
    if (!symbol || !pfn)
        return 1;
    *pfn = NULL;
    if (!strcmp(symbol, "cuLaunchKernel") && flags & 2)
        *pfn = (void *)(uintptr_t)cuLaunchKernel_ptsz;
    else if (!strcmp(symbol, "cuLaunchKernel"))
        *pfn = (void *)(is_private ? (uintptr_t)private_launch : (uintptr_t)cuLaunchKernel);
    else if (!strcmp(symbol, "cuLaunchKernelEx") && version > 20000)
        *pfn = (void *)(uintptr_t)newer_launch;
    else if (!strcmp(symbol, "cuLaunchKernelEx") && version >= 11060)
        *pfn = (void *)(is_private ? (uintptr_t)private_launch_ex : (uintptr_t)cuLaunchKernelEx);
    else if (!strcmp(symbol, "cuLaunchGrid"))
        *pfn = (void *)(uintptr_t)newer_launch;
    else if (!strcmp(symbol, "cuInit"))
        *pfn = (void *)(uintptr_t)cuInit;
    else if (!strcmp(symbol, "cuGetProcAddress"))
        *pfn = (void *)(version >= 12000 ? (uintptr_t)cuGetProcAddress_v2 : (uintptr_t)cuGetProcAddress);
    if (status)
        *status = *pfn ? 0 : 1;
    return *pfn ? 0 : 500;
}

int cuGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}
