/* SPDX-License-Identifier: Apache-2.0 */
/* What the fake runtime knows of parameters: the sizes that a program told it, and the last error as the real one keeps it. */
#include "tests/preload/fake.h"

#include <stddef.h>

enum { KERNELS = 128, FAKE_INVALID_VALUE = 1, FAKE_INVALID_DEVICE_FUNCTION = 98 };

static struct {
    const void *stub;
    const uint16_t *sizes;
    unsigned count;
} kernels[KERNELS];
static unsigned kernel_count;
static int last_error;
static unsigned asked;

void cudaFakeSizes(const void *stub, const uint16_t *sizes, unsigned count);
void cudaFakeError(int error);
unsigned cudaFakeAsked(void);
int cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset, size_t *bytes);
int cudaPeekAtLastError(void);
int cudaGetLastError(void);

void cudaFakeSizes(const void *stub, const uint16_t *sizes, unsigned count)
{
    kernels[kernel_count].stub = stub;
    kernels[kernel_count].sizes = sizes;
    kernels[kernel_count++].count = count;
}

void cudaFakeError(int error)
{
    last_error = error;
}

unsigned cudaFakeAsked(void)
{
    return asked;
}

int cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset, size_t *bytes)
{
    int status = FAKE_INVALID_DEVICE_FUNCTION;
    asked++;
    for (unsigned i = 0; i < kernel_count; i++)
        if (kernels[i].stub == stub) {
            status = index < kernels[i].count ? 0 : FAKE_INVALID_VALUE;
            *offset = 0;
            *bytes = status ? 0 : kernels[i].sizes[index];
            break;
        }
    if (status)
        last_error = status;
    return status;
}

int cudaPeekAtLastError(void)
{
    return last_error;
}

int cudaGetLastError(void)
{
    int error = last_error;
    last_error = 0;
    return error;
}
