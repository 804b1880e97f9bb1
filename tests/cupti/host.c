/* SPDX-License-Identifier: Apache-2.0 */
/* What the scenarios have in common. */
#include "tests/cupti/host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/cupti/fake_cupti.h"
#include "trace/trace_writer.h"

void start_with(struct kernel_timing_settings settings)
{
    trace_of_test_open();
    kernel_timing_configure(&settings);
    fake_cuda_init();
    errno = EDOM;
    kernel_timing_start_if_needed(NULL);
    CHECK(errno == EDOM);
}

void start_on(void)
{
    start_with((struct kernel_timing_settings){.off = false});
    CHECK(kernel_timing_state() == KERNEL_TIMING_ON);
}

uint64_t next_call_id(void)
{
    struct trace_thread *thread = trace_thread_get();
    CHECK(thread != NULL);
    return trace_thread_next_call_id(thread);
}

struct kernel_timing_context *call_context(void)
{
    struct trace_thread *thread = trace_thread_get();
    CHECK(thread != NULL);
    return kernel_timing_context(thread);
}

uint32_t call_with(uint64_t owner_id, unsigned count, uint64_t *call_id)
{
    uint32_t correlation = 0;
    *call_id = next_call_id();
    kernel_timing_call_begin(call_context(), *call_id);
    for (unsigned i = 0; i < count; i++)
        correlation = fake_cupti_launch(i % 2 ? LAUNCH_EX : LAUNCH);
    kernel_timing_call_end(call_context(), TRACE_OWNER_CALL, owner_id);
    return correlation;
}

void run_kernel_at(uint32_t correlation, uint64_t start_ns)
{
    fake_cupti_kernel(&(struct fake_kernel){
        .correlation_id = correlation, .name = "gemm", .start_ns = start_ns, .end_ns = start_ns + 500, .stream = 7});
}

void run_kernel(uint32_t correlation)
{
    run_kernel_at(correlation, some_time_ns + correlation * 1000ull);
}

void run_node(uint32_t correlation, uint64_t node_id, const char *name)
{
    fake_cupti_kernel(&(struct fake_kernel){.correlation_id = correlation,
                                            .name = name,
                                            .start_ns = some_time_ns + correlation,
                                            .end_ns = some_time_ns + correlation + 1,
                                            .graph_id = (uint32_t)(node_id >> 32),
                                            .node_id = node_id});
}

const struct trace_kernel *kernel_of(const struct trace_content *c, uint32_t correlation)
{
    const struct trace_kernel *found = NULL;
    for (size_t i = 0; i < c->kernel_count; i++)
        if (c->kernels[i].correlation_id == correlation) {
            CHECK(!found);
            found = &c->kernels[i];
        }
    CHECK(found != NULL);
    return found;
}

void finish_and_read(struct trace_content *c)
{
    CHECK(kernel_timing_finish(5 * second_ns));
    CHECK(kernel_timing_state() == KERNEL_TIMING_FINISHED);
    trace_of_test_read(c);
}

int host_run(int argc, char **argv, const struct scenario *scenarios, size_t count)
{
    for (unsigned i = 0; i < count; i++)
        if (argc == 2 && strcmp(argv[1], scenarios[i].name) == 0) {
            scenarios[i].run();
            return 0;
        } else if (argc == 1) {
            puts(scenarios[i].name);
        }
    return argc == 1 ? 0 : 2;
}
