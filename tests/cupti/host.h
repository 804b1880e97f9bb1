/* SPDX-License-Identifier: Apache-2.0 */
/* A host in few words: it starts, calls, launches and leaves, through kernel_timing.h alone as the wrappers do, and one
 * scenario of it runs in each process. */
#ifndef TESTS_CUPTI_HOST_H
#define TESTS_CUPTI_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "cupti/kernel_timing.h"
#include "tests/cupti/trace_of_test.h"

enum { LAUNCH = 307, LAUNCH_EX = 652, GRAPH_LAUNCH = 514 };
static const uint64_t second_ns = 1000000000;
static const uint64_t some_time_ns = 1700000000000000000;

void start_with(struct kernel_timing_settings settings);
void start_on(void);
uint64_t next_call_id(void);
struct kernel_timing_context *call_context(void); /* the calling thread's */

/* A library call that launches COUNT kernels and ends well. Correlation ids are consecutive in one thread: the last one. */
uint32_t call_with(uint64_t owner_id, unsigned count, uint64_t *call_id);

void run_kernel_at(uint32_t correlation, uint64_t start_ns);
void run_kernel(uint32_t correlation);
void run_node(uint32_t correlation, uint64_t node_id, const char *name); /* a kernel of a graph */

const struct trace_kernel *kernel_of(const struct trace_content *content, uint32_t correlation); /* the only one */
void finish_and_read(struct trace_content *content);

struct scenario {
    const char *name;
    void (*run)(void);
};
int host_run(int argc, char **argv, const struct scenario *scenarios, size_t count); /* main() */

#endif
