/* SPDX-License-Identifier: Apache-2.0 */
/* C06: a CUPTI that only rooftap loaded, by the path in argv[1], stays mapped after all has ended: it is never unloaded. */
#include <dlfcn.h>
#include <stdio.h>

#include "cupti/kernel_timing.h"
#include "cupti/other_clients.h"
#include "tests/cupti/fake_cupti.h"
#include "tests/cupti/trace_of_test.h"

static const char *path;

static bool is_mapped(void)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    return handle && dlclose(handle) == 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    path = argv[1];
    CHECK(!is_mapped());
    trace_of_test_open();
    kernel_timing_configure(&(struct kernel_timing_settings){.cupti_path = path});
    fake_cuda_init();
    kernel_timing_start_if_needed(NULL);
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON && is_mapped());
    other_clients_before("cuptiSubscribe", NULL, false);
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF && is_mapped());
    CHECK(kernel_timing_finish(5000000000) && is_mapped());
    struct trace_content content;
    trace_of_test_read(&content);
    CHECK(is_mapped());
    return 0;
}
