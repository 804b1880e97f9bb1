/* SPDX-License-Identifier: Apache-2.0 */
/* Device files: a whole one, and each kind of mistake with its line. This program starts itself for each file. */
#include "ledger_reader.h"

#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/simgpu.h"

static const char *self;

static int describe(void)
{
    struct cudaDeviceProp p = {.major = -1};
    int shared = 0, pci = 0, result = cudaGetDeviceProperties(&p, 0);
    if (!result) {
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
        cudaDeviceGetAttribute(&pci, cudaDevAttrGpuPciDeviceId, 0);
    }
    const struct simgpu_device *d = simgpu_device();
    printf("%d|%s|%d.%d|%d|%zu|%d|%x|%g|%g|%llu|%llu", result, p.name, p.major, p.minor, p.multiProcessorCount,
           p.totalGlobalMem, shared, (unsigned)pci, simgpu_peak_flops("bf16"), simgpu_peak_flops("fp64"),
           /* 2e9 FLOP and 1e6 bytes: 1e12 bytes a second, half of it reached */
           (unsigned long long)simgpu_work_ns(2e9, 1e6, "bf16"), (unsigned long long)simgpu_work_ns(1, 4e6, "bf16"));
    (void)d;
    return 0;
}

static void run(const char *file, char text[2048])
{
    int ends[2], status;
    FILE *out = fopen("test.device", "w");
    fputs(file, out);
    fclose(out);
    OK(pipe(ends));
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        setenv("SIMGPU_DEVICE", "test.device", 1);
        execl(self, self, "describe", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t size = 0;
    ssize_t got;
    while ((got = read(ends[0], text + size, 2047 - size)) > 0)
        size += (size_t)got;
    text[size] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static const char whole[] = "# a made-up board\n"
                            "name = test-board\n"
                            "pci_device_id = 0x2684\n"
                            "sm_count = 128\n"
                            "compute_capability=8.9\n"
                            "\n"
                            "memory_bytes = 25757220864   # 24 GiB\n"
                            "bytes_per_second = 1e12\n"
                            "flops_per_second.bf16 = 2e14\n"
                            "gemm_efficiency = 0.5\n"
                            "startup_ns = 100\n";

static void a_whole_file_is_the_device(void **state)
{
    (void)state;
    char text[2048];
    run(whole, text);
    /* 2e9/2e14 = 10 us at 0.5 = 20 us, + 100 ns; 4e6/1e12 = 4 us at 0.5 = 8 us, + 100 ns; no fp64 path */
    assert_string_equal(text, "0|Simulated test-board|8.9|128|25757220864|101376|268410de|2e+14|0|20100|8100");
}

static void mistakes_have_a_line(void **state)
{
    (void)state;
    static const struct {
        const char *file, *expected;
    } mistakes[] = {
        {"flops_per_second.bf16 = 1e12\ncolour = red\n",
         "test.device:2: \"colour\": expected one of the keys name pci_device_id"},
        {"flops_per_second.bf16 = 1e12\n\nsm_count = many\n", "test.device:3: \"sm_count\": expected a number of"},
        {"gemm_efficiency = 1.5\nflops_per_second.bf16=1\n", "test.device:1: \"gemm_efficiency\": expected a fraction"},
        {"flops_per_second.bf17 = 1e12\n", "test.device:1: \"flops_per_second.bf17\": expected one of the paths"},
        {"flops_per_second.bf16 = 1e12\nname\n", "test.device:2: \"name\": expected key = value"},
        {"name = x\n", "test.device:1: \"flops_per_second\": expected at least one"},
        {"flops_per_second.bf16=1\ngemm_slowdown = 0.5\n", "test.device:2: \"gemm_slowdown\": expected a factor of at"},
        {"flops_per_second.bf16=1\ngemm_fail_every = 1.5\n", "test.device:2: \"gemm_fail_every\": expected a whole"},
        {"gemm_tile = 64\nflops_per_second.bf16=1\n", "test.device:1: \"gemm_tile\": expected MxN"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char text[2048];
        run(mistakes[i].file, text);
        if (!strstr(text, mistakes[i].expected))
            fail_msg("\"%s\" gave \"%s\"", mistakes[i].file, text);
        assert_non_null(strstr(text, "\n3||-1.0|")); /* cudaErrorInitializationError */
    }
}

int main(int count, char **arguments)
{
    self = arguments[0];
    if (count > 1)
        return describe();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_is_the_device),
        cmocka_unit_test(mistakes_have_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
