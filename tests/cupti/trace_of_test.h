/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of cupti/ need around the code under test: a trace in a folder of its own with a helper that tends it, and
 * everything that trace holds afterwards. */
#ifndef TESTS_CUPTI_TRACE_OF_TEST_H
#define TESTS_CUPTI_TRACE_OF_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

struct text_note {
    uint32_t code;
    int32_t value;
    char text[600];
};

struct window {
    struct trace_window record;
    char text[128];
};

struct timing {
    struct trace_timing record;
    char text[512];
};

enum { WINDOWS_MOST = 4096, TIMINGS_MOST = 64 };

struct trace_content {
    struct trace_kernel *kernels;
    size_t kernel_count;
    struct trace_lengths *lengths;
    size_t length_count;
    struct trace_copy copies[16];
    size_t copy_count;
    struct trace_device devices[4];
    size_t device_count;
    struct text_note notes[16];
    size_t note_count;
    size_t name_count;
    size_t cupti_anchors;
    struct window *windows; /* WINDOW records, in order */
    size_t window_count;
    struct timing *timings; /* TIMING records */
    size_t timing_count;
    struct trace_graph_node graph_nodes[256];
    size_t graph_node_count;
    struct trace_graph_launches graph_launches[1024];
    size_t graph_launches_count;
    struct trace_graph_run graph_runs[16];
    size_t graph_run_count;
    struct trace_counters counters;
    uint64_t slot_drops;
};

void trace_of_test_open(void);                          /* the helper runs from here on */
void trace_of_test_read(struct trace_content *content); /* stops the helper, ends the trace, reads it, removes it */

const char *trace_of_test_folder(void);

const struct text_note *content_note(const struct trace_content *content, uint32_t code); /* NULL: none */

#define CHECK(condition) check_or_exit(condition, #condition, __FILE__, __LINE__)
void check_or_exit(bool holds, const char *condition, const char *file, int line);

#endif
