/* SPDX-License-Identifier: Apache-2.0 */
/* NVML's stand-in: what it tells of the device, and that it tells nothing before nvmlInit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs the four above it. */
#include <cmocka.h>

struct pci {
    char legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
struct memory {
    unsigned long long total, free, used;
};
int nvmlInit_v2(void);
int nvmlInit(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device);
int nvmlDeviceGetIndex(void *device, unsigned *index);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetName(void *device, char *name, unsigned size);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size);
int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory);
int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatt);
int nvmlSystemGetCudaDriverVersion_v2(int *version);
const char *nvmlErrorString(int result);

static void needs_init(void **state)
{
    unsigned count = 77;

    (void)state;
    assert_int_equal(nvmlDeviceGetCount_v2(&count), 1);
    assert_int_equal(count, 77);
    assert_int_equal(nvmlShutdown(), 1);
    assert_int_equal(nvmlInit(), 0);
    assert_int_equal(nvmlDeviceGetCount_v2(&count), 0);
    assert_int_equal(count, 1);
    assert_int_equal(nvmlShutdown(), 0);
    assert_int_equal(nvmlDeviceGetCount_v2(&count), 1);
}

/* The environment names h100-sxm.device. */
static void tells_the_device(void **state)
{
    void *device = NULL, *same = NULL;
    char text[96], small[4];
    struct pci pci;
    struct memory memory;
    unsigned mhz = 0, current = 7, pending = 7, milliwatt;
    int version = 0;

    (void)state;
    assert_int_equal(nvmlInit_v2(), 0);
    assert_int_equal(nvmlDeviceGetHandleByIndex_v2(1, &device), 2);
    assert_int_equal(nvmlDeviceGetHandleByIndex_v2(0, &device), 0);
    assert_int_equal(nvmlDeviceGetName(device, text, sizeof text), 0);
    assert_string_equal(text, "Simulated h100-sxm");
    assert_int_equal(nvmlDeviceGetName(device, small, sizeof small), 7);
    assert_int_equal(nvmlDeviceGetPciInfo_v3(device, &pci), 0);
    assert_int_equal(pci.device_id, 0x233010de);
    assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2(pci.bus_id, &same), 0);
    assert_ptr_equal(same, device);
    assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2("0000:fe:1f.0", &same), 6);
    assert_int_equal(nvmlDeviceGetUUID(device, text, sizeof text), 0);
    assert_int_equal(strlen(text), 40);
    assert_int_equal(nvmlDeviceGetHandleByUUID(text, &same), 0);
    assert_int_equal(nvmlDeviceGetHandleByUUID("GPU-0", &same), 6);
    assert_int_equal(nvmlDeviceGetMemoryInfo(device, &memory), 0);
    assert_int_equal(memory.total, 85899345920ull);
    assert_int_equal(memory.free + memory.used, memory.total);
    assert_int_equal(nvmlDeviceGetMaxClockInfo(device, 1, &mhz), 0);
    assert_int_equal(mhz, 1830);
    assert_int_equal(nvmlDeviceGetMaxClockInfo(device, 2, &mhz), 0);
    assert_int_equal(mhz,
                     26171); /* the driver's MEMORY_CLOCK_RATE: 3.35e12 bytes/s in two transfers of 512 bits a clock */
    assert_int_equal(nvmlDeviceGetMaxClockInfo(device, 3, &mhz), 3);
    assert_int_equal(nvmlDeviceGetMigMode(device, &current, &pending), 0);
    assert_true(current == 0 && pending == 0);
    assert_int_equal(nvmlDeviceGetPowerUsage(device, &milliwatt), 3);
    assert_int_equal(nvmlSystemGetCudaDriverVersion_v2(&version), 0);
    assert_int_equal(version, 13000);
    assert_string_equal(nvmlErrorString(3), "Not Supported");
    assert_int_equal(nvmlDeviceGetName(NULL, text, sizeof text), 2);
    assert_int_equal(nvmlShutdown(), 0);
}

/* SIMGPU_DEVICE_COUNT=2: NVML sees both, whatever a process may use of them. */
static void tells_two_apart(void **state)
{
    void *devices[2] = {NULL, NULL}, *found = NULL;
    char uuids[2][96];
    struct pci pci[2];
    unsigned count = 0, index = 7;

    (void)state;
    assert_int_equal(nvmlInit_v2(), 0);
    assert_int_equal(nvmlDeviceGetCount_v2(&count), 0);
    assert_int_equal(count, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(nvmlDeviceGetHandleByIndex_v2(i, &devices[i]), 0);
        assert_int_equal(nvmlDeviceGetIndex(devices[i], &index), 0);
        assert_int_equal(index, i);
        assert_int_equal(nvmlDeviceGetUUID(devices[i], uuids[i], sizeof uuids[i]), 0);
        assert_int_equal(nvmlDeviceGetPciInfo_v3(devices[i], &pci[i]), 0);
        assert_int_equal(nvmlDeviceGetHandleByUUID(uuids[i], &found), 0);
        assert_ptr_equal(found, devices[i]);
        assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2(pci[i].bus_id, &found), 0);
        assert_ptr_equal(found, devices[i]);
    }
    assert_string_not_equal(uuids[0], uuids[1]);
    assert_string_not_equal(pci[0].bus_id, pci[1].bus_id);
    assert_int_equal(nvmlDeviceGetHandleByIndex_v2(2, &found), 2);
    assert_int_equal(nvmlShutdown(), 0);
}

int main(int arguments, char **argument)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(needs_init), cmocka_unit_test(tells_the_device)},
                                   two[] = {cmocka_unit_test(tells_two_apart)};

    (void)argument;
    if (arguments > 1)
        return cmocka_run_group_tests(two, NULL, NULL);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
