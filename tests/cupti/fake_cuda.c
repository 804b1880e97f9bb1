/* SPDX-License-Identifier: Apache-2.0 */
/* libcuda.so.1 for the tests of cupti/: one device, a capture state, and a count of whatever came too early. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "tests/cupti/fake_cupti.h"

enum { NOT_INITIALIZED = 3, INVALID_VALUE = 1 };

static _Atomic bool initialized;
static _Atomic unsigned early, inits;
static void *_Atomic capturing_stream;
static _Atomic int capture_status;
static _Thread_local int capture_mode;
static char device_name[128] = "Fake GPU";

FAKE_API void fake_cuda_init(void)
{
    initialized = true;
}

FAKE_API unsigned fake_cuda_calls_before_init(void)
{
    return early;
}

FAKE_API unsigned fake_cuda_init_calls(void)
{
    return inits;
}

FAKE_API void fake_cuda_set_capturing(void *stream, int status)
{
    capturing_stream = stream;
    capture_status = status;
}

FAKE_API int fake_cuda_capture_mode(void)
{
    return capture_mode;
}

FAKE_API void fake_cuda_set_name(const char *name)
{
    snprintf(device_name, sizeof device_name, "%s", name);
}

FAKE_API int cuInit(unsigned flags);
FAKE_API int cuDriverGetVersion(int *version);
FAKE_API int cuDeviceGetCount(int *count);
FAKE_API int cuDeviceGet(int *device, int ordinal);
FAKE_API int cuDeviceGetName(char *name, int bytes, int device);
FAKE_API int cuDeviceGetAttribute(int *value, int attribute, int device);
FAKE_API int cuDeviceTotalMem_v2(size_t *bytes, int device);
FAKE_API int cuDeviceGetUuid_v2(uint8_t *uuid, int device);
FAKE_API int cuStreamIsCapturing(void *stream, int *status);
FAKE_API int cuThreadExchangeStreamCaptureMode(int *mode);

static bool too_early(void)
{
    early += !initialized;
    return !initialized;
}

int cuInit(unsigned flags)
{
    (void)flags;
    inits++;
    return 0;
}

int cuDriverGetVersion(int *version)
{
    *version = 13010;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return initialized ? 0 : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal + 70; /* a handle, not the ordinal */
    return too_early() ? NOT_INITIALIZED : 0;
}

int cuDeviceGetName(char *name, int bytes, int device)
{
    (void)device;
    snprintf(name, (size_t)bytes, "%s", device_name);
    return too_early() ? NOT_INITIALIZED : 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const struct {
        int attribute, value;
    } values[] = {{16, 132}, {33, 0x41}, {34, 0}, {50, 0}, {75, 9}, {76, 0}, {38, 52428800}, {13, 1980000}};
    if (too_early())
        return NOT_INITIALIZED;
    for (unsigned i = 0; device == 70 && i < sizeof values / sizeof *values; i++)
        if (values[i].attribute == attribute) {
            *value = values[i].value;
            return 0;
        }
    return INVALID_VALUE; /* the memory clock, say: must become unknown, not 0 */
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = 85899345920;
    return too_early() ? NOT_INITIALIZED : 0;
}

int cuDeviceGetUuid_v2(uint8_t *uuid, int device)
{
    (void)device;
    for (uint8_t i = 0; i < 16; i++)
        uuid[i] = i + 1;
    return too_early() ? NOT_INITIALIZED : 0;
}

int cuStreamIsCapturing(void *stream, int *status)
{
    too_early();
    *status = capture_status && stream == capturing_stream ? capture_status : 0;
    return 0;
}

int cuThreadExchangeStreamCaptureMode(int *mode)
{
    too_early();
    int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return 0;
}
